"""Test that the site of one study is complete, requests nothing from other hosts, and works in a browser, even at the
width of a phone."""

import html
import json
import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.site.__main__ import main
from misspenalty_studies.common.site.pages import build_site, commit_of
from misspenalty_studies.common.study import studies

STUDY = "vlog"


@pytest.fixture
def page(browser):
    """Return a page that fails the test on a script error, a warning or error in the console, or a request to another
    host."""
    context = browser.new_context(accept_downloads=True)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on(
        "request", lambda one: None if one.url.startswith(("file:", "data:", "blob:")) else problems.append(one.url)
    )
    yield page
    context.close()
    assert not problems


def claims(site):
    return pd.read_csv(site / "data" / "claims.csv", dtype=str, keep_default_na=False)


def test_the_commit_of_a_repository_around_the_checkout_is_not_named(tmp_path):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "other")):
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)
    (tmp_path / "unpacked").mkdir()
    assert commit_of(tmp_path / "unpacked") == "unknown"
    assert re.fullmatch("[0-9a-f]{40}", commit_of(tmp_path))


def test_every_claim_has_a_page_with_its_statement_line_and_rows(site):
    rows = claims(site)
    assert len(rows) > 20
    for row in rows.to_dict("records"):
        text = (site / "claim" / f"{row['id']}.html").read_text()
        assert f"<code>{row['id']}</code>" in text and "studies/vlog/claims.py:" in text
        assert row["verdict"] == "not_testable" or "Rows that the claim reads" in text


