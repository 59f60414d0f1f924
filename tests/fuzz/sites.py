"""Define the fuzzer's target that builds a site: an input is refused with a message, or pages and links are valid."""

import contextlib
import functools
import html.parser
import json
import re
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import pandas as pd
import yaml

from misspenalty_studies.common.claims import ledger
from misspenalty_studies.common.site import pages

ROOT = Path(__file__).parents[2]
STUDY, ITEM = "vlog", "fig9"
CLAIMS = ("vlog.table2.almost_ten",)  # claims of the site besides the study's first two
DOCS = b"""<!doctype html>
<html lang="en"><head><title>Docs</title></head>
<body><main><h1 id="top">Docs</h1><p><a href="index.html#top">Up</a>, <a href="../claims.html">claims</a></p></main>
</body>
</html>
"""
NOTEBOOK = b'{"cells": [{"cell_type": "markdown", "source": ["# A heading\\n", "and text"]}], "nbformat": 4}\n'
PLACES = {  # where each file belongs in a checkout
    "index.json": "results/index.json",
    "verdicts.csv": "results/claims.csv",
    "readings.json": f"results/{STUDY}/runs/readings.json",
    "conditions.csv": f"results/{STUDY}/conditions.csv",
    "table.csv": f"results/{STUDY}/{ITEM}.csv",
    "recomputed.csv": "results/recomputed.csv",
    "ledger.yaml": f"studies/{STUDY}/ledger.yaml",
    "notebook.ipynb": "notebooks/page.ipynb",
    "docs.html": "made/docs/index.html",
    "notebook.html": "made/notebooks/page.html",
}
VOID = {"meta", "link", "img", "input", "br", "hr"}


@functools.cache
def seeds():
    """Return the files of a small site of one study."""
    held()
    index = json.loads((ROOT / "results" / "index.json").read_text())
    figure = next(one for one in index["figures"] if one["output"] == f"results/{STUDY}/{ITEM}")
    table = next(iter(figure["inputs"].values()))
    files = (table, f"{figure['output']}.png", "results/overview.png")
    made = {path: index["made"][path] | {"inputs": [table]} for path in files}
    index = {"figures": [figure], "made": made, "titles": {STUDY: index["titles"][STUDY]}, "reproduced": []}
    claims = pd.read_csv(ROOT / "results" / "claims.csv", dtype=str, keep_default_na=False)
    claims = claims[claims["study"] == STUDY]
    claims = pd.concat([claims.iloc[:2], claims[claims["id"].isin(CLAIMS)]])
    entries = yaml.safe_load((ROOT / "studies" / STUDY / "ledger.yaml").read_text())
    reading = {"path": f"studies/{STUDY}/claims.py", "line": 1, "rows": {ITEM: [0, 2]}}
    conditions = pd.read_csv(ROOT / "results" / STUDY / "conditions.csv", dtype=str, keep_default_na=False)
    return {
        "index.json": json.dumps(index).encode(),
        "verdicts.csv": claims.to_csv(index=False).encode(),
        "readings.json": json.dumps(dict.fromkeys(claims["id"], reading)).encode(),
        "conditions.csv": conditions[conditions["claim"].isin(claims["id"])].head(3).to_csv(index=False).encode(),
        "table.csv": (ROOT / table).read_bytes(),
        "recomputed.csv": f"study,state,missing_files\n{STUDY},recomputed,\n".encode(),
        "ledger.yaml": yaml.safe_dump([one for one in entries if one["id"] in set(claims["id"])]).encode(),
        "notebook.ipynb": NOTEBOOK,
        "docs.html": DOCS,
        "notebook.html": DOCS.replace(b"index.html", b"page.html"),
    }


@functools.cache
def held():
    """Return a folder for a checkout; it is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="checkout-")


@functools.cache
def checkout(folder):
    """Return a checkout whose files are those of an input."""
    root = Path(held().name)
    for name, place in PLACES.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).unlink(missing_ok=True)
        (root / place).symlink_to(folder / name)
    if not (root / "src").exists():
        header = (ROOT / "results" / "claims.csv").read_text().partition("\n")[0]
        (root / "results" / "claims_calibrated.csv").write_text(f"{header}\n")
        for name in (f"{STUDY}/{ITEM}.png", "overview.png"):
            (root / "results" / name).write_bytes(b"a picture")
        (root / "src").symlink_to(ROOT / "src")
        for path in (*ROOT.glob("studies/*"), *ROOT.glob(f"studies/{STUDY}/*")):
            place = root / path.relative_to(ROOT)
            if path.name not in (STUDY, "ledger.yaml"):
                place.symlink_to(path)
    return root


@functools.cache
def stand_ins():
    """Return faster replacements for slow steps: commit, sources, scripts and the other studies' ledgers are the same
    for all sites, and a chart is drawn only once for the same figure and table."""
    sources = functools.cache(lambda folders, make=pages.Sources: make(dict(folders)))
    entries, others = ledger._entries, functools.cache(ledger._entries)
    draw, drawn = pages._Site._chart, {}

    def chart(site, key):
        target, asked = site.out / "charts" / f"{key}.js", json.dumps(site.figures[key])
        content = asked, (site.results / STUDY / f"{ITEM}.csv").read_bytes()
        if content in drawn and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(drawn[content])
        elif not draw(site, key):
            return False
        drawn[content] = target.read_text()
        return True

    return (
        (pages, "commit_of", lambda root: "0" * 40),
        (pages, "Sources", lambda folders: sources(tuple(folders.items()))),
        (pages.vl_convert, "javascript_bundle", lambda: ""),
        (ledger, "_entries", lambda path: (entries if path.parent.name == STUDY else others)(path)),
        (pages._Site, "_chart", chart),
    )


@contextlib.contextmanager
def fast():
    """Use the stand-ins within a block only, because other tests run in this process."""
    with contextlib.ExitStack() as stack:
        for owner, name, other in stand_ins():
            stack.enter_context(mock.patch.object(owner, name, other))
        yield


class Elements(html.parser.HTMLParser):
    """A parser that checks that the elements of a page are properly nested."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids = [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"
        assert len(self.ids) == len(set(self.ids)), "two elements have the same id"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes another element"


def build(path):
    """Build the site of an input; check every page that the builder wrote, and the menus of the other pages."""
    root = checkout(path.parent.resolve())
    extras = {name: root / "made" / name for name in ("docs", "notebooks")}
    try:
        with fast():
            pages.build_site(root / "site", root, extras=extras)
        check(root / "site")
    finally:
        allowed = {"data", "made", "notebooks", "paper", "results", "site", "src", "studies"}
        assert {one.name for one in root.iterdir()} <= allowed
        shutil.rmtree(root / "site", ignore_errors=True)


def check(site):
    """Check that every claim has a page and that every page has one menu.

    Pages outside the folders docs and notebooks must also be well-formed, and their links must lead to files.
    """
    claims = pd.read_csv(site.parent / "results" / "claims.csv", dtype=str, keep_default_na=False)["id"]
    assert {path.stem for path in (site / "claim").iterdir()} == set(claims)
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert text.count('<header class="site">') == 1, "expected one menu"
        if path.parent.name in ("docs", "notebooks"):
            continue
        Elements(text)
        assert text.count("<h1>") == 1 and "<title>" in text
        for link in re.findall(r'(?:href|src)="([^"#?]+)', text):
            assert (path.parent / html.unescape(link)).is_file(), f"{path.name} links to {link}"
