"""Test the site with documentation and notebooks: it has no dead links and a header on each page, breaks no rule of
axe-core, which checks the WCAG guidelines, and can be used by keyboard alone and without a network."""

import re

import pytest
from playwright.sync_api import Error

from misspenalty_studies.common.site.links import dead_links

KINDS = ("index.html", "claims.html", "files.html", "notebooks.html", "study", "figure", "claim", "docs", "notebooks")
FIGURE = "figure/vlog/fig9.html"
ALWAYS = (FIGURE, "claim/vlog.table2.order.html", "claim/vlog.table2.almost_ten.html")  # pages in every sample
DRAWN = "!document.querySelector('.chart:not([data-drawn])')"  # true once all charts of a page are drawn


def test_no_link_is_dead(whole):
    """The site must have many pages and no dead links; a dead link would already have stopped its build."""
    assert len(list(whole.rglob("*.html"))) > 60
    assert dead_links(whole) == []


def test_a_dead_link_is_detected(tmp_path):
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
    """Return the pages of a kind, or, for some kinds, a sample of them."""
    if kind.endswith(".html"):
        return [whole / kind]
    found = sorted((whole / kind).rglob("*.html"))
    found = [path for path in found if path.name != "search.html"]  # made by a script that needs a server
    return found if kind in ("docs", "notebooks", "study") else sample(found)


def sample(pages):
    """Return about twelve evenly spaced pages, and those in `ALWAYS`."""
    return sorted({*pages[:: max(len(pages) // 12, 1)], *(one for one in pages if one.as_posix().endswith(ALWAYS))})


def broken(page, axe):
    """Return the rules that a page breaks, with the elements that break them."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return {one["id"]: [node["html"][:120] for node in one["nodes"]][:3] for one in found}


@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_of_accessibility_is_broken(whole, browser, axe, kind):
    """No page may break an accessibility rule; at the narrow width only a sample of the pages is checked, because few
    rules depend on the width."""
    page, found, pages = browser.new_page(), {}, pages_of(whole, kind)
    assert pages
    for path in pages:
        for width, checked in ((1400, pages), (390, sample(pages))):
            page.set_viewport_size({"width": width, "height": 900})
            if width == 1400 or page.locator(".chart").count():  # charts are drawn for the width at which a page opens
                page.goto(path.as_uri())
                page.wait_for_function(DRAWN)
            if path in checked and (faults := broken(page, axe)):
                found[path.relative_to(whole).as_posix(), width] = faults
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.close()
    assert found == {}


def test_a_broken_rule_is_detected(browser, axe):
    page = browser.new_page()
    page.set_content("<html><body><img src='data:,'><input></body></html>")
    assert {"image-alt", "label"} <= broken(page, axe).keys()
    page.close()


def test_keys_alone_reach_the_content_a_filter_and_a_download(whole, browser):
    page = browser.new_page()
    page.goto((whole / "claims.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.name ?? ''"))
    assert {"study", "role", "form", "verdict", "words"} <= reached
    page.goto((whole / FIGURE).as_uri())
    page.wait_for_selector(".chart[data-drawn]")
    page.locator("[data-save=csv]").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")
    page.close()


def test_without_a_network_every_page_is_whole(whole, browser):
    """Offline, pages of the results must show their headings and request nothing but files."""
    context = browser.new_context(offline=True)
    page, asked = context.new_page(), []
    page.route(
        "**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else asked.append(route)
    )
    for path in ("index.html", "claims.html", "files.html", "study/vlog.html", *ALWAYS):
        page.goto((whole / path).as_uri())
        page.wait_for_timeout(200)
        assert page.locator("h1").count() == 1
    assert not asked
    with pytest.raises(Error):
        page.goto("https://example.org/", timeout=5000)
    context.close()


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
    sort = page.get_by_role("button", name="Verdict")
    assert sort.bounding_box()["x"] < 0
    sort.focus()  # a button that the keyboard reaches must come into view
    assert sort.bounding_box()["x"] >= 0
    page.close()
