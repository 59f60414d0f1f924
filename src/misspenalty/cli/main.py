"""Run ``misspenalty trace|simulate|curve|penalty|disk|policies|conformance|new|record|completion``."""

import argparse
import io
import itertools
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import misspenalty
from misspenalty import signals
from misspenalty.cli import completion, conformance, disks, new, penalty, policies, record, replay, traces
from misspenalty.cli.output import Described, drop, say, show
from misspenalty.errors import MissPenaltyError, MissPenaltyWarning, did_you_mean
from misspenalty.io.files import remove_temporary

COMMANDS = (
    traces,
    replay,
    penalty,
    disks,
    policies,
    conformance,
    new,
    record,
    completion,
)  # modules, in the order of the help
EXAMPLES = """examples:
  misspenalty trace info mine.spc
  misspenalty curve mine.spc --policy lru,arc,mq,opt --size 1%,5%,10%,1GB --plot mine.png
  misspenalty penalty mine.spc --policy arc,lru --size 1GB --device cheetah9lp,5ms
  misspenalty simulate mine.spc --policy ./mine.py:Mine --size 512MB
  misspenalty disk replay hp97560 requests.txt

'misspenalty COMMAND --help' explains a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        The exit status: 0, 1 if a check failed, 2 for bad input, too little memory or an output that cannot be written,
        130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
    """
    if arguments is not None:
        try:
            return _guarded(arguments)
        except (KeyboardInterrupt, signals.Stopped) as error:
            return _stopped(error)
    try:
        signals.stop_at_signals()
        return _guarded(sys.argv[1:])
    except (KeyboardInterrupt, signals.Stopped) as error:
        remove_temporary()  # files may remain if the exception interrupted their creation or removal
        return _stopped(error)
    finally:
        signals.leave_at_signals()  # all output is written, and nothing would catch an exception from here on


def _stopped(error: BaseException) -> int:
    drop(sys.stdout)
    return signals.say_stopped(error)


def _guarded(arguments: Sequence[str]) -> int:
    """Run the command line, and turn each expected error into one line and an exit status."""
    if _closed():
        return _refused("standard output is closed; send it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # escape characters that the terminal's encoding lacks
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", MissPenaltyWarning)
            warnings.showwarning = _show_warning
            return _run(arguments)
    except BrokenPipeError:
        drop(sys.stdout)
        return 0
    except OSError as error:
        drop(sys.stdout)
        path = error.filename2 or error.filename or "the output"  # after a failed rename, the target is `filename2`
        return _refused(f"{path}: cannot be written ({error.strerror or error})")


def _closed() -> bool:
    """Return whether standard output is closed, and open each closed standard stream on the null device.

    Otherwise a file opened later would get the descriptor of the closed stream, and libraries would print to that file.
    """
    closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free descriptor, which is `number`
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, for the rest of the process
    return closed


def _run(arguments: Sequence[str]) -> int:
    arguments, rest = _split(list(arguments))
    try:
        options = parser().parse_args(arguments, argparse.Namespace(rest=rest))
    except signals.Stopped:
        raise
    except SystemExit:  # raised after --help is printed, or for an invalid argument
        sys.stdout.flush()
        raise
    try:
        result = options.run(options)
        status = result.status if isinstance(result, Described) else 0
        try:
            show(result, options)
            sys.stdout.flush()  # a closed pipe or a full disk raises an error here, not at exit
        except BrokenPipeError:  # the reader has closed the pipe
            drop(sys.stdout)
    except MissPenaltyError as error:
        return _refused(str(error))
    except MemoryError as error:
        why = f" ({error})" if str(error) else ""
        return _refused(f"out of memory{why}; choose a smaller trace or cache")
    return status


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Split the arguments into those of misspenalty and the command after ``--`` that ``record files`` runs."""
    if arguments[:2] != ["record", "files"] or "--" not in arguments:
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1 :]


def _refused(message: str) -> int:
    say(f"misspenalty: {message}")
    return 2


def _show_warning(message: Warning | str, *place: Any) -> None:
    say(f"misspenalty: {message}")


class Parser(argparse.ArgumentParser):
    """A parser that suggests the closest match for a misspelt command, option or choice."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a whole command line, after checking for errors that argparse would report unclearly."""
        for argument in itertools.takewhile(lambda word: word != "--", args):
            option = not argument.startswith("-") or re.fullmatch("-[A-Za-z-]*(=.*)?", argument, re.DOTALL)
            if not option and os.path.lexists(argument):
                self.error(f"{argument!r} begins with a dash; to name this file, write ./{argument}")
            if re.match(r"-[0-9.]", argument) and not re.fullmatch(r"-[0-9]+|-[0-9]*\.[0-9]+", argument):
                self.error(f"{argument!r} is negative; expected a number or size of at least 0")
        for path, option, known in unknown_options(completion.words(self), args):
            help_ = " ".join(["misspenalty", *path, "--help"])
            self.error(f"no option {option}{did_you_mean(option, known)}; '{help_}' lists the options")
        return super().parse_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with status 2; if a command is missing, print the help above the error."""
        if self._subparsers and message.startswith("the following arguments are required"):
            self.print_help(sys.stderr)
            self.exit(2, f"{self.prog}: error: {message}\n")
        if match := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            message += did_you_mean(match[1], re.findall(r"[\w-]+", match[2]))
        if re.fullmatch(r"unrecognized arguments: .*\.(csv|json)", message):
            message += "; --csv and --json take no file: tables are printed; redirect them with > FILE"
        super().error(message)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help; unlike argparse's own method, raise an error if it cannot be written to standard output."""
        if file is None or file is sys.stderr:
            say(message, end="")
        else:
            file.write(message)


def unknown_options(
    tree: dict[tuple[str, ...], list[str]], arguments: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
    """Yield the given options that are neither options of the command nor abbreviations of one.

    Parameters
    ----------
    tree : dict of tuple of str to list of str
        The words that may follow each command, as `misspenalty.cli.completion.words` returned them.
    arguments : sequence of str

    Yields
    ------
    (tuple of str, str, list of str)
        The path of the command, the unknown option, and the options that the command has.

    Examples
    --------
    >>> list(unknown_options({(): ["disk"], ("disk",): ["--json", "--csv"]}, ["disk", "--jsn", "--cs"]))
    [(('disk',), '--jsn', ['--json', '--csv'])]
    """
    path: tuple[str, ...] = ()
    for argument in arguments:
        if argument == "--":
            return
        name = argument.partition("=")[0]
        if (*path, argument) in tree:
            path = (*path, argument)
        elif re.fullmatch("--?[A-Za-z][A-Za-z0-9_-]+", name):
            known = [option for option in tree[path] if option.startswith("--")]
            if not any(option.startswith(name) for option in known):
                yield path, name, known


def parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line."""
    made = Parser(
        prog="misspenalty",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(misspenalty.__doc__ or "").partition("\n")[0],
    )
    made.set_defaults(whole=made)  # used by `completion`
    made.add_argument("--version", action="version", version=f"misspenalty {misspenalty.__version__}")
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add(commands)
    return made
