"""Add and parse the command line's arguments: traces and their formats, policies, sizes, settings.

Each command module has a function ``add(commands)`` that adds its commands to the parser, using the functions below.
"""

import argparse
import inspect
import math
import os
import re
from decimal import Decimal

import misspenalty
from misspenalty.cli.output import say
from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy
from misspenalty.policies.python_policy import load_class
from misspenalty.policies.registry import unknown_parameter
from misspenalty.policies.sized import SIZE_CHANGES
from misspenalty.prefetch.sequential import prefetcher as sequential
from misspenalty.traces import formats
from misspenalty.traces.compiled import is_compiled
from misspenalty.traces.compression import check_path
from misspenalty.traces.parts import warm_up
from misspenalty.traces.quantities import parse_bytes
from misspenalty.traces.selection import WRITES
from misspenalty.traces.table import OPTIONS

NUMBER = r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
PLOTS = (".png", ".svg", ".pdf")


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that fits on a screen: the usage line shows the command's arguments and required options."""

    def add_usage(self, usage, actions, groups, prefix=None):
        """Abbreviate all options that are not required to ``[options]`` in the usage line."""
        optional = any(action.option_strings and not action.required for action in actions)
        parts = ["%(prog)s", *(["[options]"] if optional else [])]
        for action in actions:
            choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
            value = action.metavar or choices
            if action.option_strings and action.required:
                parts.append(f"{action.option_strings[-1]} {value}")
            elif not action.option_strings:
                parts.append(f"[{value}]" if action.nargs == "?" else value)
        super().add_usage(usage or " ".join(parts), actions, groups, prefix)


class Joined(argparse.Action):
    """Store a comma-separated list, and append the lists of later uses: ``--policy lru --policy arc`` selects both."""

    def __call__(self, parser, namespace, values, option_string=None):
        """Append the text to the texts from earlier uses of the option."""
        before = vars(namespace).setdefault("joined", {})
        before[self.dest] = [*before.get(self.dest, []), values]
        setattr(namespace, self.dest, ",".join(before[self.dest]))


def add_command(commands, name, description, run, examples=()):
    """Add a command that prints the result of ``run(options)``; `examples` are shown below its help."""
    shown = "".join(f"\n  {example}" for example in examples)
    command = commands.add_parser(
        name,
        help=description,
        description=description[0].upper() + description[1:] + ".",
        epilog=f"examples:{shown}" if examples else None,
        formatter_class=Help,
    )
    command.set_defaults(run=run)
    shape = command.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print JSON")
    shape.add_argument("--csv", action="store_true", help="print CSV")
    shape.add_argument("--wide", action="store_true", help="print all columns of a table, however wide")
    return command


def add_list(command, option, what):
    """Add a required option whose values are separated by commas."""
    command.add_argument(option, required=True, metavar="A,B,…", action=Joined, help=what)


def add_trace(command):
    """Add the argument that names a trace."""
    command.add_argument("trace", metavar="TRACE", help="a raw or compiled trace; - reads standard input")


def input_file(text):
    """Return the name of a file to read, as a type for argparse; ``-`` means standard input."""
    return "/dev/stdin" if text == "-" else text


