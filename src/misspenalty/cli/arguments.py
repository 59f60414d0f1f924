"""What the command line's arguments mean: traces and their formats, policies, sizes, settings.

Each module of commands has ``add(commands)``, which adds its own to the parser with `add_command` and the options here.
"""

import re

import misspenalty
from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential import prefetcher as sequential
from misspenalty.traces import formats
from misspenalty.traces.selection import WRITES

UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def add_command(commands, name, description, run):
    command = commands.add_parser(name, help=description, description=description[0].upper() + description[1:] + ".")
    command.set_defaults(run=run)
    shape = command.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print JSON")
    shape.add_argument("--csv", action="store_true", help="print CSV")
    return command


def add_format_options(command):
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


def add_replay_options(command):
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
    add_format_options(command)


def open_named(options):
    size = None if options.block_size is None else parse_bytes(options.block_size, "block size")
    chosen = {name: getattr(options, f"format_{name}") for name in _options_of_formats()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    return misspenalty.open_trace(options.trace, options.format, size, **chosen)


def replay_settings(options):
    settings = dict(parse_setting(text) for text in options.set)
    find_policy(options.policy).check(settings)  # before they meet the keywords of `simulate`
    prefetch = None if options.prefetch is None else parse_prefetch(options.prefetch)
    replay = {"prefetch": prefetch, "writes": options.writes, "warm_up": options.warm_up}
    return replay | {"progress": not options.quiet} | settings


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
