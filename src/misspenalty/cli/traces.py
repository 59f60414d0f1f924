"""Run the commands ``trace info|formats|options|convert|generate``."""

import textwrap
from pathlib import Path

from misspenalty.cli.arguments import (
    add_command,
    add_format_options,
    add_trace,
    format_options,
    number,
    open_named,
    parse_bytes,
    refuse_existing,
    whole_number,
)
from misspenalty.cli.output import Described
from misspenalty.cli.tables import WIDTH
from misspenalty.io.later import pd
from misspenalty.replay.profile import describe, profile
from misspenalty.traces import formats, spc1, streams
from misspenalty.traces.reader import find_format


def add(commands):
    """Add the commands to a parser."""
    parser = commands.add_parser(
        "trace",
        help="look at a trace, or compile it",
        description="Show how a trace is read and what it contains, list the formats, and compile or generate a trace.",
    )
    trace = parser.add_subparsers(required=True, metavar="COMMAND")
    info = add_command(
        trace,
        "info",
        "profile a trace",
        _info,
        ("misspenalty trace info mine.spc", "zcat mine.lis.gz | misspenalty trace info -"),
    )
    add_trace(info)
    add_format_options(info)
    info.set_defaults(described=True)  # `info` describes in full how the trace was read
    add_command(
        trace,
        "formats",
        "list the trace formats, or show one with its source and an example",
        _formats,
        ("misspenalty trace formats", "misspenalty trace formats systor17"),
    ).add_argument("format", metavar="NAME", nargs="?", help="format to show")
    add_command(
        trace,
        "options",
        "list the options that control how a raw trace is read",
        _options,
        (
            "misspenalty trace options",
            "misspenalty trace info --columns key=id,size=bytes,time=t --time-unit ms mine.csv",
        ),
    )
    convert = add_command(
        trace,
        "convert",
        "compile a raw trace, so that it opens at once",
        _convert,
        (
            "misspenalty trace convert mine.spc.gz mine.trace",
            "misspenalty trace convert --columns block=key mine.csv mine.trace",
        ),
    )
    add_trace(convert)
    convert.add_argument("output", metavar="OUTPUT", type=Path, help="folder to create, such as mine.trace")
    add_format_options(convert)
    generate = trace.add_parser(
        "generate", help="generate the trace of a workload", description="Generate the trace of a workload."
    )
    workloads = generate.add_subparsers(required=True, metavar="WORKLOAD")
    _spc1_command(workloads)
    _streams_command(workloads)


def _spc1_command(workloads):
    command = add_command(
        workloads,
        "spc1",
        "an SPC-1-like workload, as an SPC trace",
        _generate_spc1,
        ("misspenalty trace generate spc1 mine.spc --space 1GB --requests 100000 --seed 1",),
    )
    _add_output(command, "the three units together")
    command.add_argument(
        "--bsus", metavar="N", type=whole_number, default=1, help="business scaling units (default: 1)"
    )
    command.add_argument("--iops", metavar="N", type=number, help="requests per second (default: 50 per BSU)")
    _add_length(command)
    command.add_argument(
        "--climb",
        metavar="P",
        type=number,
        default=0.44,
        help="probability that the walk climbs one more level of its tree (default: 0.44)",
    )


def _streams_command(workloads):
    command = add_command(
        workloads,
        "streams",
        "concurrent sequential streams, SPC-2-like, as an SPC trace",
        _generate_streams,
        ("misspenalty trace generate streams mine.spc --space 10GB --streams 100 --mb-per-s 0.5 --seconds 60",),
    )
    _add_output(command, "all streams together")
    command.add_argument(
        "--streams", metavar="N", type=whole_number, default=100, help="number of streams (default: 100)"
    )
    command.add_argument(
        "--read-kb", metavar="N", type=whole_number, default=256, help="size of a read, KB (default: 256)"
    )
    command.add_argument(
        "--mb-per-s",
        metavar="N",
        type=number,
        default=0.5,
        help="rate of each stream, 10^6 bytes per second (default: 0.5)",
    )
    _add_length(command)


def _add_output(command, space):
    command.add_argument("output", metavar="OUTPUT", type=Path, help="file to create, such as mine.spc or mine.spc.zst")
    command.add_argument("--space", metavar="BYTES", default="32GB", help=f"size of {space} (default: 32GB)")


def _add_length(command):
    length = command.add_mutually_exclusive_group(required=True)
    length.add_argument("--requests", metavar="N", type=whole_number, help="length in requests")
    length.add_argument("--seconds", metavar="S", type=number, help="length in seconds")
    command.add_argument(
        "--seed", metavar="N", type=whole_number, default=0, help="seed of all random draws (default: 0)"
    )


def _info(options):
    trace = open_named(options)
    found = profile(trace)
    if trace.reading is None:
        return Described(found, describe(found))
    lines = "\n".join(f"  {name:12}  {line}" for name, line in trace.reading.describe().items())
    return Described(found | {"reading": trace.reading.to_dict()}, f"{describe(found)}\n\nread as\n{lines}")


def _formats(options):
    known = formats()
    if options.format is None:
        fields = ("name", "summary", "example", "source")
        table = pd.DataFrame([{field: getattr(form, field) for field in fields} for form in known.values()])
        hint = "'misspenalty trace formats NAME' shows a format with its source and an example."
        return Described(table, f"{_listed({form.name: form.summary for form in known.values()})}\n\n{hint}")
    form = find_format(None, options.format)
    shown = {"format": form.name, "summary": form.summary, "block_bytes": form.block_bytes, "source": form.source,
             "example": form.example, "options": ", ".join(form.options)}  # fmt: skip
    text = [f"{form.name}: {form.summary}"]
    if form.source:
        text += ["", *textwrap.wrap(form.source, WIDTH)]
    if form.example:
        text += ["", *(f"  {line}" for line in form.example.splitlines())]
    text += ["", f"block size: {form.block_bytes} bytes; options: {shown['options'] or 'none'}"]
    return Described(shown, "\n".join(text))


def _listed(meanings):
    """Return names and their meanings as wrapped lines of text."""
    return "\n".join(
        line
        for name, what in meanings.items()
        for line in textwrap.wrap(f"{name:20} {what}", WIDTH, subsequent_indent=21 * " ")
    )


def _options(options):
    meanings = format_options()
    return Described(pd.DataFrame({"option": meanings.keys(), "meaning": meanings.values()}), _listed(meanings))


def _convert(options):
    refuse_existing(options.output)
    trace = open_named(options)
    trace.save(options.output)
    return {"output": str(options.output), "references": len(trace), "blocks": trace.blocks}


def _generate_streams(options):
    refuse_existing(options.output)
    workload = streams.Streams(
        parse_bytes(options.space, "space"), options.streams, options.read_kb, options.mb_per_s, options.seed
    )
    made = streams.write_spc(workload, options.output, options.requests, options.seconds)
    return {"output": str(options.output)} | made


def _generate_spc1(options):
    refuse_existing(options.output)
    workload = spc1.Workload(
        parse_bytes(options.space, "space"), options.bsus, options.iops, seed=options.seed, climb=options.climb
    )
    made = spc1.write_spc(workload, options.output, options.requests, options.seconds)
    return {"output": str(options.output)} | made
