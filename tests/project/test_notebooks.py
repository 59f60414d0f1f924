"""Test that the notebooks equal their scripts, keep their outputs, and run from top to bottom."""

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest
from PIL import Image

from misspenalty_studies.common.notebook import normalised
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LONGEST_TABLE = 15  # rows of a table, with its head
LOST = 3  # exit status of a run in which a cell did not end
RUN = f"""
import os, sys, nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError
notebook = nbformat.read(sys.argv[1], 4)
try:
    NotebookClient(notebook, timeout=int(sys.argv[2]), kernel_name="python3", allow_errors=True).execute()
except CellTimeoutError as error:
    print(error, file=sys.stderr)
    os._exit({LOST})
nbformat.write(notebook, sys.argv[1])
"""


def execute(path, cells=slice(None), folder=None, first=None):
    """Run some cells of a notebook in its folder, after the cell `first`, and return the executed cells.

    The executed copy of the notebook is written to `folder`, or next to the notebook.
    """
    notebook = json.loads(path.read_text())
    chosen = ([first] if first else []) + notebook["cells"][cells]
    notebook["cells"] = [cell for cell in chosen if cell["cell_type"] == "code"]
    copy = (folder or path.parent) / f"executed-{path.name}"
    copy.write_text(json.dumps(notebook))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    for seconds in (60, 300):  # on a busy machine a kernel (ipykernel 7) may miss a request and wait forever
        command = [sys.executable, "-c", RUN, str(copy), str(seconds)]
        done = subprocess.run(command, cwd=path.parent, env=environment, timeout=1800)
        if done.returncode != LOST:
            break
    done.check_returncode()
    return json.loads(copy.read_text())["cells"]


def outputs(cells, kind):
    """Return all outputs of a kind, as text."""
    found = [output for cell in cells for output in cell["outputs"] if output["output_type"] == kind]
    return ["\n".join(output["traceback"]) if kind == "error" else "".join(output.get("text", "")) for output in found]


