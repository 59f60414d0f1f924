"""Test that the site with documentation and notebooks has no dead links, a header on each page, and no axe errors."""

import re

import pytest

from misspenalty_studies.common.site.links import dead_links
from studies.common.tests.site.rules import DRAWN, broken

KINDS = ("index.html", "claims.html", "files.html", "notebooks.html", "study", "figure", "claim", "docs", "notebooks")


def test_no_link_is_dead(whole):
    """The site must have many pages and no dead link, which would have stopped its build already."""
    assert len(list(whole.rglob("*.html"))) > 60
    assert dead_links(whole) == []


def test_a_dead_link_is_seen(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a> <a href="b.html#not">b</a> <img src="c.png">')
    (tmp_path / "b.html").write_text('<p id="there">b</p> <a href="https://example.org/">b</a>')
    assert dead_links(tmp_path) == [("a.html", "b.html#not"), ("a.html", "c.png")]


def test_every_page_has_the_header_a_title_a_description_and_an_icon(whole):
    pages = list(whole.rglob("*.html"))
    assert len(pages) > 20
    for path in pages:
        text = path.read_text()
        assert text.count('<header class="site">') == 1, path
        assert re.search(r"<title>[^<]{3,}</title>", text) and 'name="description"' in text, path
        assert text.count("static/icon.svg") == 1, path


def test_every_page_of_the_site_says_how_to_cite_it(whole):
    pages = [path for path in whole.glob("*/*.html") if path.parts[-2] in ("study", "figure", "claim")]
    assert len(pages) > 20
    for path in pages:
        text = path.read_text()
        assert "Cite this page" in text and re.search(r"commit <code>[0-9a-f]{40}|commit <code>unknown", text)


def test_the_documentation_fetches_no_scripts_or_styles(whole):
    page = (whole / "docs" / "index.html").read_text()
    assert "Miss Penalty" in page
    assert not [
        part for part in page.split('"') if part.startswith(("http:", "https:")) and part.endswith((".js", ".css"))
    ]


def pages_of(whole, kind):
    """Return the pages of a kind, or, for some kinds, about twelve that are evenly spaced among them."""
    if kind.endswith(".html"):
        return [whole / kind]
    found = sorted((whole / kind).rglob("*.html"))
    found = [path for path in found if path.name != "search.html"]  # made by a script that needs a server
    return found if kind in ("docs", "notebooks", "study") else spaced(found)


def spaced(pages):
    """Return about twelve evenly spaced pages."""
    return pages[:: max(len(pages) // 12, 1)]


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_of_accessibility_is_broken(whole, browser, axe, kind, width):
    """On a narrow screen the rules are checked on some pages of a kind, as few of them depend on the width."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    found, pages = {}, pages_of(whole, kind)
    checked = pages if width == 1400 else spaced(pages)
    assert checked
    for path in pages:
        page.goto(path.as_uri())
        page.wait_for_function(DRAWN)
        if path in checked and (faults := broken(page, axe)):
            found[path.relative_to(whole).as_posix()] = faults
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.close()
    assert found == {}


def test_a_column_sorts_the_claims(whole, browser):
    page = browser.new_page()
    page.goto((whole / "claims.html").as_uri())
    column = "[...document.querySelectorAll('table.claims tbody tr')].map((row) => row.cells[1].textContent.trim())"
    before = page.evaluate(column)
    page.get_by_role("button", name="Verdict").click()
    assert page.evaluate(column) == sorted(before, key=str.lower)
    page.get_by_role("button", name="Verdict").click()
    assert page.evaluate(column)[0] == max(before, key=str.lower)
    page.close()


def test_claims_are_cards_on_a_phone(whole, browser):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((whole / "claims.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row = page.locator("table.claims tbody tr:visible").nth(3)
    box = row.locator("td").nth(2).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    page.close()
