"""Test that the page "Press play" produces the native results in a browser: formats, policies, devices, sizes."""

import ast
import functools
import http.server
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

import misspenalty
from misspenalty import ParameterError, byte_hit_ratio_curve, disks, penalty, simulate
from misspenalty.policies.registry import known_policies
from misspenalty.replay.cache_size import cache_sizes
from misspenalty.traces.reading import counted
from misspenalty_studies.common.site.pages import build_site
from tests.fuzz import corpus

ROOT = Path(__file__).parents[4]
POLICIES = list(known_policies())
TIMED = [
    name for name, definition in known_policies().items() if not definition.offline or name in ("opt", "opt_bypass")
]
COUNTED = ("requests", "hits", "delayed_hits", "misses")
PARQUET = ("capture", "parquet")
FORMATS = [name for name in corpus.TRACES if name not in PARQUET]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root, zig):
    """Build a site with the page and return its folder."""
    out = tmp_path_factory.mktemp("built") / "play"
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "play.py", "--out", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    build_site(out.parent / "site", root, extras={"play": out})
    return out.parent / "site"


@pytest.fixture(scope="module")
def address(folder):
    """Return the address at which the page is served."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/play/index.html"
        server.shutdown()


def loaded(page):
    """Wait until the page has loaded and run, and return it; if it cannot load, the test fails with its message."""
    page.wait_for_selector("body[data-ready], body[data-failed]", timeout=120_000)
    assert page.locator("body").get_attribute("data-failed") is None, status(page)
    return page


def opened(browser, address, width=1280, **settings):
    """Open the page with these settings, and return it when it has run."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.on("request", lambda one: None if one.url.startswith(address[:17]) else pytest.fail(one.url))
    page.goto(f"{address}?{urlencode(settings)}" if settings else address)
    return loaded(page)


@pytest.fixture(scope="module")
def page(address, browser):
    page = opened(browser, address)
    yield page
    page.close()


def status(page):
    return page.locator("[role=status]").inner_text()


def dropped(page, name, content, form="", size="1,50%"):
    """Choose a file on the page and return the page's status text."""
    page.fill("input[name=size]", size)
    page.locator("form.play details").evaluate("(one) => { one.open = true; }")
    page.select_option("select[name=format]", form)
    page.set_input_files("input[name=file]", {"name": name, "mimeType": "text/plain", "buffer": content})
    page.wait_for_function("!document.querySelector('form.play button').disabled", timeout=120_000)
    return status(page)


def in_browser(page, trace, policy, size, device="", load="clients", amount="4", by_bytes=False):
    values = {"trace": trace, "policy": policy, "size": size, "by_bytes": by_bytes}
    values |= {"device": device, "load": load, "amount": amount}
    return page.evaluate("(values) => call('replay', values)", values)


def refused(page, action, **values):
    """Return the worker's error message for values that it refuses."""
    return page.evaluate(
        "([action, values]) => call(action, values).then(() => '', (error) => error.message)", [action, values]
    )


@pytest.fixture(scope="module")
def traces(page, tmp_path_factory):
    """Return three traces by name, which are also opened in the browser; the last one is a file that the reader
    supplies."""
    small = misspenalty.open_trace(ROOT / "tests" / "data" / "tpcc_small.parquet")
    prompts = misspenalty.open_trace(ROOT / "data" / "raw" / "kvcache" / "conversation.jsonl.xz")
    for name in ("tpcc_small", "conversation"):
        page.evaluate("(name) => open(name)", name)
    numbers = np.random.default_rng(7).zipf(1.2, 50_000) % 5000
    path = tmp_path_factory.mktemp("own") / "mine.txt"
    path.write_text("\n".join(map(str, numbers)) + "\n")
    own = misspenalty.open_trace(path)
    call = "(text) => call('own', { name: 'own', file: new File([text], 'mine.txt'), form: '', block_size: '' })"
    about = page.evaluate(call, path.read_text())
    assert (about["references"], about["blocks"]) == (50_000, len(np.unique(numbers)))
    return {"tpcc_small": small, "conversation": prompts, "own": own}