def whole_number(text):
    """Parse a whole number of at most 18 digits, as a type for argparse; refuse ``1_000``, which `int` accepts."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at most 18 digits")
    return int(text)


def number(text):
    """Parse a finite decimal number; this is a type for argparse."""
    if not re.fullmatch(NUMBER, text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    if not math.isfinite(float(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return float(text)


def share(text):
    """Parse a share, such as ``0.01`` or ``1%``; this is a type for argparse."""
    match = re.fullmatch(rf"\s*(?P<number>{NUMBER})\s*(?P<percent>%?)\s*", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, such as 0.01 or 1%")
    return float(Decimal(match["number"]).scaleb(-2 if match["percent"] else 0))  # in floats, 0.7 / 100 < 0.007


def add_format_options(command):
    """Add the options that control how a raw trace is read; the help shows only ``--format``, the first of them."""
    group = command.add_argument_group("how a raw trace is read ('misspenalty trace options' lists further options)")
    group.add_argument("--format", metavar="NAME", help="the trace's format (see 'misspenalty trace formats')")
    for option in format_options():
        name = option.removeprefix("--").replace("-", "_")
        keywords = {"dest": name} if name in READING else {"dest": f"format_{name}"}
        if name in ("columns", "operations"):
            keywords["action"] = Joined
        command.add_argument(
            option, metavar="VALUE", help=argparse.SUPPRESS, **keywords, **READING.get(name, (None, {}))[1]
        )


READING = {  # options for raw traces of every format, with their meanings and argparse keywords
    "block_size": ("block size, such as 8KB (default: the format's)", {}),
    "most_references": (
        "maximum number of block references of a raw trace (default: 10 million plus 100 per byte of the file)",
        {"type": whole_number},
    ),
}


def format_options():
    """Return the options that control how a raw trace is read, except ``--format``.

    Returns
    -------
    dict of str to str
        The meaning of each option, in the order in which ``misspenalty trace options`` lists them.

    Examples
    --------
    >>> format_options()["--address-unit"]
    'unit of offsets: bytes, sectors, or a size such as 4KB'
    """
    found = {f"--{name.replace('_', '-')}": what for name, (what, _) in READING.items()}
    for name, meanings in _options_of_formats().items():
        found[f"--{name.replace('_', '-')}"] = "; ".join(
            f"{', '.join(forms)}: {what}" if len(meanings) > 1 else what for what, forms in meanings.items()
        )
    return found


def _options_of_formats():
    """Map the name of each format option to its meanings, and each meaning to the formats that have it."""
    options = {}
    for form in formats().values():
        for name, what in form.options.items():
            options.setdefault(name, {}).setdefault(what, []).append(form.name)
    return {name: options[name] for name in (*OPTIONS, *(name for name in options if name not in OPTIONS))}


def add_policy_options(command):
    """Add the options for policies, their parameters, and the warm-up."""
    help_ = "policies (see 'misspenalty policies') or classes of your own, ./mine.py:Mine (default: lru)"
    command.add_argument("--policy", metavar="A,B,…", action=Joined, default="lru", help=help_)
    help_ = "a parameter, for the policies that have it; repeatable"
    command.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help=help_)
    help_ = "warm-up: references, 20%%, 10m or a trace (default: 0)"
    command.add_argument("--warm-up", metavar="N", default="0", help=help_)


def add_replay_options(command):
    """Add the options of a replay, except the trace and the sizes."""
    add_policy_options(command)
    command.add_argument(
        "--prefetch", metavar="KIND[:NAME=N,…]", help=f"prefetch sequential reads: {' or '.join(sequential.KINDS)}"
    )
    command.add_argument(
        "--writes",
        choices=WRITES,
        default="count",
        help="which references update the cache, and which count (default: count)",
    )
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    add_format_options(command)


def add_size_options(command):
    """Add the options for cache sizes in bytes or in objects, and for objects whose sizes change."""
    unit = command.add_mutually_exclusive_group()
    unit.add_argument(
        "--by-bytes",
        dest="unit",
        action="store_const",
        const="bytes",
        help="sizes are in bytes (default if objects differ in size)",
    )
    unit.add_argument(
        "--by-objects",
        dest="unit",
        action="store_const",
        const="objects",
        help="sizes are in objects, whatever their bytes",
    )
    command.add_argument(
        "--size-changes",
        choices=SIZE_CHANGES,
        default="replace",
        metavar="|".join(SIZE_CHANGES),
        help="when an object's size changes (default: replace)",
    )


def open_warmed(options):
    """Open the trace that the options name; return the trace to replay and the length of its warm-up.

    A trace that warms up the cache is read with the same options, unless it is compiled.
    """
    return warm_up(open_named(options), options.warm_up, lambda path: _open(options, path))


def open_named(options):
    """Open the trace that the options name; print a notice if its reader ignored, guessed or adjusted anything."""
    return _open(options, options.trace)


def _open(options, path):
    if path != options.trace and is_compiled(check_path(path)):
        return misspenalty.open_trace(path)
    size = None if options.block_size is None else parse_bytes(options.block_size, "block size")
    chosen = {name: getattr(options, f"format_{name}") for name in _options_of_formats()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    trace = misspenalty.open_trace(path, options.format, size, most_references=options.most_references, **chosen)
    notice = trace.reading.notice(trace.name) if trace.reading and not getattr(options, "described", False) else None
    if notice:
        say(f"misspenalty: {notice}")
    return trace


def replay_settings(options, policies):
    """Turn the options into checked keyword arguments of `misspenalty.simulate` for these policies."""
    settings = policy_settings(options, policies, misspenalty.hit_ratio_curve)
    prefetch = None if options.prefetch is None else parse_prefetch(options.prefetch)
    replay = {"prefetch": prefetch, "writes": options.writes}
    return replay | {"progress": not options.quiet} | settings


def policy_settings(options, policies, function):
    """Parse the policy parameters given by ``--set``; refuse names that are arguments of `function` itself.

    Raises
    ------
    ParameterError
        A text is not NAME=NUMBER, a name has two values, no policy has a parameter of that name, or the name is an
        argument of `function`.
    """
    settings = parse_settings(options.set)
    definitions = [find_policy(policy) for policy in policies]
    keywords = inspect.signature(function).parameters.keys() | {"hits"}
    for name in settings:
        if name in keywords or not any(definition.takes(name) for definition in definitions):
            raise unknown_parameter(name, {each.name: [p.name for p in each.parameters] for each in definitions})
    return settings


def parse_policies(text):
    """Parse policy names, in upper or lower case, and Python classes, as in ``lru,./mine.py:Mine``.

    Raises
    ------
    InputError
        A file is missing or cannot be run.
    ParameterError
        A policy is unknown, a name is empty, or a file lacks the named class or, if none is named, does not have
        exactly one.

    Examples
    --------
    >>> parse_policies("LRU,arc")
    ['lru', 'arc']
    """
    names = listed_names("--policy", text)
    own = {name: load_class(name) for name in dict.fromkeys(names) if names_class(name)}
    return [own[name] if name in own else find_policy(name).name for name in names]


def listed_names(option, text):
    """Return the names of a list with commas between them; raise a `ParameterError` if one is empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ParameterError(f"{option} {text!r} has an empty name; expected names with commas between them")
    return names


