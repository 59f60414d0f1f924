"""The notebooks: paired with their scripts, with outputs that stay, and running from top to bottom."""

import base64
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest
from archived import copy_archived
from PIL import Image

import misspenalty
from misspenalty_studies.common.notebook import normalised

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LOST = 3  # exit status of a run in which a cell did not end
RUN = f"""
import os, sys, nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError
notebook = nbformat.read(sys.argv[1], 4)
try:
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
except CellTimeoutError as error:
    print(error, file=sys.stderr)
    os._exit({LOST})
nbformat.write(notebook, sys.argv[1])
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A stand-in for a fresh clone: everything the notebooks read, but no results."""
    root = tmp_path_factory.mktemp("clone")
    for name in ("notebooks", "config", "data/drives"):
        shutil.copytree(ROOT / name, root / name)
    machines = [path.relative_to(ROOT) for path in ROOT.glob("studies/*/*.yaml")]
    printed = [path.relative_to(ROOT) for path in ROOT.glob("studies/*/published/*.csv")]
    (root / "studies" / "common").mkdir(parents=True)  # the sign of a checkout
    for name in ("data/calibration.yaml", "tests/data/tpcc_small.parquet", *machines, *printed):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture(scope="module")
def made(fresh):
    """The same with results made of synthetic values."""
    root = fresh.with_name("made")
    shutil.copytree(fresh, root)
    runpy.run_path(str(ROOT / "tests" / "data" / "synthetic_results.py"))["write_results"](root)
    copy_archived(root)
    return root


def execute(path, cells=slice(None), folder=None):
    """Run some cells of a notebook in its folder; the cells that ran, outputs included. The copy may lie elsewhere."""
    notebook = json.loads(path.read_text())
    notebook["cells"] = [cell for cell in notebook["cells"][cells] if cell["cell_type"] == "code"]
    copy = (folder or path.parent) / f"executed-{path.name}"
    copy.write_text(json.dumps(notebook))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    command = [sys.executable, "-c", RUN, str(copy)]
    done = subprocess.run(command, cwd=path.parent, env=environment, timeout=1800)
    if done.returncode == LOST:  # on a busy machine a kernel (ipykernel 7) may wait for ever for a request sent to it
        done = subprocess.run(command, cwd=path.parent, env=environment, timeout=1800)
    done.check_returncode()
    return json.loads(copy.read_text())["cells"]


def outputs(cells, kind):
    """All outputs of a kind, as text."""
    found = [output for cell in cells for output in cell["outputs"] if output["output_type"] == kind]
    return ["\n".join(output["traceback"]) if kind == "error" else "".join(output.get("text", "")) for output in found]