def test_the_page_runs_by_itself_on_opening(page):
    assert "replays of" in status(page)
    assert page.locator("table.results tbody tr").count() == 24 and page.locator(".curve svg").count() == 1
    assert page.locator(".curve svg").get_by_text("Policy", exact=True).count() == 1  # the chart has one legend
    first = page.locator("table.results tbody tr").first.inner_text().split("\t")
    trace = misspenalty.open_trace(ROOT / "tests" / "data" / "tpcc_small.parquet")
    native = simulate(trace, "arc", "1%")
    assert first[0] == "arc" and first[3] == f"{native.misses:,}"


@pytest.mark.parametrize(
    ("missing", "said"),
    [("manifest.json", "manifest.json: 404"), ("package.zip", "package.zip: 404"), ("pyodide.mjs", "worker stopped")],
)
def test_a_page_that_cannot_load_says_why(browser, address, missing, said):
    page = browser.new_page()
    page.route(f"**/{missing}", lambda route: route.fulfill(status=404))
    page.goto(address)
    with pytest.raises(AssertionError, match=said):
        loaded(page)
    assert said in page.locator("body").get_attribute("data-failed")
    page.close()


def test_a_page_opened_as_a_file_says_how_to_open_it(browser, folder):
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((folder / "play" / "index.html").as_uri())
    page.get_by_text("make site-serve").wait_for()
    assert problems == []
    page.close()


def test_play_waits_if_it_is_pressed_while_the_page_loads(browser, address):
    page, held = browser.new_page(), []
    page.route("**/manifest.json", lambda route: held.append(route))
    with page.expect_request("**/manifest.json"):
        page.goto(address)
    page.click("form.play button[type=submit]")
    page.wait_for_timeout(500)
    assert page.url == address and len(held) == 1
    held[0].continue_()
    loaded(page).get_by_text("24 replays of").wait_for(timeout=120_000)
    page.close()


@pytest.mark.parametrize("policy", POLICIES)
def test_misses_equal_native_ones(page, traces, policy):
    assert traces
    for name, trace in traces.items():
        for share in (0.01, 0.1, 0.5):
            capacity = max(1, int(share * trace.blocks))
            native, there = simulate(trace, policy, capacity), in_browser(page, name, policy, capacity)
            assert {key: there[key] for key in ("requests", "hits", "cold_misses", "evictions", "ghost_hits")} == {
                key: getattr(native, key) for key in ("requests", "hits", "cold_misses", "evictions", "ghost_hits")
            }, (name, capacity)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_as_natively(page, tmp_path, name):
    """A file of each format must yield the native trace, and the native counts at three cache sizes."""
    content = corpus.TRACES[name]()
    path = tmp_path / name
    path.write_bytes(content)
    try:
        trace, form = misspenalty.open_trace(path), ""
    except misspenalty.InputError:
        trace, form = misspenalty.open_trace(path, name), name
    said = dropped(page, name, content, form)
    assert f"replays of {counted(len(trace), 'references')} in" in said, said
    assert page.evaluate("opened.get(document.querySelector('select[name=trace]').value).text") == repr(trace)[1:-1]
    chosen = page.evaluate("document.querySelector('select[name=trace]').value")
    for size in ("1", "2", "50%"):
        if trace.object_bytes is not None:
            (blocks,) = cache_sizes(trace, size, "bytes").sizes
            native = byte_hit_ratio_curve(trace, "lru", blocks).iloc[0]
            keys = ("requests", "hits", "hit_bytes", "requested_bytes", "refused")
        else:
            (blocks,) = cache_sizes(trace, size).sizes
            native = simulate(trace, "lru", blocks).row()
            keys = ("requests", "hits", "evictions")
        there = in_browser(page, chosen, "lru", blocks, by_bytes=trace.object_bytes is not None)
        assert [there[key] for key in keys] == [int(native[key]) for key in keys]


@pytest.mark.parametrize(("suffix", "packed"), [("gz", "gzip"), ("xz", "lzma"), ("bz2", "bz2"), ("zst", None)])
def test_compressed_files_are_read(page, suffix, packed):
    text = b"7\n8\n7\n9\n"
    if packed:
        content = __import__(packed).compress(text)
    else:
        content = __import__("pyarrow").compress(text, codec="zstd", asbytes=True)
    assert "4 references" in dropped(page, f"mine.txt.{suffix}", content)


