"""Run the code blocks of a Markdown page, in order, as a reader would.

Python blocks of a page share one namespace; the output of blocks of prompts (``>>>`` or ``$``) is compared with the
output that they show. ``sh`` blocks run under ``bash -euo pipefail``. A block whose caption is a bare file name is
written to that file (and run, if its language can be). A block below the comment ``<!-- not run: why -->`` is left out.

As a script, this module takes the path of a page and runs the page's blocks in the working directory.
"""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

LANGUAGES = ("python", "pycon", "sh", "console", "yaml", "diff")
FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})(?:\{code-block\} *)?(?P<language>[a-z]+)\n(?P<body>.*?)^(?P=fence)$", re.M | re.S
)
OPTION = re.compile(r"\A:(?P<name>[a-z-]+): *(?P<value>.*)\n")
NOT_RUN = re.compile(r"<!-- not run: (?P<why>[^>]+) -->\n+\Z")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A code block of a page.

    Attributes
    ----------
    line : int
        Line of the page at which its text begins.
    language, text : str
    caption : str or None
    not_run : str or None
        Reason why it is not run.
    """

    line: int
    language: str
    text: str
    caption: str | None
    not_run: str | None

    @property
    def runs(self):
        """Whether the block is run."""
        return not self.not_run and self.language in LANGUAGES


def blocks(page):
    """Yield the code blocks of a page, in order."""
    for found in FENCE.finditer(page):
        body, options = found["body"], {}
        while option := OPTION.match(body):
            options[option["name"]] = option["value"]
            body = body[option.end() :]
        excuse = NOT_RUN.search(page[: found.start()])
        line = page[: found.end("body") - len(body)].count("\n") + 1
        yield Block(line, found["language"], body.lstrip("\n"), options.get("caption"), excuse and excuse["why"])


def run(page):
    """Run the blocks of the page at this path in the working directory; an exception names the first that fails."""
    names = {"__name__": "page"}
    for block in blocks(Path(page).read_text()):
        if not block.runs:
            continue
        try:
            _run(block, names, f"{page}:{block.line}")
        except Exception as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error


def _run(block, names, place):
    if block.caption and "/" not in block.caption:
        Path(block.caption).write_text(block.text)
    if block.language == "python":
        exec(compile("\n" * (block.line - 1) + block.text, place, "exec"), names)
    elif block.language == "pycon":
        example = doctest.DocTestParser().get_doctest(block.text, names, place, None, block.line - 1)
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        if runner.run(example, clear_globs=False).failed:
            raise AssertionError("the output differs")
        names.update(example.globs)
    elif block.language == "sh":
        _shell(block.text)
    elif block.language == "console":
        for command in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            line, _, shown = command.partition("\n")
            printed = _shell(line)
            if not doctest.OutputChecker().check_output(shown, printed, FLAGS):
                raise AssertionError(f"`{line}` prints\n{printed}instead of\n{shown}")


def _shell(command):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"status {done.returncode}\n{command}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    run(sys.argv[1])