def images(cells):
    return sum("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])


def test_every_study_has_a_notebook_and_the_first_one_names_all():
    names = {path.stem for path in NOTEBOOKS}
    assert names >= {*studies(), "00-start-here", "your_trace", "your_disk"}
    first = (ROOT / "notebooks" / "00-start-here.py").read_text()
    assert [name for name in sorted(names - {"00-start-here"}) if f"[{name}]({name}.ipynb)" not in first] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_teaches(path):
    """A notebook must begin with a question, let the reader predict, and end with an answer and one exercise."""
    cells = json.loads(path.read_text())["cells"]
    first, *_, last = ["".join(cell["source"]) for cell in cells]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    assert first.startswith("# ") and "?" in first
    assert text.count("**Predict**") >= 1
    assert [line for line in text.splitlines() if line.startswith("## ") and line[3].isalpha()] == [
        "## The answer",
        "## Exercise",
    ] or path.stem == "00-start-here"
    assert text.index("## The answer") < text.index("## Exercise")
    assert last.rpartition("## ")[2].startswith("Exercise")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_draws_with_public_functions_and_prints_short_tables(path):
    content = json.loads(path.read_text())
    code = "\n".join("".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code")
    assert not re.search(r"misspenalty_studies\.\w+(\.figures\w*| import .*figures)", code)
    shown = [
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in content["cells"]
        for output in cell.get("outputs", [])
    ]
    assert max(table.count("<tr") for table in shown) <= LONGEST_TABLE


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_and_script_say_the_same(path):
    pair = [jupytext.read(path), jupytext.read(path.with_suffix(".py"))]
    cells = [[(cell.cell_type, cell.source, cell.metadata.get("tags")) for cell in notebook.cells] for notebook in pair]
    assert cells[0] == cells[1], f"run `python tools/notebooks.py {path.stem}`"
    assert pair[0].metadata["jupytext"]["formats"] == "ipynb,py:percent"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_shown_with_its_outputs(path):
    """Pictures must be kept, because the repository's pages show them; output that changes from run to run must not."""
    content = json.loads(path.read_text())
    assert path.stat().st_size < 1_000_000
    assert images(cell for cell in content["cells"] if cell["cell_type"] == "code")
    assert normalised(json.loads(path.read_text())) == content


def encoded(picture):
    written = io.BytesIO()
    picture.save(written, "PNG")
    return base64.b64encode(written.getvalue()).decode()


def decoded(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def output_of(picture):
    """Return a picture as `normalised` saves it."""
    output = {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}
    cell = {"cell_type": "code", "metadata": {}, "outputs": [output]}
    return normalised({"metadata": {}, "cells": [cell]})["cells"][0]["outputs"][0]["data"]["image/png"]


def test_pictures_are_saved_with_a_palette():
    """The few colours of a chart must stay exactly the same, and a second save must change nothing."""
    colours = np.array([[255, 255, 255, 255], [0, 76, 140, 255], [232, 112, 42, 255]], np.uint8)
    drawn = Image.fromarray(colours[np.arange(300 * 400).reshape(300, 400) // 7 % 3])
    saved = output_of(encoded(drawn))
    assert decoded(saved).mode == "P" and len(saved) < len(encoded(drawn))
    assert np.array_equal(decoded(saved).convert("RGBA"), drawn)
    assert output_of(saved) == saved
    assert output_of([saved[:20], saved[20:]]) == saved
    glass = encoded(Image.new("RGBA", (2, 2), (255, 0, 0, 128)))
    assert output_of(glass) == glass


def test_normalised_takes_out_what_changes():
    picture = {"output_type": "display_data", "data": {"image/jpeg": "AA"}, "metadata": {}}
    widget = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {}}, "metadata": {}}
    shown = {"text/plain": "<Styler at 0x7f00>", "text/html": ['<table id="T_0a1b2">', "</table>"]}
    result = {"output_type": "execute_result", "execution_count": 7, "data": shown, "metadata": {}}
    code = {"cell_type": "code", "execution_count": 7, "metadata": {"tags": ["a"], "execution": {}}}
    content = {"metadata": {"kernelspec": {}, "widgets": {}}, "cells": [code | {"outputs": [picture, widget, result]}]}
    made = normalised(content)
    (cell,) = made["cells"]
    assert made["metadata"] == {"kernelspec": {}} and cell["metadata"] == {"tags": ["a"]}
    assert cell["execution_count"] is None and cell["outputs"][0] == picture
    assert cell["outputs"][1]["data"] == {"text/plain": "<Styler>", "text/html": ['<table id="T_table">', "</table>"]}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_running_a_notebook_changes_nothing(tmp_path, path):
    """The notebook that JupyterLab saves after a complete run, with the settings of `make lab`, must equal the one in
    the repository."""
    cells = execute(path, folder=tmp_path)
    content = json.loads(path.read_text())
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    ran = normalised({"metadata": {}, "cells": cells})["cells"]
    assert not outputs(cells, "error")
    for before, after in zip(code, ran, strict=True):
        where = f"run `make notebooks`: {''.join(before['source'])}"
        assert joined(after["outputs"]) == joined(before["outputs"]), where
    assert nbformat.writes(nbformat.from_dict(content)) + "\n" == path.read_text()


def test_the_notebook_on_your_trace_answers_for_objects_of_different_sizes(tmp_path):
    lines = "".join(f"{n},{n * n % 37},{100 + n * n % 37 * 50}\n" for n in range(300))
    (tmp_path / "web.csv").write_text(f"time,key,size\n{lines}")
    content = json.loads((ROOT / "notebooks" / "your_trace.ipynb").read_text())
    (chosen,) = [cell for cell in content["cells"] if "parameters" in cell["metadata"].get("tags", [])]
    chosen["source"] = ["TRACE, FORMAT, BLOCK_BYTES, DEVICE, CLIENTS = 'web.csv', None, None, '5ms', 1\n",
                        "POLICIES, SHARES, ENOUGH = ['lru', 'arc'], ['5%', '50%'], 0.8"]  # fmt: skip
    (tmp_path / "your_trace.ipynb").write_text(json.dumps(content))
    cells = execute(tmp_path / "your_trace.ipynb")
    assert not outputs(cells, "error")
    assert "of the footprint" in "".join(outputs(cells, "stream"))


def joined(found):
    """Return the outputs with joined lines, and without pictures' bytes, which depend on versions of libraries."""
    made = json.loads(json.dumps(found))
    for output in made:
        output["text"] = "".join(output.get("text", ""))
        data = output.get("data", {})
        output["data"] = {kind: "".join(text) for kind, text in data.items() if kind != "image/png"}
    return made


def test_a_notebook_says_what_to_run_where_there_are_no_results(tmp_path):
    (tmp_path / "studies" / "common").mkdir(parents=True)  # marks a checkout
    (tmp_path / "notebooks").mkdir()
    path = tmp_path / "notebooks" / "classics.ipynb"
    shutil.copy(ROOT / "notebooks" / path.name, path)
    cells = json.loads(path.read_text())["cells"]
    at = next(i for i, cell in enumerate(cells) if "".join(cell["source"]).startswith("counts("))
    cells = execute(path, slice(at - 1, at + 1), first=cells[1])
    (error,) = outputs(cells, "error")
    assert "make reproduce" in error and "results/claims.csv" in error
