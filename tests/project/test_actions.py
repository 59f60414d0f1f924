"""Continuous integration pins third-party actions by digest, and its scripts hide no failure."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted((ROOT / ".ci").iterdir())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_digest(path):
    """Actions must be pinned to a commit, because a tag can be moved."""
    used = re.findall(r"uses: *([^\n]+)", path.read_text())
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*", name)] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_stops_at_the_first_failure(path):
    """With `pipefail`, a pipe to a program that ends early fails at random; `<(…)` hides the failure of a command."""
    text = path.read_text()
    assert "\nset -euo pipefail\n" in text
    assert re.findall(r"\| *(?:grep -q|head)\b|<\((?!printf|sort)", text) == []