@pytest.fixture(scope="module")
def other(root, tmp_path_factory):
    """Return the site of a checkout without raw traces in which two claims have intervals, and these claims' pages."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "results").mkdir()
    for path in (*(root / "results").iterdir(), root / "src", root / "studies"):
        (folder / path.relative_to(root)).symlink_to(path)
    rows = pd.read_csv(root / "results" / "claims.csv", dtype=str, keep_default_na=False)
    first, second = rows.index[rows["obtained"].str.fullmatch(r"\d+\.\d+")][:2]
    rows.loc[first, ["low", "high"]] = ["1", "2"]
    rows.loc[second, ["low", "high"]] = ["T1: 1, T6: 2", "T1: 2, T6: 3"]
    (folder / "results" / "claims.csv").unlink()
    rows.to_csv(folder / "results" / "claims.csv", index=False)
    (folder / "play").mkdir()
    (folder / "play" / "manifest.json").write_text('{"traces": [], "drives": [], "claims": []}')
    build_site(folder / "site", folder, extras={"play": folder / "play"})
    return folder / "site", [folder / "site" / "claim" / f"{rows.loc[row, 'id']}.html" for row in (first, second)]


def test_without_the_raw_trace_no_claim_can_be_judged_in_the_browser(other):
    text = (other[0] / "play" / "index.html").read_text()
    assert "no claim can be judged here" in text and '<form class="judge"' not in text
    assert "Replay a trace in this browser" in (other[0] / "index.html").read_text()


def test_an_interval_is_explained_only_where_one_is_drawn(other):
    texts = [path.read_text() for path in other[1]]
    assert ["the line is the 95 % interval" in text for text in texts] == [True, False]
    assert all("interval from" in text for text in texts)


def test_every_picture_has_a_text_and_every_page_one_heading(site):
    assert len(list(site.rglob("*.html"))) > 3
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert all("alt=" in image for image in re.findall(r"<img[^>]*>", text)), path
        if "docs" not in path.parts:
            assert text.count("<h1>") == 1 and '<html lang="en">' in text, path


def test_the_filters_of_claims_are_kept_in_the_address(site, page):
    page.goto(f"file://{site}/claims.html")
    everything = page.locator("table.claims tbody tr").count()
    page.select_option("select[name=verdict]", "reproduced")
    shown = page.locator("table.claims tbody tr:visible").count()
    assert 0 < shown < everything == len(claims(site))
    assert page.locator("form output").inner_text() == f"{shown} claims"
    page.reload()
    assert page.url.endswith("#verdict=reproduced")
    assert page.locator("table.claims tbody tr:visible").count() == shown
    page.fill("input[name=words]", "no such words")
    assert page.locator("table.claims tbody tr:visible").count() == 0
    page.goto(page.url.split("#")[0] + "#verdict=reproduced&study=vlog")
    page.reload()
    assert page.locator("table.claims tbody tr:visible").count() == shown
    page.goto(page.url.split("#")[0] + "#length=1&verdict=unknown&role=")
    page.reload()
    assert page.url.endswith("#role=") and page.locator("select[name=verdict]").input_value() == ""
    page.goto(page.url.split("#")[0] + "#verdict=reproduced")  # only the hash changes, so the page stays open
    page.get_by_text(re.compile(f"^{shown} claims$")).wait_for()
    page.goto(page.url.split("#")[0] + "#main")
    assert page.locator("table.claims tbody tr:visible").count() == shown


def test_an_entry_of_bibtex_has_a_key_of_its_own_and_escapes_what_latex_does_not_print(site):
    pages = [path for path in site.rglob("*.html") if "docs" not in path.parts]
    texts = {path: html.unescape(path.read_text()) for path in pages}
    entries = {path: re.search(r"@misc\{([^,]+),\n(.*?)\n\}", text, re.DOTALL).groups() for path, text in texts.items()}
    assert len(pages) > 20 and len({key for key, _ in entries.values()}) == len(pages)
    _, entry = entries[site / "claim" / "vlog.table2.new_disk.html"]
    assert "{ vlog.table2.new\\_disk }" in entry and "claim/vlog.table2.new\\_disk.html" in entry


def test_without_scripts_a_figure_is_a_picture_and_no_idle_button_is_shown(site, browser):
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"file://{site}/figure/vlog/fig6.html")
    assert page.locator(".chart noscript img, .chart img").first.is_visible()
    assert page.locator(".chart .controls").is_hidden()
    page.close()


def test_a_printed_page_has_whole_tables_and_no_buttons(site, page):
    page.goto(f"file://{site}/study/vlog.html")
    page.wait_for_selector("[data-drawn]")
    page.emulate_media(media="print")
    assert page.locator(".chart .controls").is_hidden()
    assert set(page.locator(".wide").evaluate_all("(all) => all.map((one) => getComputedStyle(one).overflowX)")) == {
        "visible"
    }


@pytest.mark.parametrize("name", ["study/vlog.html", "claims.html", "claim/vlog.table2.new_disk.html", "files.html"])
def test_a_page_fits_into_320_pixels(site, page, name):
    """A page must fit into 320 pixels, which is the width of a 1280-pixel screen at a zoom of 400 %."""
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"file://{site}/{name}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_each_part_of_the_bar_leads_to_the_claims_it_counts(site, page):
    page.goto(f"file://{site}/index.html")
    parts = page.locator("main > ul.bar li").evaluate_all(
        "(all) => all.map((one) => [one.querySelector('a').href, Number(one.querySelector('b').textContent)])"
    )
    assert sum(count for _, count in parts) == (claims(site)["role"] == "claim").sum() and len(parts) > 2
    for address, count in parts:
        page.goto(address)
        assert page.locator("form output").inner_text() == f"{count} claims"
        page.goto("about:blank")


def test_the_bar_of_a_study_counts_its_claims(site):
    """The counts in the bars on the home page and on the study's page must be in the HTML, and add up to the number of
    claims."""
    number = (claims(site)["role"] == "claim").sum()
    for name, beginning in (("index.html", f'aria-labelledby="{STUDY}"'), (f"study/{STUDY}.html", "<h1")):
        text = (site / name).read_text().partition(beginning)[2]
        (bar,) = re.findall('<ul class="bar.*?</ul>', text, re.DOTALL)[:1]
        assert sum(map(int, re.findall("<b>([0-9]+)</b>", bar))) == number


def test_home_and_study_say_question_answer_and_what_it_rests_on(site):
    rests_on = studies()[STUDY].rests_on
    for name in ("index.html", f"study/{STUDY}.html"):
        text = (site / name).read_text()
        assert "does the advantage grow as disks and processors improve?" in text
        assert "grows with every better disk and host, as printed" in text
        assert all(f"claim/{id}.html" in text for id in rests_on)
    text = (site / "study" / f"{STUDY}.html").read_text()
    assert "R. Y. Wang, T. E. Anderson, D. A. Patterson" in text and "figure/vlog/fig9.html" in text
    assert "values of Table 2 and Figure 9, host times" in text


def test_a_claim_shows_its_dots_in_the_band_exactly_if_it_is_reproduced(site, page):
    rows = [
        row for row in claims(site).to_dict("records") if row["kind"] in ("value", "ratio", "bound") and not row["low"]
    ]
    seen = set()
    for row in rows:
        page.goto(f"file://{site}/claim/{row['id']}.html")
        dots = page.locator(".tracks tr", has_text="Obtained").locator(".dot")
        if dots.count() != 1:
            continue
        dot, band = dots.bounding_box(), page.locator(".tracks .allowed").first.bounding_box()
        middle = dot["x"] + dot["width"] / 2
        assert (band["x"] - 1 <= middle <= band["x"] + band["width"] + 1) == (row["verdict"] == "reproduced"), row["id"]
        seen.add(row["verdict"])
    assert "reproduced" in seen and len(seen) > 1


def test_a_figure_answers_to_pointer_scale_and_legend_and_can_be_taken_away(site, page):
    page.goto(f"file://{site}/figure/{STUDY}/fig9.html")
    page.wait_for_selector(".chart[data-drawn]")
    charts = json.loads(re.search(r"\] = (\{.*\});", (site / "charts" / STUDY / "fig9.js").read_text())[1])
    assert page.locator(".chart .panels svg").count() == len(charts["panels"])
    bar = page.locator(".chart svg .mark-rect path").first
    bar.hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "Series" in page.locator("#vg-tooltip-element").inner_text()
    name = charts["series"][0]["name"]
    page.get_by_role("button", name=name, exact=True).click()
    with page.expect_download() as download:
        page.click("[data-save=csv]")
    taken = pd.read_csv(download.value.path())
    assert name not in set(taken["series"]) and len(taken)
    values = [row["value"] for panel in charts["panels"] for row in panel["data"]["values"] if row["series"] != name]
    assert taken["value"].tolist() == pytest.approx(values)
    with page.expect_download() as download:
        page.click("[data-save=svg]")
    assert Path(download.value.path()).read_text().startswith("<svg")
    assert page.locator("[data-scale=y]").is_hidden()  # the y axis has the names of the bars
    page.click("[data-scale=x]")
    page.wait_for_timeout(200)
    assert page.locator(".chart .panels svg").count() == len(charts["panels"])


def test_the_table_of_files_has_its_heads_on_a_phone_and_shows_keys_a_whole_digest(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"file://{site}/files.html")
    assert page.locator("table.made thead").bounding_box()["x"] >= 0
    ends = page.locator("table.made .number").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert ends and max(ends) <= 390  # the last digit of a size must not lie outside the screen
    row = page.locator("table.made tbody tr").first
    cut = "(digest) => getComputedStyle(digest).textOverflow + ' ' + getComputedStyle(digest).whiteSpace"
    assert row.locator(".digest").evaluate(cut) == "ellipsis nowrap"
    row.locator("a").focus()
    assert row.locator(".digest").evaluate(cut) == "ellipsis normal"


def test_the_count_of_inputs_agrees_in_number_and_stays_on_a_line(site, page):
    page.goto(f"file://{site}/files.html")
    counts = page.locator("table.made td > details > summary")
    told = counts.all_inner_texts()
    assert "1 file" in told and "2 files" in told and not [text for text in told if text == "1 files"]
    assert set(counts.evaluate_all("all => all.map(one => getComputedStyle(one).whiteSpace)")) == {"nowrap"}


def test_the_number_of_the_marked_line_is_legible_in_dark_mode(site, page):
    page.emulate_media(color_scheme="dark")
    page.goto(f"file://{site}/claim/{claims(site)['id'][0]}.html")
    color = "(one) => getComputedStyle(one).color"
    mark = page.locator(".code mark").first
    assert mark.locator("span").evaluate(color) == mark.evaluate(color)
    assert mark.locator("span").evaluate(color) != page.locator(".code code > span").first.evaluate(color)


def test_two_builds_are_equal_to_the_byte(root, site, tmp_path):
    build_site(tmp_path / "again", root, extras={"docs": root / "docs"})
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert files == sorted(
        path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*") if path.is_file()
    )
    assert all((site / path).read_bytes() == (tmp_path / "again" / path).read_bytes() for path in files)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("play=missing", "missing: no such folder; the site's part play is copied from it; make it with `make play`"),
        ("plays=.", "the site has no part 'plays'; expected docs, notebooks, play"),
    ],
)
def test_a_missing_part_is_named(root, tmp_path, capsys, monkeypatch, part, message):
    monkeypatch.chdir(tmp_path)
    assert main(["--root", str(root), "--out", str(tmp_path / "site"), "--with", part]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("part", ["docs", "docs="])
def test_a_part_without_a_folder_is_refused(part, capsys):
    with pytest.raises(SystemExit):
        main(["--with", part])
    assert "--with needs NAME=FOLDER" in capsys.readouterr().err


def test_without_results_one_line_says_what_to_do(tmp_path, capsys):
    assert main(["--root", str(tmp_path), "--out", str(tmp_path / "site")]) == 2
    assert "make reproduce" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_without_readings_the_build_says_which_command_makes_them(root, tmp_path):
    path = root / "results" / STUDY / "runs" / "readings.json"
    text = path.read_text()
    path.unlink()
    try:
        with pytest.raises(InputError, match="snakemake"):
            build_site(tmp_path / "site", root)
    finally:
        path.write_text(text)
