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
from playwright.sync_api import sync_playwright

import misspenalty
from misspenalty import simulate
from misspenalty.policies.registry import known_policies
from misspenalty.traces import Trace

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
POLICIES = [name for name, definition in known_policies().items() if not definition.spatial]
PAGE = """<!doctype html><body><form class="play"><select name="trace"></select><input type="file" name="file">
<div class="policies"></div><input name="sizes"><button type="submit"></button></form><p role="status"></p>
<form class="judge"><select name="claim"></select></form><p class="judged"></p><div class="curve"></div>
<table class="results"><tbody></tbody></table><button data-save="csv"></button><script src="play.js"></script>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page's folder, built and served."""
    if sys.version_info[:2] != (3, 11) or not importlib.util.find_spec("ziglang") or not shutil.which("npm"):
        pytest.skip("needs Python 3.11, the package ziglang (tools/play-requirements.txt) and npm")
    out = tmp_path_factory.mktemp("built") / "play"
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "play.py", "--out", out], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shutil.copytree(ROOT / "src" / "misspenalty" / "site" / "play", out, dirs_exist_ok=True)
    (out / "index.html").write_text(PAGE)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=out)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address):
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda one: None if one.url.startswith(address[:17]) else pytest.fail(one.url))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        yield page
        browser.close()


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
    about = page.evaluate("(text) => call('open', { name: 'own', text })", text)
    assert about == {"references": 50_000, "blocks": len(np.unique(numbers))}
    return {"tpcc_small": small, "conversation": prompts, "own": Trace.from_blocks(numbers)}


@pytest.mark.parametrize("policy", POLICIES)
def test_misses_equal_native_ones(page, traces, policy):
    for name, trace in traces.items():
        for share in (0.01, 0.1, 0.5):
            capacity = max(1, int(share * trace.blocks))
            native, there = simulate(trace, policy, capacity), in_browser(page, name, policy, capacity)
            assert (there["requests"], there["hits"]) == (native.requests, native.hits), (name, capacity)


@pytest.mark.parametrize("line", ["", "abc", "1.5", "-1", "1 2", "0x"])
def test_a_text_that_is_no_trace_is_refused_with_its_line(page, line):
    call = "(text) => call('open', { name: 'bad', text }).then(() => '', (error) => error.message)"
    assert "line 2" in page.evaluate(call, f"7\n{line}\n8\n")
    assert "the file is empty" in page.evaluate(call, "")


def test_what_the_page_lists_is_what_was_built():
    tool = runpy.run_path(str(ROOT / "tools" / "play.py"))
    claims = tool["claims"]()
    assert len(claims) == 6 and all(claim["policy"] in POLICIES for claim in claims)
    assert all(float(claim["archived"]) > 0 for claim in claims)
    assert "-3" in tool["directives"]() and "boundscheck=False" in tool["directives"]()