def images(cells):
    return sum("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])


def place_of(path, words):
    """Number of the first cell that holds `words`."""
    cells = json.loads(path.read_text())["cells"]
    return next(i for i, cell in enumerate(cells) if words in "".join(cell["source"]))


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {
        "00-start-here",
        "hac",
        "mq",
        "sarc",
        "vlog",
        "whatif",
        "your_disk",
        "your_trace",
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_and_script_say_the_same(path):
    pair = [jupytext.read(path), jupytext.read(path.with_suffix(".py"))]
    cells = [[(cell.cell_type, cell.source, cell.metadata.get("tags")) for cell in notebook.cells] for notebook in pair]
    assert cells[0] == cells[1], f"run `python tools/notebooks.py {path.stem}`"
    assert pair[0].metadata["jupytext"]["formats"] == "ipynb,py:percent"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_shown_with_its_outputs(path):
    """Pictures are kept, to be seen on the repository's pages; nothing that changes from run to run is."""
    content = json.loads(path.read_text())
    assert path.stat().st_size < 1_000_000
    assert images(cell for cell in content["cells"] if cell["cell_type"] == "code") or path.stem == "00-start-here"
    assert normalised(json.loads(path.read_text())) == content


def encoded(picture):
    written = io.BytesIO()
    picture.save(written, "PNG")
    return base64.b64encode(written.getvalue()).decode()


def decoded(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def output_of(picture):
    """A picture as `normalised` saves it."""
    output = {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}}
    cell = {"cell_type": "code", "metadata": {}, "outputs": [output]}
    return normalised({"metadata": {}, "cells": [cell]})["cells"][0]["outputs"][0]["data"]["image/png"]


def test_pictures_are_saved_with_a_palette():
    """The few colours of a chart stay exactly the same, and a second save changes nothing."""
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


@pytest.mark.parametrize("name", ["00-start-here", "whatif", "your_trace"])
def test_running_a_notebook_changes_nothing(tmp_path, name):
    """What JupyterLab saves after a run to the end, with the settings of `make lab`, is what the repository has."""
    path = ROOT / "notebooks" / f"{name}.ipynb"
    cells = execute(path, folder=tmp_path)
    content = json.loads(path.read_text())
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    ran = normalised({"metadata": {}, "cells": cells})["cells"]
    assert not outputs(cells, "error")
    for before, after in zip(code, ran, strict=True):
        assert joined(after["outputs"]) == joined(before["outputs"]), "".join(before["source"])
    assert nbformat.writes(nbformat.from_dict(content)) + "\n" == path.read_text()


def joined(found):
    """Outputs with their lines as one text, and without pictures' bytes, which depend on the versions of libraries."""
    made = json.loads(json.dumps(found))
    for output in made:
        output["text"] = "".join(output.get("text", ""))
        data = output.get("data", {})
        output["data"] = {kind: "".join(text) for kind, text in data.items() if kind != "image/png"}
    return made


def test_mq_runs_without_the_compiled_trace(made):
    cells = execute(made / "notebooks" / "mq.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 9
    assert any("replaying the small sample" in text for text in outputs(cells, "stream"))


def test_mq_replays_the_compiled_trace(made):
    trace = misspenalty.open_trace(made / "tests" / "data" / "tpcc_small.parquet")
    trace.save(made / "results" / "traces" / "128mb.trace")
    path = made / "notebooks" / "mq.ipynb"
    notebook = json.loads(path.read_text())
    turn = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    setup, end = turn[:1], turn[-4:]
    assert "parameters" in end[0]["metadata"]["tags"]
    notebook["cells"] = setup + end
    short = path.with_name("turn.ipynb")
    short.write_text(json.dumps(notebook))
    cells = execute(short)
    assert not outputs(cells, "error") and images(cells) == 1
    assert not any("small sample" in text for text in outputs(cells, "stream"))


def test_mq_says_what_to_run_where_there_are_no_results(fresh):
    path = fresh / "notebooks" / "mq.ipynb"
    (error,) = outputs(execute(path, slice(place_of(path, "fig2.csv") + 1)), "error")
    assert "make reproduce" in error and "results/mq/fig2.csv" in error


def test_vlog_writes_crashes_and_recovers(made):
    cells = execute(made / "notebooks" / "vlog.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 11
    said = "".join(outputs(cells, "stream"))
    assert "last acknowledged state: 0" in said and "same map: True" in said


def test_vlog_says_what_to_run_where_there_are_no_results(fresh):
    path = fresh / "notebooks" / "vlog.ipynb"
    (error,) = outputs(execute(path, slice(place_of(path, "fig1.csv") + 1)), "error")
    assert "make reproduce" in error and "results/vlog/fig1.csv" in error


def test_sarc_shows_the_lists_adapting(made):
    cells = execute(made / "notebooks" / "sarc.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 10


def test_hac_watches_frames_without_results(fresh):
    path = fresh / "notebooks" / "hac.ipynb"
    cells = execute(path, slice(place_of(path, "misses.csv") + 1))
    (error,) = outputs(cells, "error")
    assert "make reproduce" in error and "results/hac/misses.csv" in error
    assert images(cells) == 2
    assert any("pages fetched" in text for text in outputs(cells, "stream"))


def test_hac_runs_with_results(made):
    cells = execute(made / "notebooks" / "hac.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 12


def test_kvcache_runs_with_results(made):
    cells = execute(made / "notebooks" / "kvcache.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 4


def test_dispute_runs_with_results(made):
    cells = execute(made / "notebooks" / "dispute.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 4


def test_sarc_says_what_to_run_where_there_are_no_results(fresh):
    path = fresh / "notebooks" / "sarc.ipynb"
    (error,) = outputs(execute(path, slice(place_of(path, "anomaly.csv") + 1)), "error")
    assert "make reproduce" in error and "results/sarc/anomaly.csv" in error


def test_your_trace_needs_no_results(fresh):
    cells = execute(fresh / "notebooks" / "your_trace.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 2


def test_your_disk_needs_no_results(fresh):
    cells = execute(fresh / "notebooks" / "your_disk.ipynb")
    assert not outputs(cells, "error")
    assert images(cells) == 4
