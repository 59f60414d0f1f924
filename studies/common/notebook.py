"""Share code among the notebooks: find results, read tables, count verdicts, make requests, clean saved notebooks."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image  # a dependency of Matplotlib

from misspenalty.errors import InputError
from misspenalty_studies.common.study import studies


def root():
    """Find the checkout that a notebook belongs to.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        Neither the working folder nor a folder above it has ``studies/common``.
    """
    start = Path.cwd()
    for folder in [start, *start.parents]:
        if (folder / "studies" / "common").is_dir():
            return folder
    raise InputError("is not inside a checkout of misspenalty", path=start, remedy="start the notebook in its folder")


def read(name):
    """Read a table from ``results/`` or ``data/``, given its path in the checkout.

    Raises
    ------
    InputError
        The table does not exist yet; the message says what to run.
    """
    path = root() / name
    if not path.is_file():
        raise InputError("does not exist yet", path=name, remedy="run `make reproduce` first, then this cell again")
    return pd.read_csv(path)


def counts(study=None, table="results/claims.csv"):
    """Count the claims of a study by verdict, with a column each for printed numbers and comparisons; without `study`,
    count the claims of all studies by study and verdict.
    """
    claims = read(table).query("role == 'claim'")
    if study is not None:
        claims = claims[claims["study"] == study]
        return pd.crosstab(claims["verdict"], claims["form"]).rename_axis(columns=None)
    titles = {name: about.title for name, about in studies().items() if about.judged}
    counted = pd.crosstab(claims["study"].map(titles), claims["verdict"]).rename_axis(columns=None)
    return counted.reindex(titles.values()).dropna().astype(int)


def zipf(requests, blocks, exponent, seed=1):
    """Return requests for blocks whose popularity follows Zipf's law: the n-th block has weight ``1 / n**exponent``.

    Parameters
    ----------
    requests, blocks : int
    exponent : float
    seed : int

    Returns
    -------
    array of int, shape (requests,)

    Examples
    --------
    >>> made = zipf(1000, blocks=50, exponent=1.0)
    >>> bool(made.max() < 50), bool((made == 0).sum() > (made == 9).sum())
    (True, True)
    """
    weights = 1 / np.arange(1, blocks + 1) ** exponent
    return np.random.default_rng(seed).choice(blocks, size=requests, p=weights / weights.sum())


def normalised(content):
    """Return a notebook's content without the parts that change from run to run: execution counts, random names,
    addresses, live widgets.

    A notebook that is run again and saved in this form has the same bytes, as long as its results are the same. Opaque
    PNG pictures get a palette of 256 colours, which reduces them to a third of their size.

    Parameters
    ----------
    content : dict
        Content of the file, modified in place.

    Returns
    -------
    dict
    """
    content["metadata"] = {key: content["metadata"][key] for key in KEPT if key in content["metadata"]}
    if "jupytext" in content["metadata"]:  # the notebook's script has the other entries
        content["metadata"]["jupytext"] = {"formats": content["metadata"]["jupytext"].get("formats")}
    for cell in content["cells"]:
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "tags"}
        if cell["cell_type"] == "code":
            cell["execution_count"] = None
            cell["outputs"] = [_stable(output) for output in cell["outputs"] if WIDGET not in output.get("data", {})]
    return content


def without_controls(content):
    """Add a line of text to each of a notebook's cells with live widgets, for readers without a running kernel.

    Parameters
    ----------
    content : dict
        Content of the file, outputs included; modified in place.

    Returns
    -------
    dict

    Examples
    --------
    >>> widget = {"output_type": "display_data", "data": {WIDGET: {}}, "metadata": {}}
    >>> cells = [{"cell_type": "code", "outputs": [widget]}]
    >>> without_controls({"cells": cells})["cells"][0]["outputs"][-1]["text"]
    'The controls of this cell work in a running notebook: make lab.'
    """
    for cell in content["cells"]:
        if any(WIDGET in output.get("data", {}) for output in cell.get("outputs", [])):
            text = "The controls of this cell work in a running notebook: make lab."
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})
    return content


def alternatives(content):
    """Return the alternative text of each picture among a notebook's outputs, in order.

    Parameters
    ----------
    content : dict
        Content of the file, outputs included.

    Returns
    -------
    list of str

    Examples
    --------
    >>> picture = {"output_type": "display_data", "data": {"image/png": ""}, "metadata": {}}
    >>> cells = [{"cell_type": "markdown", "source": "## Misses"}, {"cell_type": "code", "outputs": [picture]}]
    >>> alternatives({"cells": cells})
    ['Figure of the section "Misses", described by the text around it']
    """
    section, found = "", []
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            section = (HEADING.findall("".join(cell["source"])) or [section])[-1]
        pictures = [output for output in cell.get("outputs", []) if PICTURES & output.get("data", {}).keys()]
        found += [f'Figure of the section "{section}", described by the text around it'] * len(pictures)
    return found


HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
PICTURES = {"image/png", "image/jpeg"}
KEPT = ("jupytext", "kernelspec")  # keys of the metadata that `normalised` keeps
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
TABLE = re.compile(r"\bT_[0-9a-f]{5}")


def _stable(output):
    if "execution_count" in output:
        output["execution_count"] = None
    for kind, text in output.get("data", {}).items():
        if kind.startswith("text/"):
            lines = [
                TABLE.sub("T_table", ADDRESS.sub("", line)) for line in ([text] if isinstance(text, str) else text)
            ]
            output["data"][kind] = lines[0] if isinstance(text, str) else lines
        elif kind == "image/png":
            output["data"][kind] = _with_palette(text if isinstance(text, str) else "".join(text))
    return output


def _with_palette(encoded):
    """Return a picture in base64 with a palette of colours; return it unchanged unless it is an opaque RGB picture."""
    picture = Image.open(io.BytesIO(base64.b64decode(encoded)))
    if picture.mode not in ("RGB", "RGBA") or picture.getextrema()[3:] not in ((), ((255, 255),)):
        return encoded
    written = io.BytesIO()
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode()