def names_class(text):
    """Return whether a text names a Python class, such as ``./mine.py:Mine`` or ``./mine.py``."""
    return ".py:" in text or text.endswith(".py")


def refuse_existing(path):
    """Refuse to overwrite a file, a folder or a link, and refuse the name ``-``.

    Raises
    ------
    ParameterError
        A file, folder or link of this name exists, even a broken link; or the name is ``-``.
    """
    if str(path) == "-":
        raise ParameterError("the output is -, but it cannot go to standard output; name a file or folder")
    if os.path.lexists(path):
        raise ParameterError(f"{path} exists; choose another name or remove it")


def refuse_input(path, *inputs):
    """Refuse to write over a file that the command reads.

    Parameters
    ----------
    path : Path
        The output.
    *inputs : str
        Names of the files that are read; names that do not exist are ignored.

    Raises
    ------
    ParameterError
        The output is one of these files, possibly under another name; or its name is ``-``.
    """
    if str(path) == "-":
        raise ParameterError("the output is -, but it cannot go to standard output; name a file")
    for name in inputs:
        if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise ParameterError(f"{path} is read by this command; choose another name for the output")


def plot_path(path, *inputs):
    """Return `path`, after checking that a plot can be written there.

    Raises
    ------
    ParameterError
        The name has no known suffix, or it is a folder or one of the `inputs`.
    """
    refuse_input(path, *inputs)
    if path.suffix.lower() not in PLOTS:
        raise ParameterError(f"--plot {path}; expected a name that ends in {', '.join(PLOTS)}")
    if os.path.isdir(path):
        raise ParameterError(f"--plot {path} is a folder; choose another name")
    return path


def save_plot(table, path):
    """Plot a table of results into a file whose suffix selects the format."""
    os.environ["MPLBACKEND"] = "agg"  # opens no window; Matplotlib would fail if this variable named a missing backend
    from misspenalty.plotting import save_figure  # importing Matplotlib takes longer than computing most curves

    save_figure(table.plot(), path.with_suffix(""), [path.suffix[1:]])


def parse_prefetch(text):
    """Parse the prefetcher's settings: ``sequential``, ``sequential:degree=16,trigger=8`` or ``amp:most=16``.

    Raises
    ------
    ParameterError
        The text is malformed, or a setting has two values.
    """
    name, _, settings = text.partition(":")
    name = name.strip().lower()
    if name not in sequential.KINDS:
        raise ParameterError(
            f"--prefetch {text!r}; expected sequential or amp, with or without settings, as in"
            " sequential:degree=16,trigger=8"
        )
    given = parse_settings(settings.split(","), "--prefetch") if settings else {}
    return given | {"kind": name}


def parse_settings(texts, option="--set"):
    """Parse texts as `parse_setting` does; return the numbers by name.

    Raises
    ------
    ParameterError
        A text is malformed, or a name has two values.
    """
    made = {}
    for text in texts:
        name, value = parse_setting(text, option)
        if made.setdefault(name, value) != value:
            raise ParameterError(f"{option}: {name} has two values, {made[name]} and {value}; expected one")
    return made


def parse_setting(text, option="--set"):
    """Parse ``NAME=VALUE`` into a name and a number; a whole number of up to 30 digits becomes an exact integer.

    Raises
    ------
    ParameterError
        The text is malformed.
    """
    name, _, value = text.partition("=")
    value = value.strip()
    whole = re.fullmatch(r"[+-]?[0-9]{1,30}", value)
    if not whole and not re.fullmatch(NUMBER, value):
        example = "degree=16" if option == "--prefetch" else "queues=8"
        raise ParameterError(f"{option} {text!r}; expected NAME=NUMBER, such as {example}")
    return name.strip().replace("-", "_"), int(value) if whole else float(value)
