"""No page breaks a rule of axe-core, the checker of the accessibility guidelines (WCAG), and keys alone suffice."""

import shutil
import subprocess
import tarfile

import pytest
from playwright.sync_api import Error

AXE = "axe-core@4.14.1"
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
WIDTHS = (1280, 390)  # a desk's screen and a phone's


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The checker's source."""
    folder = tmp_path_factory.mktemp("axe")
    if not shutil.which("npm"):
        pytest.skip("needs npm, which fetches axe-core")
    done = subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"axe-core could not be fetched: {done.stderr[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


def broken(page, axe):
    """Rules that a page breaks, with the elements that break them."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return {one["id"]: [node["html"][:120] for node in one["nodes"]][:3] for one in found}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_no_rule_of_accessibility_is_broken(site, browser, axe, path, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(f"file://{site}/{path}")
    page.wait_for_timeout(500)
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
    """Offline, with every address except files refused."""
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
