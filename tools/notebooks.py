"""Run notebooks and save them with their outputs, either as JupyterLab does in this checkout or as pages of the site.

python tools/notebooks.py [NAME ...]                  runs the named scripts, or all, and saves the notebooks
python tools/notebooks.py --html FOLDER [NAME ...]    writes pages, and leaves the notebooks as they are
"""

import argparse
import html
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

from misspenalty.io.files import atomic_path
from misspenalty_studies.common.notebook import alternatives, normalised, without_controls

UNDESCRIBED = 'alt="No description has been provided for this image"'  # alt text that nbconvert gives to every picture
FOLDER = Path(__file__).parents[1] / "notebooks"


def run(script):
    """Run the notebook of a script to its end, and return it."""
    path = script.with_suffix(".ipynb")
    notebook = jupytext.read(script)
    if path.exists():  # keep the cells' ids
        for cell, before in zip(notebook.cells, nbformat.read(path, 4).cells, strict=False):
            cell["id"] = before["id"]
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # hide the message that a kernel listens on this machine
    ).execute()
    return notebook


def page(notebook, name):
    """Return a notebook as a page that loads nothing from elsewhere: it embeds its pictures and has no live widgets."""
    exporter = HTMLExporter(
        require_js_url="", mathjax_url="", jquery_url="", widget_renderer_url="data:,", embed_images=True
    )
    exporter.mermaid_js_url = exporter.mermaid_layout_elk_js_url = ""  # no option of the exporter sets these two
    exporter.log.setLevel("ERROR")  # do not warn of pictures without alt text, which is added below
    shown = nbformat.from_dict(normalised(without_controls(notebook)))
    for cell in shown.cells:  # the exporter embeds only pictures below the checkout
        cell["source"] = "".join(cell["source"]).replace("](../results/", "](results/")
    heading = "".join(notebook.cells[0]["source"]).lstrip("# ").partition("\n")[0]
    title = heading or name
    about = {"metadata": {"name": title, "path": str(FOLDER.parent)}}
    before, *after = exporter.from_notebook_node(shown, resources=about)[0].split(UNDESCRIBED)
    words = [f'alt="{html.escape(one)}"' for one in alternatives(shown)]
    return before + "".join(one + text for one, text in zip(words, after, strict=True))


def main():
    """Run the notebooks named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="notebooks (default: all)")
    parser.add_argument("--html", metavar="FOLDER", help="write pages to this folder instead of saving the notebooks")
    options = parser.parse_args()
    scripts = {path.stem: path for path in sorted(FOLDER.glob("*.py"))}
    if unknown := [name for name in options.names if name not in scripts]:
        parser.error(f"unknown: {', '.join(unknown)}; the notebooks are {', '.join(scripts)}")
    for script in [scripts[name] for name in options.names or scripts]:
        try:
            notebook = run(script)
        except CellExecutionError as error:
            parser.exit(1, f"{error}\nerror: {script}: the cell above failed; nothing was written for this notebook\n")
        if options.html:
            path, text = Path(options.html) / f"{script.stem}.html", page(notebook, script.stem)
        else:
            path, text = script.with_suffix(".ipynb"), nbformat.writes(nbformat.from_dict(normalised(notebook))) + "\n"
        with atomic_path(path) as partial:
            partial.write_text(text, encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
