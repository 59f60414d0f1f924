"""Test that nothing overlaps on the supplement's pages, nothing is in the margins, and no page is half empty."""

import json
from pathlib import Path

import pytest
import typeset
import typst

ROOT = Path(__file__).parents[4]
PPI = 48
SCALE = PPI / 72
LEFT, RIGHT, TOP, BOTTOM = 45.6, 595.3 - 45.6, 56.6, 841.9 - 56.6  # pt: edges of the text area
SLACK = 10.0  # pt: allowance for letters and hyphens that lean over the edge, and for descenders of a last line
LEAST = 0.6  # minimum share of a page's height that has content
PAGE = f"""
#set page(width: 595.3pt, height: 841.9pt, margin: (x: {LEFT}pt, y: {TOP}pt), numbering: none)
#set text(font: "Libertinus Serif", size: 10pt)
"""


def typeset_as(form, source, root=ROOT):
    pages = typst.compile(
        source, root=str(root), format=form, ignore_system_fonts=True, **({"ppi": PPI} if form == "png" else {})
    )
    return pages if isinstance(pages, list) else [pages]


@pytest.fixture(scope="module")
def boxes():
    """Return, for each page of the supplement, the boxes around all runs of text and all pictures."""
    return [typeset.boxes(page) for page in typeset_as("svg", str(ROOT / "paper" / "supplement.typ"))]


def outside(found):
    """Return the boxes that extend beyond the text area, except the page number."""
    number = [one for one in found if one[2][1] > BOTTOM + SLACK and one[2][2] - one[2][0] < 2 * SLACK]
    return [
        one
        for one in found
        if one not in number
        and not (
            one[2][0] > LEFT - SLACK
            and one[2][2] < RIGHT + SLACK
            and one[2][1] > TOP - SLACK
            and one[2][3] < BOTTOM + SLACK
        )
    ]


def share(page):
    """Return the share of a PNG page's height that has content."""
    marks = typeset.ink(page)
    return typeset.filled(marks, int(TOP * SCALE), int(BOTTOM * SCALE), int(typeset.ROW * SCALE))


def test_no_text_or_picture_overlaps_another(boxes):
    assert len(boxes) > 20 and all(len(found) > 2 for found in boxes)
    met = {number: pairs for number, found in enumerate(boxes, 1) if (pairs := typeset.meetings(found))}
    assert not met, f"pages {list(met)}"


def test_nothing_is_in_the_margins(boxes):
    found = {number: places for number, one in enumerate(boxes, 1) if (places := outside(one))}
    assert not found


def test_no_page_is_half_empty():
    """Each page must have content on at least `LEAST` of its height, except the last page and the last one before the
    appendices."""
    source = str(ROOT / "paper" / "supplement.typ")
    appendices = json.loads(typst.query(source, "<appendices>", root=str(ROOT), field="value", one=True))
    shares = dict(enumerate((share(page) for page in typeset_as("png", source)), 1))
    ends = {appendices - 1, len(shares)}
    empty = {number: round(value, 2) for number, value in shares.items() if value < LEAST and number not in ends}
    assert not empty


@pytest.mark.parametrize(
    ("body", "meet", "leave"),
    [
        ("Plain words, and a second line.\n\nAnother paragraph.", False, False),
        ("#place(top + left)[Head of a column]\n#place(top + left, dx: 20pt)[Another head]", True, False),
        ("#place(top + left)[Left] #place(top + right)[Right]", False, False),
        ("#place(top + left, dx: -30pt)[Words that begin in the margin]", False, True),
        ("#place(bottom + left, dy: 40pt)[A caption over the number of the page]", False, True),
        ("#box(width: 900pt)[" + "A line that never ends. " * 12 + "]", False, True),
    ],
)
def test_the_checks_of_pages_find_made_up_faults(tmp_path, body, meet, leave):
    (tmp_path / "page.typ").write_text(PAGE + body)
    (page,) = typeset_as("svg", str(tmp_path / "page.typ"), tmp_path)
    found = typeset.boxes(page)
    assert bool(typeset.meetings(found)) == meet
    assert bool(outside(found)) == leave


def test_a_picture_over_words_is_detected(tmp_path):
    (tmp_path / "dot.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><rect width="90" height="40"/></svg>'
    )
    (tmp_path / "page.typ").write_text(PAGE + 'Words below.\n#place(top + left, image("dot.svg"))')
    (page,) = typeset_as("svg", str(tmp_path / "page.typ"), tmp_path)
    kinds = {kind for pair in typeset.meetings(typeset.boxes(page)) for kind, *_ in pair}
    assert kinds == {"picture", "text"}


@pytest.mark.parametrize(("lines", "least", "most"), [(3, 0.0, 0.15), (24, 0.35, 0.6), (48, 0.85, 1.0)])
def test_content_of_a_page_is_measured(tmp_path, lines, least, most):
    text = " \\\n".join(
        ["Words from one edge of the page to the other, so that both halves of it have ink, all along the line."]
        * lines
    )
    (tmp_path / "page.typ").write_text(PAGE + text)
    (page,) = typeset_as("png", str(tmp_path / "page.typ"), tmp_path)
    assert least <= share(page) <= most
