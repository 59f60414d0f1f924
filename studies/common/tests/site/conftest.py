"""Define fixtures: the site of one study, a browser, and the programs that tests need."""

import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from playwright.sync_api import sync_playwright

from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.site.__main__ import main
from misspenalty_studies.common.site.pages import build_site
from misspenalty_studies.common.site.readings import write_readings

ROOT = Path(__file__).parents[4]
STUDY = "vlog"
WITHOUT_CLAIMS = "whatif"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """Return a checkout with the archived results of a study with claims and of one without."""
    root = tmp_path_factory.mktemp("checkout")
    for study in (STUDY, WITHOUT_CLAIMS):
        shutil.copytree(ROOT / "results" / study, root / "results" / study, ignore=shutil.ignore_patterns("runs"))
    for name in ("src", "studies"):
        (root / name).symlink_to(ROOT / name)
    index = json.loads((ROOT / "results" / "index.json").read_text())
    index["titles"] = {study: index["titles"][study] for study in (STUDY, WITHOUT_CLAIMS)}
    index["figures"] = [figure for figure in index["figures"] if figure["study"] == STUDY]
    (root / "results" / "index.json").write_text(json.dumps(index))
    claims = pd.read_csv(ROOT / "results" / "claims.csv", dtype=str, keep_default_na=False)
    claims[claims["study"] == STUDY].to_csv(root / "results" / "claims.csv", index=False)
    claims.head(0).to_csv(root / "results" / "claims_calibrated.csv", index=False)
    for name in ("overview.png", "recomputed.csv"):
        shutil.copy(ROOT / "results" / name, root / "results")
    tables = {item: str(root / "results" / STUDY / f"{item}.csv") for item in STUDIES[STUDY].TABLES}
    (root / "results" / STUDY / "runs").mkdir()
    write_readings(STUDY, tables, root / "results" / STUDY / "runs" / "readings.json")
    return root


@pytest.fixture(scope="session")
def site(root):
    docs = root / "docs"
    docs.mkdir()
    (docs / "index.html").write_text(
        '<!doctype html><html lang="en"><head><title>Docs</title></head><body><main></main></body></html>'
    )
    assert main(["--root", str(root), "--out", str(root / "site"), "--with", f"docs={docs}"]) == 0
    return root / "site"


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


def chromium():
    """Return the path of Chromium; if it is missing, install Debian's package."""
    if not (found := next(filter(None, map(shutil.which, BROWSERS)), None)):
        installed("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium")
    return found or shutil.which("chromium")


def installed(*command):
    """Run a command that installs a program for a test; if that fails, the test fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = done.stderr[-300:] if done.returncode else ""
    except OSError as error:
        said = str(error)
    assert not said, f"a test needs what `{' '.join(map(str, command))}` installs, which failed: {said}"


@pytest.fixture(scope="session")
def zig():
    """Install Zig's C compiler in this environment if it is missing."""
    if importlib.util.find_spec("ziglang") is None:
        requirements = ROOT / "tools" / "play-requirements.txt"
        installed(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", requirements)


@pytest.fixture(scope="session")
def npm():
    """Return the path of npm, which fetches JavaScript packages; install it if it is missing."""
    if not shutil.which("npm"):
        installed("apt-get", "install", "-y", "-qq", "--no-install-recommends", "npm")
    return shutil.which("npm")


AXE = "axe-core@4.14.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory, npm):
    """Return the source of axe-core, which checks accessibility rules."""
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"axe-core could not be fetched: {done.stderr[-200:]}"
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


@pytest.fixture(scope="session")
def whole(tmp_path_factory, root):
    """Return the site of one study with all saved notebooks and the documentation, which must build without
    warnings."""
    out = tmp_path_factory.mktemp("whole")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", out / "doctrees"]
    command += [ROOT / "docs", out / "docs"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))["page"]
    (out / "notebooks").mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        (out / "notebooks" / f"{path.stem}.html").write_text(page(nbformat.read(path, 4), path.stem))
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    build_site(out / "site", root, extras={name: out / name for name in ("docs", "notebooks")})
    return out / "site"
