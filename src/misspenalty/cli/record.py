"""Run the commands ``record postgres|files|block``: record your own workload as a trace."""

from pathlib import Path

from misspenalty.cli.arguments import add_command, number, refuse_existing, whole_number
from misspenalty.cli.output import say
from misspenalty.errors import ParameterError

MOST_PAGES = 1 << 20


def add(commands):
    """Add the commands to a parser."""
    parser = commands.add_parser(
        "record",
        help="record your own workload (Linux, root, bpftrace)",
        description="Write a trace of what a database, a command or a disk does while you use it, for 'misspenalty"
        " curve' and 'misspenalty penalty'. It needs Linux, root and bpftrace.",
    )
    kinds = parser.add_subparsers(required=True, metavar="COMMAND")
    postgres = add_command(
        kinds,
        "postgres",
        "record the block reads and writes of a PostgreSQL database on this machine",
        _postgres,
        (
            "sudo misspenalty record postgres mine.parquet --database bench --as postgres --seconds 60",
            "misspenalty curve mine.parquet --policy lru,mq,arc,opt --size 1%,5%,10%",
        ),
    )
    _output(postgres, "Parquet file to write, such as mine.parquet")
    postgres.add_argument("--database", metavar="NAME", required=True, help="database to record")
    postgres.add_argument("--as", metavar="USER", dest="user", help="system user that queries the server")
    files = add_command(
        kinds,
        "files",
        "record what a command and its children read, write and touch",
        _files,
        (
            "sudo misspenalty record files build.spc.zst --names build.csv -- make -j4",
            "misspenalty curve build.spc.zst --policy lru,arc,opt --size 1%,10%",
        ),
    )
    _output(files, "SPC trace to write, such as mine.spc or mine.spc.zst")
    files.add_argument(
        "--names", metavar="FILE", type=Path, help="CSV file to write: which file each unit of the trace stands for"
    )
    files.usage = "misspenalty record files [options] OUTPUT -- COMMAND [ARGUMENT ...]"
    block = add_command(
        kinds,
        "block",
        "record the requests queued to a block device, as blkparse prints them",
        _block,
        (
            "sudo misspenalty record block sda.txt --device /dev/sda --seconds 60",
            "misspenalty penalty sda.txt --policy lru,arc --size 10% --device cheetah9lp,dc_p3700",
        ),
    )
    _output(block, "text file to write, such as sda.txt or sda.txt.zst")
    block.add_argument("--device", metavar="PATH", type=Path, help="block device (default: all)")


def _output(command, what):
    command.add_argument("output", metavar="OUTPUT", type=Path, help=what)
    command.add_argument("--seconds", metavar="S", type=number, help="how long to record (default: until Ctrl-C)")
    command.add_argument(
        "--ring-pages",
        metavar="N",
        type=whole_number,
        default=16384,
        help="pages in each processor's event buffer, a power of two (default: %(default)s)",
    )


def _checked(options):
    """Check the output files and the shared options; return the latter as keyword arguments."""
    for path in (options.output, getattr(options, "names", None)):
        if path is None:
            continue
        refuse_existing(path)
        if not path.parent.is_dir():
            raise ParameterError(f"{path.parent}: no such folder; make it first")
    names = getattr(options, "names", None)
    if names is not None and names.resolve() == options.output.resolve():
        raise ParameterError(f"--names {names} would replace the trace; choose another name")
    if options.seconds is not None and not options.seconds > 0:
        raise ParameterError(f"--seconds {options.seconds:g}; expected a number above 0")
    if not 1 <= options.ring_pages <= MOST_PAGES or options.ring_pages & (options.ring_pages - 1):
        raise ParameterError(f"--ring-pages {options.ring_pages}; expected a power of two up to {MOST_PAGES}")
    return {"seconds": options.seconds, "ring_pages": options.ring_pages, "told": say}


def _postgres(options):
    from misspenalty.record import postgres

    return postgres.record(options.database, options.output, user=options.user, **_checked(options))


def _files(options):
    from misspenalty.record import files

    return files.record(options.rest, options.output, names=options.names, **_checked(options))


def _block(options):
    from misspenalty.record import block

    return block.record(options.device, options.output, **_checked(options))
