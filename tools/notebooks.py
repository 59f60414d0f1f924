"""Run notebooks and save them with their outputs, as JupyterLab does in this checkout.

python tools/notebooks.py [NAME ...]      all by default, from their scripts
"""

import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from misspenalty.studies.notebook import normalised

FOLDER = Path(__file__).parents[1] / "notebooks"


def run(script):
    """The notebook of a script, run to its end."""
    path = script.with_suffix(".ipynb")
    notebook = jupytext.read(script)
    if path.exists():  # ids of cells stay
        for cell, before in zip(notebook.cells, nbformat.read(path, 4).cells, strict=False):
            cell["id"] = before["id"]
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    nbformat.write(nbformat.from_dict(normalised(notebook)), path)
    return path


def main(names):
    """Run the notebooks of these names."""
    for script in [FOLDER / f"{name}.py" for name in names] or sorted(FOLDER.glob("*.py")):
        path = run(script)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
