"""The command line: ``misspenalty trace|simulate|curve|disk|policies``."""

import argparse
import os
import sys
from collections.abc import Sequence

import misspenalty
from misspenalty.cli import disks, policies, replay, traces
from misspenalty.cli.output import show
from misspenalty.errors import MissPenaltyError

COMMANDS = (traces, replay, disks, policies)  # modules, in the order of the help


def main(arguments: Sequence[str] | None = None):
    """Run the command line; the exit status: 0, 2 for bad input, 130 after Ctrl-C."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        show(options.run(options), options)
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
    for module in COMMANDS:
        module.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
