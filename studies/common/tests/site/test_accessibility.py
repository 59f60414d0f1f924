"""Test that pages break no rule of axe-core, which checks the WCAG guidelines, and can be used by keyboard alone."""

import pytest
from playwright.sync_api import Error

from studies.common.tests.site.rules import broken

STUDY = "vlog"
PAGES = (
    "index.html",
    "claims.html",
    "files.html",
    f"study/{STUDY}.html",
    f"figure/{STUDY}/fig9.html",
    "claim/vlog.table2.order.html",
    "claim/vlog.table2.almost_ten.html",
)
WIDTHS = (1280, 390)  # pixels: the screens of a computer and of a phone


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_no_rule_of_accessibility_is_broken(site, browser, axe, path, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"file://{site}/{path}")
    assert broken(page, axe) == {}
    page.close()


def test_a_broken_rule_is_seen(browser, axe):
    page = browser.new_page()
    page.set_content("<html><body><img src='data:,'><input></body></html>")
    assert {"image-alt", "label"} <= broken(page, axe).keys()
    page.close()


def test_keys_alone_reach_the_content_a_filter_and_a_download(site, browser):
    page = browser.new_page()
    page.goto(f"file://{site}/claims.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")
    reached = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.name ?? ''"))
    assert {"study", "role", "form", "verdict", "words"} <= reached
    page.goto(f"file://{site}/figure/{STUDY}/fig9.html")
    page.wait_for_selector(".chart[data-drawn]")
    page.locator("[data-save=csv]").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".csv")
    page.close()


def test_without_a_network_every_page_is_whole(site, browser):
    """Offline, every page in `PAGES` must show its heading and request nothing but files."""
    context = browser.new_context(offline=True)
    page, asked = context.new_page(), []
    page.route(
        "**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else asked.append(route)
    )
    for path in PAGES:
        page.goto(f"file://{site}/{path}")
        page.wait_for_timeout(200)
        assert page.locator("h1").count() == 1
    assert not asked
    with pytest.raises(Error):
        page.goto("https://example.org/", timeout=5000)
    context.close()
