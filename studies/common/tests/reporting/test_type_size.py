"""Test that type in the archived figures, except exponents, is set in at least 7 points, and that no document scales
the figures down."""

import re
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
FIGURES = sorted((ROOT / "results").glob("*/*.pdf"))
LEAST = 7.0  # smallest type size, pt
RAISED = 0.7  # Matplotlib sets exponents at this share of the size
SIZE = re.compile(rb"/[\w-]+ ([\d.]+) Tf")


def sizes(pdf):
    """Return the type sizes in a PDF file, in pt."""
    found = set()
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            found |= {float(size) for size in SIZE.findall(zlib.decompress(stream))}
        except zlib.error:  # a font or picture
            continue
    return found


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_type_is_at_least_seven_points(path):
    found = sizes(path.read_bytes())
    assert found
    assert all(size >= LEAST or size / RAISED >= LEAST for size in found), sorted(found)


def test_small_type_is_detected():
    assert sizes(b"stream\n" + zlib.compress(b"/F1 5.5 Tf (x) Tj") + b"\nendstream") == {5.5}


def test_no_figure_is_placed_smaller_than_it_is_drawn():
    sources = [path.read_text() for path in (*ROOT.glob("paper/*.typ"), *ROOT.glob("studies/*/*.typ"))]
    placed = [words for text in sources for words in re.findall(r"\bimage\(([^)]*)\)", text)]
    assert placed and all(re.search(r", width: 100%(,|$)", words) for words in placed), placed
