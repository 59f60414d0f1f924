"""Test the documentation: the code blocks of all pages run unless marked, and nothing registered is left out."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import LANGUAGES, blocks, run

from misspenalty.cli.completion import commands
from misspenalty.cli.main import main, parser
from misspenalty.policies import known_policies
from misspenalty.prefetch.predictors.registry import known_predictors

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if any(block.runs for block in blocks(page.read_text()))]
PLAIN = ("text", "bibtex")  # languages of blocks that only show something and are not code
NOT_RUN = 12  # maximum number of blocks that are too long or too large to run here, or that another test runs
RECORDING = "docs/how-to/record.md"  # the only page whose commands need root; tests/record runs commands like these


def named(path):
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a folder with what a reader has: the command, a trace, timed requests, and a drive's parameter files."""
    folder = tmp_path_factory.mktemp("reader")
    for file in (ROOT / "tests" / "data" / "pages").iterdir():
        shutil.copy(file, folder)
    trace = folder / "mine.spc"
    assert main(["trace", "generate", "spc1", str(trace), "--space", "1GB", "--requests", "20000", "--seed", "1"]) == 0
    command = folder / "bin" / "misspenalty"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m misspenalty "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize("page", WITH_CODE, ids=named)
def test_code_blocks_run(page, reader, tmp_path):
    folder = tmp_path / "page"
    shutil.copytree(reader, folder)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), *sys.path])),
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "pages.py"), str(page)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_few_blocks_are_left_out():
    every = {page: list(blocks(page.read_text())) for page in PAGES}
    unknown = [
        (named(page), b.line) for page, found in every.items() for b in found if b.language not in LANGUAGES + PLAIN
    ]
    assert unknown == []
    left_out = [(named(page), b.not_run) for page, found in every.items() for b in found if b.not_run]
    rooted = [why.startswith("needs root") for _, why in left_out]
    assert {page for (page, _), root in zip(left_out, rooted, strict=True) if root} <= {RECORDING}
    assert rooted.count(False) <= NOT_RUN
    assert sum(block.runs for found in every.values() for block in found) >= 20


@pytest.mark.parametrize(
    "block", ["```python\n1 / 0\n```\n", "```console\n$ echo a\nb\n```\n", "```pycon\n>>> 1\n2\n```\n"]
)
def test_a_wrong_block_fails(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text("Text.\n\n" + block)
    with pytest.raises(AssertionError, match=r"page\.md:4: "):
        run("page.md")


@pytest.mark.parametrize(("page", "names"), [("policies", known_policies()), ("predictors", known_predictors())])
def test_every_registered_policy_and_predictor_has_a_page_of_reference(page, names):
    text = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob(f"{page}*.md"))
    modules = {definition.reference.__module__ for definition in names.values()}
    assert [module for module in modules if f"automodule:: {module}\n" not in text] == []


def test_every_command_has_a_page_that_shows_its_screen(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    called = set(re.findall(r"^    (\w+)", capsys.readouterr().out, re.MULTILINE))
    pages = {path.stem: path.read_text() for path in (ROOT / "docs" / "commands").glob("*.md")}
    assert pages.keys() == called and len(called) > 5
    silent = [name for name, text in pages.items() if f"$ misspenalty {name} " not in text]
    assert silent == ["record"]  # only root can run it


def test_the_page_of_a_command_names_the_help_that_explains_its_options():
    """The help of a command with subcommands lists these; the options are in the help of each subcommand."""
    with_subcommands = {path[0] for path, _ in commands(parser()) if len(path) > 1}
    pages = {path.stem: path.read_text() for path in (ROOT / "docs" / "commands").glob("*.md")}
    named = {name: re.search(rf"`misspenalty {name}( [A-Z]+)? --help` explains", text) for name, text in pages.items()}
    assert {name for name, found in named.items() if found[1]} == with_subcommands != set()


def test_the_development_container_builds_what_the_container_file_describes():
    about = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / about["build"]["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert "make build .venv/.lab" in about["postCreateCommand"]


def test_the_sample_diff_applies_and_touches_six_files(tmp_path):
    sample = ROOT / "docs" / "how-to" / "sample_item.diff"
    files = [line.removeprefix("+++ b/") for line in sample.read_text().splitlines() if line.startswith("+++ b/")]
    assert 3 <= len(files) <= 6
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    done = subprocess.run(
        ["git", "apply", "--check", str(sample)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
