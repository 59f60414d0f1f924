"""Test that pages of notebooks fetch nothing, describe their pictures in alternative texts, and have no dead
controls."""

import json
import runpy
from pathlib import Path

import nbformat
import pytest

from misspenalty_studies.common.notebook import WIDGET

ROOT = Path(__file__).parents[4]
tool = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))
page = tool["page"]


def with_controls(name):
    """Return a saved notebook with a live widget and its state, as Jupyter would save them."""
    notebook = nbformat.reads((ROOT / "notebooks" / f"{name}.ipynb").read_text(), 4)
    control = {"output_type": "display_data", "data": {WIDGET: {"model_id": "1"}}, "metadata": {}}
    notebook.cells[-1] = nbformat.v4.new_code_cell("interact()", outputs=[nbformat.from_dict(control)])
    state = {"state": {"1": {"model_name": "ImageModel"}}, "version_major": 2, "version_minor": 0}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    return notebook


def test_an_unknown_notebook_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["notebooks.py", "whatif", "nonesuch"])
    with pytest.raises(SystemExit, match="2"):
        tool["main"]()
    assert "unknown: nonesuch; the notebooks are 00-start-here, " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["00-start-here", "whatif"])
def test_a_page_requests_nothing_but_itself(browser, tmp_path, name):
    path = tmp_path / f"{name}.html"
    path.write_text(page(with_controls(name), name))
    requests, shown = [], browser.new_page()
    shown.on("request", lambda one: requests.append(one.url))
    shown.goto(path.as_uri(), wait_until="networkidle")
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    words = shown.eval_on_selector_all("img", "all => all.map((one) => one.alt)")
    assert words and all(len(one) > 20 for one in words)
    assert shown.get_by_text("work in a running notebook").count() == 1
    assert WIDGET not in json.dumps(path.read_text())
    shown.close()
