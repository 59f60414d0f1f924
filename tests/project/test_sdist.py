"""Test the contents of a source distribution, and that it fits a package index; `make test-sdist` builds one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_BYTES = 20_000_000  # unpacked; a package index accepts up to 100 MB


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return the paths that `tools/sdist.py` keeps in a tree that has all paths of the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = [name for name in listed.stdout.split("\0") if name]
    if not names:
        pytest.skip("not a git checkout")
    tree = tmp_path_factory.mktemp("tree")
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    environment = os.environ | {"MESON_DIST_ROOT": str(tree)}
    subprocess.run([sys.executable, str(ROOT / "tools" / "sdist.py")], env=environment, check=True)
    return [path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()]


def test_an_sdist_is_small(kept):
    assert sum((ROOT / name).stat().st_size for name in kept if (ROOT / name).exists()) < MOST_BYTES


def test_an_sdist_has_what_the_package_is_built_from(kept):
    assert {"pyproject.toml", "meson.build", "LICENSE", "README.md", "tools/cython_modules.py"} <= set(kept)
    built = subprocess.run(
        ["git", "ls-files", "src", "data/conformance", "data/drives"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(built.stdout.split()) <= set(kept)
    assert {name.split("/")[1] for name in kept if name.startswith("data/")} == {"conformance", "drives"}
    assert not [name for name in kept if name.startswith(("results/", "tests/", "notebooks/", "workflow/"))]
