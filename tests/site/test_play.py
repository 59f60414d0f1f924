"""The page "Press play" in a real browser: misses equal native ones for every policy on three traces."""

import functools
import http.server
import importlib.util
import runpy
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import misspenalty
from misspenalty import disks, penalty, simulate
from misspenalty.policies.registry import known_policies
from misspenalty.site.pages import build_site
from misspenalty.traces import Trace

ROOT = Path(__file__).parents[2]
POLICIES = list(known_policies())
TIMED = [name for name, definition in known_policies().items() if not definition.offline or name == "opt"]
COUNTED = ("requests", "hits", "delayed_hits", "misses")
DEVICES = ["1 ms", *disks.names("disk")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, root):
    """A site with the page."""
    if sys.version_info[:2] != (3, 11) or not importlib.util.find_spec("ziglang") or not shutil.which("npm"):
        pytest.skip("needs Python 3.11, the package ziglang (tools/play-requirements.txt) and npm")
    out = tmp_path_factory.mktemp("built") / "play"
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "play.py", "--out", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    build_site(out.parent / "site", root, extras={"play": out})
    return out.parent / "site"


@pytest.fixture(scope="module")
def address(folder):
    """It is served here."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/play/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address, browser):
    page = browser.new_page()
    page.on("request", lambda one: None if one.url.startswith(address[:17]) else pytest.fail(one.url))
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    yield page
    page.close()


def in_browser(page, name, policy, capacity):
    call = "([name, one, capacity]) => call('replay', { name, policy: policy(one), capacity })"
    return page.evaluate(call, [name, policy, capacity])


@pytest.fixture(scope="module")
def traces(page):
    """Three traces by name, opened in the browser too; the last one is a text dropped on the page."""
    small = misspenalty.open_trace(ROOT / "tests" / "data" / "tpcc_small.parquet")
    prompts = misspenalty.open_trace(ROOT / "data" / "raw" / "kvcache" / "conversation.jsonl.xz")
    for name in ("tpcc_small", "conversation"):
        page.evaluate("(name) => open(name)", name)
    numbers = np.random.default_rng(7).zipf(1.2, 50_000) % 5000
    text = "\n".join(map(str, numbers))
    about = page.evaluate("(text) => call('open', { name: 'own', text, blockBytes: 4096 })", text)
    assert about == {"references": 50_000, "blocks": len(np.unique(numbers))}
    return {"tpcc_small": small, "conversation": prompts, "own": Trace.from_blocks(numbers)}


@pytest.mark.parametrize("policy", POLICIES)
def test_misses_equal_native_ones(page, traces, policy):
    assert traces
    for name, trace in traces.items():
        for share in (0.01, 0.1, 0.5):
            capacity = max(1, int(share * trace.blocks))
            native, there = simulate(trace, policy, capacity), in_browser(page, name, policy, capacity)
            assert (there["requests"], there["hits"]) == (native.requests, native.hits), (name, capacity)


def timed(page, name, policy, capacity, device, clients, interval):
    call = """([name, one, capacity, device, clients, interval]) =>
        call('penalty', { name, policy: policy(one), capacity, clients, interval,
                          device: manifest.devices.find((made) => made.name === device) })"""
    return page.evaluate(call, [name, policy, capacity, device, clients, interval])


def compared(page, name, trace, policy, device, clients=4, interval=0):
    """A timed replay in the browser compared with the native one: counts are equal, and times to the last digit."""
    capacity = max(1, trace.blocks // 20)
    there = timed(page, name, policy, capacity, device, clients, interval)
    load = {"clients": clients} if clients else {"interval": f"{interval}us"}
    native = penalty(trace, policy, capacity, device, **load).iloc[0]
    assert {key: there[key] for key in COUNTED} == {key: int(native[key]) for key in COUNTED}
    times = [key for key in there if key.endswith("_us")]
    assert len(times) == 13
    assert {key: there[key] for key in times} == pytest.approx({key: float(native[key]) for key in times}, rel=1e-12)


@pytest.mark.parametrize("policy", TIMED)
def test_response_times_equal_native_ones_for_every_policy(page, traces, policy):
    compared(page, "own", traces["own"], policy, "1 ms")
    compared(page, "tpcc_small", traces["tpcc_small"], policy, "cheetah9lp", clients=8)


@pytest.mark.parametrize("device", DEVICES)
def test_response_times_equal_native_ones_for_every_device(page, traces, device):
    compared(page, "own", traces["own"], "lru", device, clients=1)


@pytest.mark.parametrize(("device", "interval"), [("1 ms", 300), ("cheetah9lp", 20_000)])
def test_response_times_equal_native_ones_in_an_open_loop(page, traces, device, interval):
    """Below and above the device's capacity: requests of an open loop do not wait for one another."""
    compared(page, "own", traces["own"], "lru", device, clients=0, interval=interval)
    compared(page, "tpcc_small", traces["tpcc_small"], "mq", device, clients=0, interval=interval // 100)


def test_what_cannot_be_timed_is_refused(page, traces):
    call = """([name, one, device]) => call('penalty', { name, policy: policy(one), capacity: 10, clients: 1,
        interval: 0, device: manifest.devices.find((made) => made.name === device) })
        .then(() => '', (error) => error.message)"""
    assert "has room for" in page.evaluate(call, ["conversation", "lru", "hp97560"])


def test_a_file_of_ones_own_is_read_and_no_request_leaves(page, traces):
    requests = []
    page.on("request", lambda one: requests.append(one.url))
    page.set_input_files("input[name=file]", {"name": "mine.txt", "mimeType": "text/plain", "buffer": b"7\n8\n7\n"})
    page.wait_for_function("document.querySelector('[role=status]').textContent.startsWith('mine.txt: 3 references')")
    assert requests == []


@pytest.mark.parametrize("line", ["", "abc", "1.5", "-1", "1 2", "0x", "9223372036854775808"])
def test_a_text_that_is_no_trace_is_refused_with_its_line(page, line):
    call = "(text) => call('open', { name: 'bad', text }).then(() => '', (error) => error.message)"
    assert "line 2" in page.evaluate(call, f"7\n{line}\n8\n")
    assert "the file is empty" in page.evaluate(call, "")


def test_the_page_is_below_20_mb(folder):
    """Without the whole stream that claims are judged on, which is fetched when asked for."""
    files = [path for part in ("play", "static") for path in (folder / part).rglob("*") if path.is_file()]
    sizes = {path: path.stat().st_size for path in files}
    assert sizes.pop(folder / "play" / "traces" / "128mb.bin") > 1e6 and 5e6 < sum(sizes.values()) < 20e6


def test_what_the_page_lists_is_what_was_built():
    tool = runpy.run_path(str(ROOT / "tools" / "play.py"))
    claims = tool["claims"]()
    assert len(claims) == 6 and all(claim["policy"] in POLICIES for claim in claims)
    assert all(float(claim["archived"]) > 0 for claim in claims)
    assert "-3" in tool["directives"]() and "boundscheck=False" in tool["directives"]()


def test_the_page_fits_a_phone_and_answers_with_and_without_a_device(page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.select_option("select[name=trace]", "tpcc_small")
    page.fill("input[name=sizes]", "1 %, 10 %")
    for device, load, head, said in (
        ("", "clients", "Hit ratio", "8 replays of"),
        ("hp97560", "clients", "p99, µs", "8 timed replays of"),
        ("1 ms", "interval", "p99, µs", "8 timed replays of"),
    ):
        page.select_option("select[name=device]", device)
        page.select_option("select[name=load]", load)
        page.click("form.play button[type=submit]")
        status = page.locator("[role=status]").get_by_text(said)
        status.wait_for(timeout=120_000)
        assert head in page.locator("table.results thead").inner_text()
        assert page.locator("table.results tbody tr").count() == 8 and page.locator(".curve svg").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
