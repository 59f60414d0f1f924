"""The bash script offers the words that fit at each position; the scripts for all shells contain every command."""

import contextlib
import io
import shutil
import subprocess

import pytest

from misspenalty.cli.completion import commands, words
from misspenalty.cli.main import main, parser


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["completion", "bash"]) == 0
    path = tmp_path_factory.mktemp("completion") / "misspenalty.bash"
    path.write_text(out.getvalue())
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["disk", "re"], {"replay"}),
        (["trace", "info", "x", "--form"], {"--format"}),
        (["curve", "x", "--policy", "sie"], {"sieve"}),
        (["curve", "x", "--policy", "lru,sie"], {"lru,sieve"}),
        (["penalty", "x", "--device", "cheetah"], {"cheetah4lp", "cheetah9lp"}),
        (["compl"], {"completion"}),
        (["curve", "x", "--writes", ""], {"count", "ignore", "refresh", "only"}),
        (["penalty", "x", "--writes", ""], {"count", "ignore"}),
        (["record", "block", "--device", "cheetah"], set()),
        (["penalty", "x", "--scheduler", "s"], {"sstf", "sptf"}),
        (["new", "d"], {"drive"}),
    ],
)
def test_bash_offers_what_is_possible(script, typed, offered):
    line = " ".join(["misspenalty", *(word or "''" for word in typed)])
    program = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(typed)}; _misspenalty; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_every_script(shell, capsys):
    assert main(["completion", shell]) == 0
    shown = capsys.readouterr().out
    assert [name for names in words(parser()).values() for name in names if name.lstrip("-") not in shown] == []


def test_fish_knows_what_each_command_takes(capsys):
    assert main(["completion", "fish"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "-l writes" in line]
    taken = {line.partition("from ")[2].partition("'")[0]: line.rpartition(" -a ")[2] for line in lines}
    assert (taken["curve"], taken["penalty"]) == ("'count ignore refresh only'", "'count ignore'")


def test_every_command_has_examples():
    """Commands that only group other commands need no examples."""
    tree = dict(commands(parser()))
    leaves = [path for path in tree if path and not any(other[: len(path)] == path and other != path for other in tree)]
    assert [path for path in leaves if not (tree[path].epilog or "").startswith("examples:")] == []
