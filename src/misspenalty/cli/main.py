"""The command line: ``misspenalty trace|simulate|curve|disk|policies``."""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

import misspenalty
from misspenalty.cli import disks as disk_commands
from misspenalty.errors import MissPenaltyError, ParameterError
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential import prefetcher as sequential
from misspenalty.traces import formats, spc1
from misspenalty.traces.selection import WRITES

PLOTS = ("png", "svg", "pdf")
MOST_ROWS = 200  # of a table printed as text
UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def main(arguments: Sequence[str] | None = None):
    """Run the command line; the exit status: 0, 2 for bad input, 130 after Ctrl-C."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        _show(options.run(options), options)
        sys.stdout.flush()  # a closed pipe is met here, not at exit
    except MissPenaltyError as error:
        print(f"misspenalty: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"misspenalty: out of memory ({error}); choose a smaller trace or cache", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("misspenalty: interrupted; nothing was written", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="misspenalty", description=misspenalty.__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=f"misspenalty {misspenalty.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _trace_commands(commands)

    simulate = _command(commands, "simulate", "replay a trace through one cache", _simulate)
    simulate.add_argument("trace", metavar="TRACE", help="a raw or compiled trace")
    simulate.add_argument("--size", required=True, help="cache size: blocks, or bytes with a unit (512MB)")
    _replay_options(simulate)

    curve = _command(commands, "curve", "replay a trace through caches of several sizes", _curve)
    curve.add_argument("trace", metavar="TRACE", help="a raw or compiled trace")
    curve.add_argument(
        "--size",
        required=True,
        help="cache sizes A,B,…: blocks, or bytes with a unit (128MB,256MB); all: every size (lru)",
    )
    curve.add_argument(
        "--sample", metavar="SHARE", type=float, help="estimate from this share of the blocks, such as 0.01 (lru)"
    )
    curve.add_argument("--sample-seed", metavar="N", type=int, default=0, help="chooses the blocks (default: 0)")
    curve.add_argument("--plot", metavar="FILE", type=Path, help="also draw the curve: a .png, .svg or .pdf")
    curve.add_argument("--threads", type=int, help="sizes replayed at a time (default: one a processor)")
    _replay_options(curve)

    disk_commands.add(commands, _command)
    _command(commands, "policies", "list the replacement policies and their parameters", _policies)
    return parser


def _trace_commands(commands):
    trace = commands.add_parser("trace", help="look at a trace, or compile it").add_subparsers(
        required=True, metavar="COMMAND"
    )
    info = _command(trace, "info", "what a trace holds", _info)
    info.add_argument("trace", metavar="TRACE", help="a raw or compiled trace")
    _format_options(info)
    convert = _command(trace, "convert", "compile a raw trace, once and for all", _convert)
    convert.add_argument("trace", metavar="TRACE", help="a raw trace")
    convert.add_argument("output", metavar="OUTPUT", type=Path, help="folder to make, such as mine.trace")
    _format_options(convert)
    generate = trace.add_parser("generate", help="make the trace of a workload")
    _spc1_command(generate.add_subparsers(required=True, metavar="WORKLOAD"))


def _spc1_command(workloads):
    command = _command(workloads, "spc1", "an SPC-1-like workload, as an SPC trace", _generate_spc1)
    command.add_argument("output", metavar="OUTPUT", type=Path, help="file to make, such as mine.spc or mine.spc.zst")
    command.add_argument("--space", metavar="BYTES", default="32GB", help="the three units together (default: 32GB)")
    command.add_argument("--bsus", metavar="N", type=int, default=1, help="business scaling units (default: 1)")
    command.add_argument("--iops", metavar="N", type=float, help="requests a second (default: 50 a BSU)")
    length = command.add_mutually_exclusive_group(required=True)
    length.add_argument("--requests", metavar="N", type=int, help="length in requests")
    length.add_argument("--seconds", metavar="S", type=float, help="length in seconds")
    command.add_argument("--seed", metavar="N", type=int, default=0, help="chooses every draw (default: 0)")
    command.add_argument("--climb", metavar="P", type=float, default=0.44, help="of the walk's tree (default: 0.44)")


def _command(commands, name, description, run):
    command = commands.add_parser(name, help=description, description=description[0].upper() + description[1:] + ".")
    command.set_defaults(run=run)
    shape = command.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print JSON")
    shape.add_argument("--csv", action="store_true", help="print CSV")
    return command


def _format_options(command):
    listed = "; ".join(f"{name}: {form.summary}" for name, form in formats().items())
    command.add_argument("--format", help=f"format of a raw trace, where the file doesn't tell ({listed})")
    command.add_argument("--block-size", metavar="BYTES", help="block size, such as 8KB (default: the format's)")
    for name, forms in _options_of_formats().items():
        what = "; ".join(f"{form.name}: {form.options[name]}" for form in forms)
        command.add_argument(f"--{name.replace('_', '-')}", dest=f"format_{name}", metavar="VALUE", help=what)


def _options_of_formats():
    options = {}
    for form in formats().values():
        for name in form.options:
            options.setdefault(name, []).append(form)
    return options


def _replay_options(command):
    command.add_argument("--policy", default="lru", help="see 'misspenalty policies' (default: lru)")
    command.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the policy; repeatable"
    )
    command.add_argument(
        "--prefetch",
        metavar="sequential[:NAME=VALUE,…]",
        help=f"prefetch sequential streams ({', '.join(p.name for p in sequential.PARAMETERS)})",
    )
    command.add_argument(
        "--writes", choices=WRITES, default="count", help="what a write is to the cache (default: count)"
    )
    command.add_argument("--warm-up", type=int, default=0, help="references that are not counted (default: 0)")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    _format_options(command)


def _open(options):
    size = None if options.block_size is None else parse_bytes(options.block_size, "block size")
    chosen = {name: getattr(options, f"format_{name}") for name in _options_of_formats()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return misspenalty.open_trace(options.trace, options.format, size, **chosen)


def _info(options):
    trace = _open(options)
    seconds = None if trace.time is None else int(trace.time.max() - trace.time.min()) / 1e9
    return {"name": trace.name, "format": trace.format, "references": len(trace), "reads": trace.reads,
            "writes": len(trace) - trace.reads, "blocks": trace.blocks, "block_bytes": trace.block_bytes,
            "footprint_bytes": trace.blocks * trace.block_bytes, "seconds": seconds}  # fmt: skip


def _convert(options):
    if options.output.exists():
        raise ParameterError(f"{options.output} exists; choose another name or remove it")
    trace = _open(options)
    trace.save(options.output)
    return {"output": str(options.output), "references": len(trace), "blocks": trace.blocks}


def _generate_spc1(options):
    if options.output.exists():
        raise ParameterError(f"{options.output} exists; choose another name or remove it")
    workload = spc1.Workload(
        parse_bytes(options.space, "space"), options.bsus, options.iops, seed=options.seed, climb=options.climb
    )
    made = spc1.write_spc(workload, options.output, options.requests, options.seconds)
    return {"output": str(options.output)} | made


def _simulate(options):
    trace = _open(options)
    result = misspenalty.simulate(
        trace, options.policy, parse_size(options.size, trace.block_bytes), **_shared(options)
    )
    return result.row()


def _curve(options):
    if options.plot and options.plot.suffix[1:] not in PLOTS:
        raise ParameterError(f"--plot {options.plot}; expected a name that ends in {', '.join(PLOTS)}")
    trace = _open(options)
    every = options.size.strip().lower() == "all"
    sizes = None if every else [parse_size(size, trace.block_bytes) for size in options.size.split(",")]
    table = misspenalty.hit_ratio_curve(
        trace,
        options.policy,
        sizes,
        threads=options.threads,
        sample=options.sample,
        sample_seed=options.sample_seed,
        **_shared(options),
    )
    if options.plot:
        # Matplotlib takes longer to import than most curves to compute.
        from misspenalty.plotting import curve, save_figure

        save_figure(curve.hit_ratio(table, trace.block_bytes), options.plot.with_suffix(""), [options.plot.suffix[1:]])
    return table


def _shared(options):
    settings = dict(parse_setting(text) for text in options.set)
    find_policy(options.policy).check(settings)  # before they meet the keywords of `simulate`
    prefetch = None if options.prefetch is None else parse_prefetch(options.prefetch)
    replay = {"prefetch": prefetch, "writes": options.writes, "warm_up": options.warm_up}
    return replay | {"progress": not options.quiet} | settings


def _policies(options):
    rows = []
    for name, policy in misspenalty.policies().items():
        settings = ", ".join(f"{p.name}={'auto' if p.default is None else p.default}" for p in policy.parameters)
        rows.append({"policy": name, "summary": policy.summary, "parameters": settings})
    return pd.DataFrame(rows)


def parse_size(text, block_bytes):
    """A cache size in blocks: ``65536``, or bytes with a unit, ``512MB`` (1 MB = 2**20 bytes).

    Raises
    ------
    ParameterError
        The text is no size, or smaller than a block.
    """
    number, unit = _quantity(text, "blocks (65536)")
    blocks = int(number) if unit is None else int(float(number) * unit) // block_bytes
    if blocks < 1:
        raise ParameterError(f"{text!r} is less than one block of {block_bytes} bytes")
    return blocks


def parse_bytes(text, what):
    """A size in bytes, of `what`: ``8192``, or with a unit, ``8KB``.

    Raises
    ------
    ParameterError
        The text is no size, or smaller than a byte.
    """
    number, unit = _quantity(text, "bytes (8192)")
    size = int(float(number) * (unit or 1))
    if size < 1:
        raise ParameterError(f"{what} {text}; expected at least 1 byte")
    return size


def _quantity(text, plain):
    """The digits of a size and the bytes of its unit, None where a whole number (of `plain`) has none."""
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([bkmgt]?)(?:i?b)?\s*", text.lower())
    unit = "" if match is None else text.lower().strip()[len(match[1]) :].strip()
    if match is None or (not unit and "." in match[1]):
        raise ParameterError(f"{text!r} is no size; expected {plain} or bytes with a unit (512MB, 8KB, 1.5GB)")
    return match[1], UNITS[match[2]] if unit else None


def parse_prefetch(text):
    """``sequential``, or ``sequential:degree=16,trigger=8``, to the prefetcher's settings.

    Raises
    ------
    ParameterError
        The text has another shape.
    """
    name, _, settings = text.partition(":")
    if name.strip() != sequential.NAME:
        raise ParameterError(
            f"--prefetch {text!r}; expected {sequential.NAME} or {sequential.NAME}:degree=16,trigger=8"
        )
    return dict(parse_setting(setting, "--prefetch") for setting in settings.split(",")) if settings else {}


def parse_setting(text, option="--set"):
    """``NAME=VALUE`` to (name, number); a whole number is exact, however long.

    Raises
    ------
    ParameterError
        The text has another shape.
    """
    name, _, value = text.partition("=")
    whole = re.fullmatch(r"\s*[+-]?\d{1,30}\s*", value)
    try:
        return name.strip().replace("-", "_"), int(value) if whole else float(value)
    except ValueError:
        raise ParameterError(f"{option} {text!r}; expected NAME=NUMBER, such as queues=8") from None


def _show(result, options):
    frame = result if isinstance(result, pd.DataFrame) else pd.DataFrame([result])
    if options.json:
        rows = [
            {key: None if pd.isna(value) else value for key, value in row.items()} for row in frame.to_dict("records")
        ]
        print(json.dumps(rows if isinstance(result, pd.DataFrame) else rows[0], indent=1))
    elif options.csv:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif isinstance(result, dict):
        width = max(map(len, result))
        print("\n".join(f"{key:{width}}  {'-' if value is None else value}" for key, value in result.items()))
    else:
        print(frame.head(MOST_ROWS).to_string(index=False))
        if len(frame) > MOST_ROWS:
            print(f"… {len(frame) - MOST_ROWS} more rows: print them all with --csv or --json")


if __name__ == "__main__":
    sys.exit(main())
