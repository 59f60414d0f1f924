"""Find where text and pictures lie on a typeset page, and where the page has ink."""

import functools
import io
import itertools
import re
from xml.etree import ElementTree

import numpy as np
from PIL import Image

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
TOUCH = 0.4  # overlap of two boxes, as a share of the smaller height, that is allowed to ascenders and descenders
ROW = 14.0  # pt: blank rows up to this height are space between lines and paragraphs


def boxes(page):
    """Return the runs of text and the pictures on an SVG page: ``(kind, label, (left, top, right, bottom))``, in pt."""
    root = ElementTree.fromstring(page)
    glyphs = {one.get("id"): one for one in root.iter(f"{SVG}symbol")}
    extents = functools.cache(
        lambda name: path_extent(" ".join(path.get("d") for path in glyphs[name].iter(f"{SVG}path")))
    )
    found = []

    def walk(node, matrix):
        matrix = matrix @ transform(node.get("transform", ""))
        if node.tag == f"{SVG}image":
            size = np.array([[0, 0, 1], [float(node.get("width")), float(node.get("height")), 1]])
            found.append(("picture", "picture", box(size @ matrix.T)))
        uses = [child for child in node if child.tag == f"{SVG}use"]
        corners, names = [], []
        for use in uses:
            extent = extents(use.get(LINK)[1:])
            if extent is not None:
                left, low, right, high = extent
                x, y = float(use.get("x", 0)), float(use.get("y", 0))
                corners += [(left + x, low + y, 1), (right + x, high + y, 1)]
                names.append(use.get(LINK))
        if corners:
            found.append(("text", f"{len(names)} letters", box(np.array(corners) @ matrix.T)))
        for child in node:
            if child.tag in (f"{SVG}g", f"{SVG}a", f"{SVG}image"):
                walk(child, matrix)

    walk(root, np.eye(3))
    return found


def box(points):
    """Return the box around points."""
    return (*points[:, :2].min(axis=0), *points[:, :2].max(axis=0))


def transform(text):
    """Return the matrix of an SVG transform."""
    matrix = np.eye(3)
    for name, arguments in re.findall(r"(\w+)\(([^)]*)\)", text):
        values = [float(value) for value in NUMBER.findall(arguments)]
        made = np.eye(3)
        if name == "translate":
            made[:2, 2] = (*values, 0.0)[:2]
        elif name == "scale":
            made[0, 0], made[1, 1] = values[0], values[-1]
        elif name == "matrix":
            made[:2] = np.array(values).reshape(3, 2).T
        else:
            raise ValueError(f"transform {name}")
        matrix = matrix @ made
    return matrix


def path_extent(text):
    """Return ``(left, low, right, high)`` of a path's points, control points included; None for an empty path."""
    points, here = [], np.zeros(2)
    for letter, arguments in re.findall(r"([A-Za-z])([^A-Za-z]*)", text):
        values, kind = [float(value) for value in NUMBER.findall(arguments)], letter.upper()
        if kind in "HV":
            place = "HV".index(kind)
            for value in values:
                here = here.copy()
                here[place] = value + (here[place] if letter.islower() else 0)
                points.append(here)
        elif kind in "MLQCT":
            steps, each = np.array(values).reshape(-1, 2), {"Q": 2, "C": 3}.get(kind, 1)
            for group in steps.reshape(-1, each, 2):
                group = group + (here if letter.islower() else 0)
                points += list(group)
                here = group[-1]
        elif kind != "Z":
            raise ValueError(f"path command {letter}")
    return None if not points else box(np.array(points))


def meetings(found):
    """Return pairs of boxes that overlap by more than 1 pt in width and the share `TOUCH` of the smaller height."""
    met, ordered = [], sorted(found, key=lambda one: one[2][1])
    for i, one in enumerate(ordered):
        for other in itertools.takewhile(lambda two: two[2][1] < one[2][3], ordered[i + 1 :]):  # noqa: B023
            a, b = one[2], other[2]
            wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
            if wide > 1 and high > TOUCH * min(a[3] - a[1], b[3] - b[1]):
                met.append((one, other))
    return met


def ink(page):
    """Return where a page, given as PNG, is not white: bool, shape (rows, columns)."""
    return np.asarray(Image.open(io.BytesIO(page)).convert("L")) < 250


def filled(marks, top, bottom, row):
    """Return the share of the height between two rows that has content, averaged over the page's two halves; gaps of
    fewer than `row` blank rows between content count as content."""
    shares = []
    for half in np.array_split(marks[top:bottom], 2, axis=1):
        rows = np.flatnonzero(half.any(axis=1))
        if not len(rows):
            shares.append(0.0)
            continue
        gaps = np.diff(rows)
        shares.append(1 - ((gaps[gaps > row] - 1).sum() + rows[0] + len(half) - 1 - rows[-1]) / len(half))
    return float(np.mean(shares))