LOG = """127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326
127.0.0.1 - - [10/Oct/2000:13:55:37 -0700] "GET /b.gif HTTP/1.0" 304 -
127.0.0.1 - - [10/Oct/2000:13:55:38 -0700] "GET /a.gif HTTP/1.0" 200 2330
127.0.0.1 - - [10/Oct/2000:13:55:39 -0700] "GET /b.gif HTTP/1.0" 200 100
"""  # an answer whose size is unknown, and an object whose size changes


@pytest.mark.parametrize(
    ("name", "text"),
    [("web.log", LOG), ("days.csv", "date,time,key\n2024-05-01,12:00:00,7\n2024-05-01,12:00:01,8\n")],
)
def test_unknown_sizes_and_times_in_two_columns_are_read_as_natively(page, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    native = misspenalty.open_trace(tmp_path / name)
    assert f"replays of {counted(len(native), 'references')} in" in dropped(page, name, text.encode(), size="50%")
    about = "opened.get(document.querySelector('select[name=trace]').value).text"
    assert page.evaluate(about) == repr(native)[1:-1]


def test_objects_whose_sizes_change_are_timed_on_a_drive(page, tmp_path):
    (tmp_path / "web.log").write_text(LOG)
    dropped(page, "web.log", LOG.encode(), size="50%")
    put(page, "hp97560")
    chosen = page.evaluate("document.querySelector('select[name=trace]').value")
    there = in_browser(page, chosen, "lru", 1, "hp97560", amount="1")
    trace = misspenalty.open_trace(tmp_path / "web.log")
    native = penalty(trace, "lru", 1, "hp97560", unit="objects", clients=1).iloc[0]
    assert [there[key] for key in COUNTED] == [int(native[key]) for key in COUNTED]
    assert there["mean_us"] == pytest.approx(float(native["mean_us"]), rel=1e-12)


def test_a_word_for_a_missing_key_is_refused_in_the_words_of_the_package(page, tmp_path):
    text = "time,key\n0,null\n1,b\n"
    (tmp_path / "keys.csv").write_text(text)
    with pytest.raises(misspenalty.InputError) as error:
        misspenalty.open_trace(tmp_path / "keys.csv")
    native = str(error.value).replace(str(tmp_path / "keys.csv"), "keys.csv")
    left = "This page does not offer --key: use the command line"
    assert dropped(page, "keys.csv", text.encode()) == f"Error: {native}. {left}"


def test_one_replay_of_one_reference_is_in_the_singular(page):
    page.evaluate("choose(['lru'])")
    said = dropped(page, "one.txt", b"7\n", size="1")
    page.evaluate("choose(FIRST)")
    assert said.startswith("1 replay of 1 reference in ")


# Functions that the page's modules use only in code that the page never runs: tables of drives, which are packed when
# the page is built; Parquet and data frames; builds; bounds by bytes; comparing traces; samples; LHD in Python
UNREACHED = {
    "numpy": "abs add array_equal datetime_data divide hypot iinfo inf interp lexsort ma roll sqrt tile vstack",
    "pyarrow": "CompressedOutputStream RecordBatch DictionaryArray Table BaseExtensionType default_memory_pool parquet"
    " table timestamp",
    "pyarrow.compute": "",
}
UNREACHED_OPTIONS = {"array(order)", "cumsum(axis)", "cumsum(dtype)", "sort(kind)"}


def stand_in(module):
    """Return the names that a stand-in defines, each function with its parameters."""
    place = ROOT / "studies" / "common" / "site" / "play" / "standins" / module.replace(".", "/")
    tree = ast.parse((place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text())
    found = {}
    for one in tree.body:
        if isinstance(one, ast.FunctionDef):
            found[one.name] = {each.arg for each in one.args.args}
        elif isinstance(one, ast.Assign):
            found |= {each.id: None for each in ast.walk(one) if isinstance(each, ast.Name)}
        elif isinstance(one, ast.ImportFrom | ast.ClassDef):
            found |= dict.fromkeys([one.name] if isinstance(one, ast.ClassDef) else [each.name for each in one.names])
    return found


@pytest.mark.parametrize(("module", "alias"), [("numpy", "np"), ("pyarrow", "pa"), ("pyarrow.compute", "pc")])
def test_stand_ins_have_every_function_and_option_that_the_page_calls(module, alias):
    tool = runpy.run_path(str(ROOT / "tools" / "play.py"))
    sources = [path for name in tool["imported"]() if (path := tool["source_of"](name)).suffix == ".py"]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text()))]
    known, unreached = stand_in(module), {"compute", *UNREACHED[module].split()}
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node.value) == alias}
    made = {f"{alias}.{name}" for name in used}
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in made]
    options = {(node.func.attr, each.arg) for node in calls for each in node.keywords}
    assert len(used) > 10 and used - known.keys() - unreached == set()
    odd = {f"{name}({option})" for name, option in options if option not in (known.get(name) or {option})}
    assert odd - UNREACHED_OPTIONS == set()


