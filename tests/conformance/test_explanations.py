"""Test the explanations in conformance/explanations.yaml, on models of the libraries or on the libraries themselves."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from misspenalty import conformance
from misspenalty.conformance.readings import with_hash
from misspenalty.io.documents import read_yaml
from misspenalty.policies import find_policy
from misspenalty.policies import libcachesim as rules
from misspenalty.policies.arc import ARC

ROOT = Path(__file__).parents[2]
ROWS = json.loads((ROOT / "results" / "conformance" / "libraries.json").read_text())


class TrimmedARC(ARC):
    """ARC with the changes of hashicorp's golang-lru."""

    def access(self, block):
        """Reference `block`: always remember a victim of T1, and trim B1 to the capacity less p, B2 to p."""
        hit = block in self.t1 or block in self.t2
        known = hit or block in self.b1 or block in self.b2
        if hit:
            return super().access(block)
        if block in self.b1:
            self._adapt(max(1, len(self.b2) // len(self.b1)))
        elif block in self.b2:
            self._adapt(-max(1, len(self.b1) // len(self.b2)))
        if len(self.t1) + len(self.t2) >= self.capacity:
            self._replace(block in self.b2)
        if not known:
            for ghosts, most in ((self.b1, self.capacity - self.p), (self.b2, self.p)):
                if len(ghosts) > most:
                    ghosts.popitem(last=False)
        self.b1.pop(block, None)
        self.b2.pop(block, None)
        entered = self.t2 if known else self.t1
        entered[block] = None
        if len(entered) > self.capacity:
            entered.popitem(last=False)  # this block is not remembered
        return False

    def _replace(self, in_b2):
        if self.t2 or len(self.t1) > self.p or (in_b2 and len(self.t1) == self.p):
            super()._replace(in_b2)
        for ghosts in (self.b1, self.b2):
            if len(ghosts) > self.capacity:
                ghosts.popitem(last=False)


def answered(make, vector):
    return conformance.answer_reference(make, vector.capacity, vector.trace, {}, True)


def test_the_page_is_that_of_the_results():
    tool = runpy.run_path(str(ROOT / "tools" / "libraries_page.py"))
    assert tool["PAGE"].read_text(encoding="utf-8") == tool["page"](), "run python tools/libraries_page.py"
    assert len({tool["address"](row) for row in ROWS}) == len(ROWS)


def test_every_difference_is_explained():
    explained = read_yaml(ROOT / "conformance" / "explanations.yaml")
    assert set(explained) == {row["cache"] for row in ROWS if row["first_vector"]}
    assert all(set(each) == {"says", "by"} for each in explained.values())
    assert [cache for cache, each in explained.items() if each["says"].startswith("Not explained")] == []


def test_hashicorps_arc_differs_where_the_model_does():
    (row,) = (row for row in ROWS if row["cache"] == "hashicorp.ARC")
    suite = conformance.load_suite("arc")
    answers = [
        (vector.id, answered(TrimmedARC, vector))
        for vector in suite.vectors
        if not vector.parameters and not vector.writes
    ]
    results = [conformance.suite.Result(id=name, hits=each.hits, evicted=each.evicted) for name, each in answers]
    first = conformance.check_results(suite, results).first
    assert (first.vector.id, first.reference) == (row["first_vector"], row["first_reference"])
    assert first.difference == row["difference"]
    for long in conformance.load_suite("arc").long:
        hits = sum(map(TrimmedARC(long.capacity).access, conformance.load_trace(long)))
        less = row["long_hits_less_definition"][long.id.partition("/")[2]]
        assert hits - long.outcomes[0].hits == less


@pytest.fixture
def play(monkeypatch):
    pytest.importorskip("libcachesim")  # the lock file has it wherever it has a wheel
    monkeypatch.syspath_prepend(ROOT / "conformance" / "python")
    import adapter

    return lambda name, least, capacity, trace: adapter.replay(
        adapter.libcachesim(name, least), capacity, trace, tell=True
    )


MODELS = {
    "lirs": ("LIRS", 2, rules.LIRS_DEFINITION.reference),
    "slru": ("SLRU", 4, rules.SLRU_DEFINITION.reference),
    "mq": ("MQ", 3, lambda capacity: find_policy("mq").reference(capacity, life_time=10_000, recall_first=1)),
}


@pytest.mark.parametrize("policy", MODELS)
def test_libcachesim_has_the_outcomes_of_the_rules_that_explain_it(play, policy):
    name, least, model = MODELS[policy]
    compared = [
        vector
        for vector in conformance.load_suite(policy).vectors
        if not vector.parameters and not vector.writes and vector.capacity >= least
    ]
    assert len(compared) >= 8
    for vector in compared:
        own, told = answered(model, vector), play(name, least, vector.capacity, vector.trace)
        assert own.hits == told["hits"]
        assert policy != "mq" or own.evicted == told["evicted"]  # the other models do not report evictions


@pytest.mark.parametrize("capacity", [10, 100, 1000])
def test_libcachesims_clockpro_holds_half_of_its_capacity(play, capacity):
    half = list(range(capacity // 2))
    assert play("ClockPro", 3, capacity, half * 2)["hits"].count("1") == len(half)
    more = list(range(capacity // 2 + 1))
    assert play("ClockPro", 3, capacity, more * 2)["hits"].count("1") < len(more)


@pytest.fixture
def reproduce(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "conformance")
    import reproduce

    return reproduce


def test_every_difference_has_a_reproduction_that_states_what_the_policy_has(reproduce):
    """In a trace, a w before a block marks a write, which the policies here treat as a reference."""
    told = [reproduce.says(path) for language in reproduce.BUILDS for path in reproduce.reproductions(language)]
    wrong = []
    for each in told:
        run = conformance.run_kernel(each["policy"])
        hits = run(int(each["capacity"]), reproduce.blocks(each["trace"]), {}, False).hits
        wrong += [] if reproduce.agrees(each["has"], _as_printed(each["has"], hits)) else [each["cache"]]
    assert wrong == []
    assert [each["cache"] for each in told if each["has"] == each["prints"]] == []
    assert {each["cache"] for each in told} == {row["cache"] for row in ROWS if row["first_vector"]}


def _as_printed(said, hits):
    return str(hits.count("1")) if said.endswith(" hits") else hits


def test_a_window_of_one_percent_has_few_hits_on_pairs_with_another_hash(reproduce):
    """Blocks are hit if they enter the main region before it is full, or if a collision raises their count."""
    (says,) = {each["has"] for each in _windows(reproduce)}
    (trace,) = {each["trace"] for each in _windows(reproduce)}
    cache = with_hash("wtinylfu")(1000, seed=1)
    assert reproduce.agrees(says, str(sum(map(cache.access, reproduce.blocks(trace)))))


def _windows(reproduce):
    told = [reproduce.says(path) for language in reproduce.BUILDS for path in reproduce.reproductions(language)]
    return [each for each in told if each["trace"].startswith("n ")]


@pytest.mark.parametrize("said", ["0010", "3 hits", "over 2 hits", "under 4 hits"])
def test_outcomes_and_hits_agree_with_what_is_said(reproduce, said):
    assert reproduce.agrees(said, "0010" if said == "0010" else "3")
    assert not reproduce.agrees(said, "0011" if said == "0010" else {"over 2 hits": "2"}.get(said, "4"))


def test_a_trace_of_a_first_line_is_spelt_out(reproduce):
    assert reproduce.blocks("1 1-4 w2") == [1, 1, 2, 3, 4, 2]
    assert reproduce.blocks("n n-2 for n to 4") == [1, 2, 3, 1, 4, 2]


def test_a_reproduction_without_a_first_line_is_named(reproduce, tmp_path):
    (tmp_path / "a.py").write_text("print(0)\n")
    with pytest.raises(SystemExit, match=r"a\.py: line 1: 'print\(0\)'; expected"):
        reproduce.says(tmp_path / "a.py")


def test_libcachesims_reproductions_print_what_they_say(reproduce):
    pytest.importorskip("libcachesim")  # the lock file has it wherever it has a wheel
    programs = [path for path in reproduce.reproductions("python") if path.stem.startswith("libcachesim")]
    runs = [subprocess.run([sys.executable, path], capture_output=True, text=True, check=True) for path in programs]
    assert len(runs) == 5
    said = [reproduce.says(path)["prints"] for path in programs]
    assert [told for told, run in zip(said, runs, strict=True) if not reproduce.agrees(told, run.stdout.strip())] == []
