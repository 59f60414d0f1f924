"""Test the Python adapter on traces worked out by hand, and the script that measures what a difference costs."""

import json
import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest

from misspenalty import conformance
from misspenalty.traces import Trace

FOLDER = Path(__file__).parents[2] / "conformance"


@pytest.fixture
def adapter(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER / "python")
    import adapter

    return adapter


@pytest.fixture
def costs(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import costs

    return costs


class Fifo(OrderedDict):
    """A bounded dictionary that drops its oldest entry; a block that is written again keeps its place."""

    def __init__(self, capacity):
        super().__init__()
        self.capacity = capacity

    def __setitem__(self, key, value):
        if key not in self and len(self) == self.capacity:
            self.popitem(last=False)
        super().__setitem__(key, value)


def test_standard_library_is_lru_and_has_no_writes(adapter):
    # 3 evicts 2, and then 2 evicts 1.
    assert adapter.replay(adapter.standard, 2, [1, 2, 1, 3, 2, 1], tell=True) == {"hits": "001000"}
    assert adapter.replay(adapter.standard, 2, [1, 2], [1]) is None


def test_a_mapping_is_looked_up_then_filled(adapter):
    # The second access to 1 reports a hit; 3 evicts 1, the oldest block.
    told = adapter.replay(adapter.mapping(Fifo), 2, [1, 2, 1, 3, 1], [2], tell=True)
    assert told == {"hits": "00100", "evicted": {3: [1], 4: [2]}}


def test_a_mapping_whose_lookup_counts_as_use_is_peeked_at(adapter):
    class Peeked(Fifo):
        """A cache in which a look-up makes a block the newest one, as in cachebox's LRU."""

        def __contains__(self, key):
            found = super().__contains__(key)
            if found:
                self.move_to_end(key)
            return found

        def peek(self, key):
            return True if OrderedDict.__contains__(self, key) else None

    # 3 evicts 1, the oldest, although the adapter has looked 1 up after each reference
    told = adapter.replay(adapter.mapping(Peeked), 2, [1, 2, 3], tell=True)
    assert told == {"hits": "000", "evicted": {2: [1]}}


def test_a_size_that_a_library_lacks_is_left_out(adapter):
    def open_cache(capacity):
        raise AssertionError("must not be opened")

    open_cache.least = 5
    assert adapter.replay(open_cache, 4, [1, 2], []) is None


def test_libcachesim_conforms_through_the_adapter(adapter):
    pytest.importorskip("libcachesim")  # the lock file has it wherever it has a wheel
    lru = adapter.libcachesim("LRU", 1)

    def run(capacity, trace, parameters, details):
        return conformance.Answer(**adapter.replay(lru, capacity, trace, tell=details))

    assert conformance.check_run(conformance.load_suite("lru"), run).conforms


def test_cost_is_the_difference_of_hit_ratios(costs, tmp_path):
    """Compare LRU in a cache of two blocks with a program that reports every repeated reference as a hit."""
    program = tmp_path / "adapter.py"
    program.write_text(
        "import sys\n"
        "seen, blocks = set(), open(sys.argv[3][1:]).read().split()\n"
        "print(''.join('1' if block in seen or seen.add(block) else '0' for block in blocks))\n"
    )
    replay = costs._replay("loop", Trace.from_blocks([1, 2, 3, 1, 2, 3, 1, 1]), tmp_path, 2)
    row = costs.cost([sys.executable, str(program)], {"language": "python", "cache": "all", "policy": "lru"}, replay)
    assert (row["definition"], row["library"], row["difference"]) == (1 / 8, 5 / 8, 4 / 8)


def test_a_cost_that_cannot_be_measured_is_left_out(costs, tmp_path):
    replay = costs._replay("pair", Trace.from_blocks([1, 2, 1]), tmp_path, 2)
    cache = {"language": "python", "cache": "none", "policy": "lru"}
    assert costs.cost([sys.executable, "-c", "print(None)"], cache, replay) is None


def test_a_trace_that_does_not_exist_is_an_error():
    arguments = [sys.executable, FOLDER / "costs.py", "OLTP=/nowhere/OLTP.lis"]
    run = subprocess.run(arguments, capture_output=True, text=True)
    assert run.returncode == 2 and "expected NAME=FILE with a file that exists" in run.stderr


def test_the_first_difference_of_the_table_is_a_vector_of_its_policy():
    table = json.loads((FOLDER.parent / "results" / "conformance" / "libraries.json").read_text())
    named = [row for row in table if row["first_vector"]]
    assert named
    for row in named:
        suite = conformance.load_suite(row["policy"])
        assert row["first_vector"] in {vector.id for vector in [*suite.vectors, *suite.long]}
        assert row["passed"] < row["vectors"]


def test_rows_of_other_caches_are_kept_and_those_of_lost_ones_dropped(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FOLDER)
    import run

    monkeypatch.setattr(run, "RESULTS", tmp_path / "libraries.json")
    old = [{"language": "go", "cache": "a", "n": 1}, *({"language": "python", "cache": c, "n": 1} for c in "abc")]
    run.RESULTS.write_text(json.dumps(old))
    run._write("python", [{"language": "python", "cache": "b", "n": 2}], {"a", "b"})
    table = [(row["language"], row["cache"], row["n"]) for row in json.loads(run.RESULTS.read_text())]
    assert table == [("go", "a", 1), ("python", "a", 1), ("python", "b", 2)]


@pytest.mark.parametrize(
    ("script", "options", "told"),
    [
        ("run.py", "--languages pyton,go", "unknown: pyton; expected some of python,go,javascript,rust,java"),
        ("costs.py", "--languages pyton,go", "unknown: pyton; expected some of python,go,javascript,rust,java"),
        ("reproduce.py", "--languages pyton,go", "unknown: pyton; expected some of python,go,javascript,rust,java"),
        ("costs.py", "--caches hashicorp.2q", "no difference is known of hashicorp.2q; expected some of hashicorp.2Q,"),
    ],
)
def test_an_unknown_language_or_cache_is_refused(script, options, told):
    done = subprocess.run(
        [sys.executable, str(FOLDER / script), *options.split()], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and told in done.stderr


def test_a_cache_that_no_language_has_is_named(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(FOLDER)
    import run

    lister = [sys.executable, "-c", r"print('a.LRU\ta\t1\tlru\tcertain')"]
    monkeypatch.setattr(run, "BUILDS", {"python": (sys.executable, lambda: lister)})
    monkeypatch.setattr(run, "RESULTS", tmp_path / "libraries.json")
    monkeypatch.setattr(sys, "argv", ["run.py", "--caches", "b.LRU"])
    with pytest.raises(SystemExit, match="2"):
        run.main()
    assert "argument --caches: no language that was run has b.LRU; expected some of a.LRU" in capsys.readouterr().err


@pytest.mark.parametrize("script", ["run.py", "reproduce.py"])
def test_an_adapter_that_cannot_be_built_ends_with_one_line(script, tmp_path):
    """If a tool fails, for example without a network, a message after the tool's own must name the place and the
    remedy."""
    (tmp_path / "go").write_text("#!/bin/sh\necho no route to the registry >&2\nexit 1\n")
    (tmp_path / "go").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, FOLDER / script, "--languages", "go"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    said, told = run.stderr.splitlines()
    assert run.returncode == 2 and run.stdout == "" and said == "no route to the registry"
    assert told.startswith(f"error: {FOLDER / 'go'}: the adapter cannot be built (go failed")
    assert told.endswith("leave go out with --languages")