@pytest.mark.parametrize("name", PARQUET)
def test_parquet_is_refused_with_a_remedy(page, name):
    said = dropped(page, f"{name}.parquet", corpus.TRACES[name]())
    assert "Parquet" in said and "command line" in said


def compared(page, name, trace, policy, device, load="clients", amount="4"):
    """Compare a timed replay in the browser with the native replay: counts must be equal, and times must agree to a
    relative 1e-12."""
    capacity = max(1, trace.blocks // 20)
    there = in_browser(page, name, policy, capacity, device, load, amount)
    given = {} if load == "times" else {load: int(amount) if load == "clients" else amount}
    native = penalty(trace, policy, capacity, device, **given).iloc[0]
    assert {key: there[key] for key in COUNTED} == {key: int(native[key]) for key in COUNTED}
    times = [key for key in there if key.endswith("_us")]
    assert len(times) == 14
    assert {key: there[key] for key in times} == pytest.approx({key: float(native[key]) for key in times}, rel=1e-12)


def put(page, device):
    page.evaluate("(name) => call('drive', manifest.drives.find((one) => one.name === name))", device)


def test_a_drive_that_could_not_be_fetched_is_fetched_again(browser, address):
    page = opened(browser, address, policy="lru", size="1%")
    page.route("**/hp97560.bin", lambda route: route.fulfill(status=404), times=1)
    drive = page.evaluate("manifest.drives.find((one) => one.name === 'hp97560')")
    assert "hp97560.bin: 404" in refused(page, "drive", **drive)
    assert refused(page, "drive", **drive) == ""
    page.close()


@pytest.mark.parametrize("policy", TIMED)
def test_response_times_equal_native_ones_for_every_policy(page, traces, policy):
    put(page, "cheetah9lp")
    compared(page, "own", traces["own"], policy, "1ms")
    compared(page, "tpcc_small", traces["tpcc_small"], policy, "cheetah9lp", amount="8")


@pytest.mark.parametrize("device", disks.names())
def test_response_times_equal_native_ones_for_every_device(page, traces, device):
    put(page, device)
    compared(page, "own", traces["own"], "lru", device, amount="1")


@pytest.mark.parametrize(("device", "interval"), [("1ms", 300), ("cheetah9lp", 20_000)])
def test_response_times_equal_native_ones_in_an_open_loop(page, traces, device, interval):
    """Results must agree at loads below and above the device's capacity; an open loop does not wait for completions."""
    if device == "cheetah9lp":
        put(page, device)
    compared(page, "own", traces["own"], "lru", device, "interval", f"{interval}us")
    compared(page, "tpcc_small", traces["tpcc_small"], "mq", device, "interval", f"{interval // 100}us")


def test_a_trace_is_timed_at_its_own_times(page, tmp_path):
    content = corpus.TRACES["spc"]()
    (tmp_path / "x.spc").write_bytes(content)
    dropped(page, "x.spc", content)
    name = page.evaluate("document.querySelector('select[name=trace]').value")
    compared(page, name, misspenalty.open_trace(tmp_path / "x.spc"), "lru", "400ms", "times", "")


def test_what_cannot_be_timed_is_refused_in_the_package_s_words(page, traces):
    put(page, "hp97560")
    values = {"trace": "conversation", "policy": "lru", "size": 10, "by_bytes": False, "load": "clients"}
    with pytest.raises(ParameterError) as error:
        penalty(traces["conversation"], "lru", 10, "hp97560", clients=1)
    there = refused(page, "replay", **values, device="hp97560", amount="1")
    assert there.partition(" has ")[2] == str(error.value).partition(" has ")[2] != ""
    assert "from 1 to" in refused(page, "replay", **values, device="1ms", amount="0")
    assert "expected a whole number" in refused(page, "replay", **values, device="1ms", amount="x")


@pytest.mark.parametrize("sizes", ["64MB", "1%", "2.5%", "1%,5%", "1,2,100", "1.5GB", "8KB"])
def test_sizes_are_those_of_the_command_line(page, traces, sizes):
    plan = {"trace": "tpcc_small", "policies": ["lru"], "by_bytes": False, "device": ""}
    there = page.evaluate("(values) => call('plan', values)", plan | {"sizes": sizes})
    assert [size for _, size in there] == list(dict.fromkeys(cache_sizes(traces["tpcc_small"], sizes.split(",")).sizes))


@pytest.mark.parametrize("sizes", ["", "0", "0.00001%", "200%", "1.5", "64XB", "-1", "1 2", "1%,,2%"])
def test_sizes_are_refused_in_the_words_of_the_command_line(page, traces, sizes):
    plan = {"trace": "tpcc_small", "policies": ["lru"], "by_bytes": False, "device": ""}
    with pytest.raises(ParameterError) as error:
        cache_sizes(traces["tpcc_small"], sizes.split(","))
    assert refused(page, "plan", **plan, sizes=sizes) == str(error.value)


def test_after_an_error_no_results_are_left_and_the_picker_shows_what_is_loaded(page):
    page.select_option("select[name=trace]", "tpcc_small")
    page.click("form.play button[type=submit]")
    page.get_by_text("replays of").wait_for(timeout=120_000)
    said = dropped(page, "bad.txt", b"7\nabc\n8\n")
    assert said.startswith("Error: ") and "line 2" in said
    assert page.locator("table.results").is_hidden() and page.locator(".curve svg").count() == 0
    assert page.evaluate("document.querySelector('select[name=trace]').value") == "tpcc_small"
    assert "bad.txt" not in page.locator("select[name=trace]").inner_text()


def test_settings_live_in_the_address(address, browser):
    first = opened(browser, address, trace="conversation", policy="lru,sieve", size="2%,64GB")
    assert first.locator("table.results tbody tr").count() >= 2
    again = browser.new_page()
    again.goto(first.url)
    loaded(again)
    assert again.locator("table.results").inner_text() == first.locator("table.results").inner_text()
    typed = again.locator(".command code").inner_text()
    assert typed.startswith("misspenalty curve data/raw/kvcache/conversation.jsonl.xz --policy lru,sieve --size 2%")
    for one in (first, again):
        one.close()
    odd = opened(browser, address, policy="lruu")
    assert "lruu" in status(odd) and odd.locator("table.results").is_hidden()
    odd.close()
    timed = opened(browser, address, policy="lru", size="1%", device="5ms", load="times")
    assert timed.locator("input[name=amount]").is_disabled() and timed.locator("input[name=size]").is_enabled()
    assert "the trace has no times" in status(timed) and timed.locator(".command").is_hidden()
    timed.close()


def test_a_readers_own_file_causes_no_request(page):
    requests = []
    page.on("request", lambda one: requests.append(one.url))
    assert "replays of 3 references" in dropped(page, "mine.txt", b"7\n8\n7\n")
    assert [url for url in requests if not url.endswith("/static/icon.svg")] == []


@pytest.mark.parametrize(("name", "typed"), [("it's $mine.txt", "it's $mine.txt"), ("-v.txt", "./-v.txt")])
def test_the_command_names_a_file_as_a_shell_reads_it(page, name, typed):
    assert "replays of 3 references" in dropped(page, name, b"7\n8\n7\n")
    assert shlex.split(page.locator(".command code").inner_text())[:3] == ["misspenalty", "curve", typed]


def test_a_run_keeps_its_choices_and_a_file_dropped_meanwhile_waits(page):
    """The settings must not change during a run, and the second run must begin only after the first has ended."""
    page.select_option("select[name=trace]", "tpcc_small")
    states = page.evaluate("""async () => {
        const seen = [];
        const note = () => seen.push(opened.get(fields.trace.value).file);
        const first = guarded(run).then(note);
        const second = dropped(new File(["7\\n8\\n7\\n"], "late.txt")).then(note);
        await new Promise((resolve) => setTimeout(resolve));
        const frozen = [...form.elements].every((one) => one.disabled || one.tagName === "FIELDSET");
        await Promise.all([first, second]);
        return [frozen, seen, [...form.querySelectorAll("input, select")].filter((one) => one.disabled).length];
    }""")
    assert states == [True, [None, "late.txt"], 0]
    assert "replays of 3 references" in status(page)


def test_objects_with_sizes_are_replayed_by_bytes(page):
    text = "time,key,size\n" + "".join(f"{n},{n * n % 7},{100 + n % 5 * 50}\n" for n in range(40))
    assert "replays of 40 references" in dropped(page, "web.csv", text.encode())
    heads = page.locator("table.results thead").inner_text()
    assert "Byte hit ratio" in heads and page.locator("table.results tbody tr").count() == 4 * 2
    assert "--by-bytes" in page.locator(".command code").inner_text()
    page.fill("input[name=device]", "5ms")
    page.click("form.play button[type=submit]")
    page.get_by_text("timed replays of 40 references").wait_for(timeout=120_000)
    assert page.locator("table.results tbody tr").first.locator("td").nth(1).inner_text() == "1"
    assert "--by-objects" in page.locator(".command code").inner_text()  # by default, sizes would be in bytes
    page.fill("input[name=device]", "")
    page.evaluate("choose(['gdsf', 'lru'])")
    assert "4 replays of 40 references" in dropped(page, "web.csv", text.encode())
    assert sorted(page.evaluate("chosen()")) == ["gdsf", "lru"]


def test_a_claim_is_judged_as_archived(page):
    """Each claim that the page lists must, if replayed there, have its archived value and verdict."""
    claims = json.loads(page.evaluate("JSON.stringify(manifest.claims)"))
    assert len({claim["verdict"] for claim in claims}) == 3
    for place, claim in enumerate(claims):
        made = page.evaluate(f"() => judge(manifest.claims[{place}])")
        assert made["verdict"] == claim["verdict"], claim["id"]
        if claim["form"] == "order":
            archived = [float(number) for number in re.findall(r"[a-z]+ ([\d.]+)", claim["archived"])]
            assert sorted(made["ratios"]) == pytest.approx(archived, abs=0.006)
        else:
            assert made["obtained"] == pytest.approx(float(claim["archived"]), abs=0.006)
        assert "as archived" in page.locator(".judged").inner_text()


@pytest.mark.parametrize(
    ("tolerance", "ratios", "expected"),
    [
        (0, [2, 1], "reproduced"),
        (0, [1, 1], "not_reproduced"),
        (0.05, [1.049, 1], "tie"),
        (0.05, [1.051, 1], "reproduced"),
    ],
)
def test_an_order_is_judged_by_the_rule_of_the_ledger(page, tolerance, ratios, expected):
    """An order that the paper calls clear is a tie if the numbers differ by at most 5 % of the smaller one; equal
    numbers have no order."""
    claim = {"form": "order", "tolerance": tolerance}
    call = "([claim, ratios]) => verdict(claim, ratios[0] - ratios[1], ratios)"
    assert page.evaluate(call, [claim, ratios]) == expected


def test_a_link_to_a_claim_judges_it(browser, address):
    page = browser.new_page()
    page.goto(f"{address}#claim=mq.table4.margin.512")
    loaded(page)
    assert "MQ leads LRU by 12.65 points" in page.locator(".judged").inner_text()
    assert "right direction, as archived" in page.locator(".judged").inner_text()
    assert page.locator("input[name=policy]:checked").count() > 1  # so that the button Play works
    page.evaluate("location.hash = 'claim=mq.table4.mq.128'")
    page.locator(".judged").get_by_text("MQ, 128 MB of storage cache").wait_for(timeout=120_000)
    page.close()


def test_a_link_to_a_claim_that_the_page_lacks_says_so(browser, address):
    page = browser.new_page()
    page.goto(f"{address}#claim=mq.table4.margin.1")
    loaded(page)
    assert 'claim "mq.table4.margin.1", which this page cannot judge' in status(page)
    page.close()


def test_a_run_leaves_the_focus_where_it_was(page):
    page.select_option("select[name=trace]", "tpcc_small")
    assert status(page) == "Press Play to replay this trace."
    page.focus("input[name=size]")
    page.keyboard.press("Enter")
    page.get_by_text("replays of").wait_for(timeout=120_000)
    assert page.evaluate("document.activeElement.name") == "size"


def test_several_files_are_refused_and_dragged_text_is_left_to_the_browser(page):
    drop = """(fill) => {
        const data = new DataTransfer();
        if (fill === "text") data.setData("text/plain", "5%");
        else ["a", "b"].forEach((name) => data.items.add(new File(["7"], name)));
        const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
        document.body.dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    assert not page.evaluate(drop, "text") and page.evaluate(drop, "files")
    page.get_by_text("2 files at once").wait_for()


def test_an_address_with_a_load_but_no_number_takes_the_load_s_own(browser, address):
    page = opened(browser, address, policy="lru", size="1%", device="5ms", load="interval")
    assert page.locator("input[name=amount]").input_value() == "300us" and "1 timed replay of" in status(page)
    page.close()


def test_the_page_is_below_20_mb(folder):
    """The stream that claims are judged on is not counted, because it is fetched only on demand."""
    files = [path for part in ("play", "static") for path in (folder / part).rglob("*") if path.is_file()]
    sizes = {path: path.stat().st_size for path in files}
    assert sizes.pop(folder / "play" / "traces" / "128mb.bin") > 1e6 and 5e6 < sum(sizes.values()) < 20e6


def test_without_a_registry_of_npm_nothing_is_left_half_built(tmp_path):
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho npm error: no route >&2\nexit 1\n")
    npm.chmod(0o755)
    command = [sys.executable, ROOT / "tools" / "play.py", "--out", tmp_path / "play"]
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    said, told = done.stderr.splitlines()
    assert done.returncode == 2 and said == "npm error: no route"
    assert told.startswith("error: npm could not fetch pyodide") and "npm reaches its registry" in told
    assert [path.name for path in tmp_path.iterdir()] == ["npm"]


def test_the_page_is_given_claims_directives_and_the_modules_that_it_imports():
    tool = runpy.run_path(str(ROOT / "tools" / "play.py"))
    claims = tool["claims"]()
    assert len(claims) == 15 and all(policy in POLICIES for claim in claims for policy in claim["policies"])
    first = [claim["verdict"] for claim in claims[:3]]
    assert sorted(first) == ["direction", "not_reproduced", "reproduced"]
    assert "-3" in tool["directives"]() and "boundscheck=False" in tool["directives"]()
    assert tool["claims"]({"tpcc_small"}) == []  # as in a checkout without the raw traces
    packed = tool["imported"]()
    assert {"misspenalty.policies.python_policy", "misspenalty.traces.dialects"} < set(packed)
    assert not [name for name in packed if name.startswith("misspenalty_studies")]


@pytest.mark.parametrize(
    ("device", "load", "amount", "head", "said"),
    [("", "clients", "4", "Hit ratio", "8 replays of"), ("hp97560", "clients", "4", "p99, µs", "8 timed replays of"),
     ("1ms", "interval", "1ms", "p99, µs", "8 timed replays of")],
)  # fmt: skip
def test_the_page_fits_a_phone(browser, address, device, load, amount, head, said):
    """The address must determine what is replayed; if it names a device, the page must show response times."""
    settings = {"trace": "tpcc_small", "size": "1%,10%", "device": device, "load": load, "amount": amount}
    page = opened(browser, address, 390, **settings)
    assert said in status(page)
    assert head in page.locator("table.results thead").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
