"""Policies given as classes are replayed, and the references of the built-in policies count like the kernels."""

import subprocess
import sys
import time

import numpy as np
import pytest

from misspenalty import ParameterError, Trace, hit_ratio_curve, penalty, simulate
from misspenalty.cli.main import main
from misspenalty.errors import MissPenaltyWarning
from misspenalty.policies import Parameter, find_policy, known_policies, register, registry
from misspenalty.policies.python_policy import load_class
from misspenalty.replay import simulation

COUNTS = ["cache_blocks", "requests", "hits", "misses", "hit_ratio", "cold_misses", "evictions"]
RNG = np.random.default_rng(8)
BLOCKS = np.where(RNG.random(4000) < 0.6, RNG.zipf(1.3, 4000) % 200, 1000 + np.arange(4000) % 120)
TRACE = Trace.from_blocks(BLOCKS, write=RNG.random(4000) < 0.3)


OTHERS = ({}, {"writes": "only"}, {"warm_up": 77})
CASES = [  # policies do not see the options, so only one of each kind is tried with more than one set
    *((name, {"writes": "ignore", "warm_up": 500}) for name in sorted(known_policies())),
    *((name, options) for name in ("arc", "lru", "opt", "sarc") for options in OTHERS),
]


@pytest.mark.parametrize("name, options", CASES)
def test_a_reference_as_a_class_counts_what_its_kernel_counts(name, options):
    definition = find_policy(name)
    own = hit_ratio_curve(TRACE, definition.reference, [1, 7, 60], **options)
    assert own["policy"].unique().tolist() == [definition.reference.__name__]
    assert own[COUNTS].equals(hit_ratio_curve(TRACE, name, [1, 7, 60], **options)[COUNTS])


@pytest.mark.parametrize("name, parameters", [("mq", {"queues": 3}), ("2q", {"kin": 0.5}), ("lfu", {"history": 2.0})])
def test_parameters_reach_the_constructor(name, parameters):
    reference = find_policy(name).reference
    hits, own_hits = np.zeros(4000, bool), np.zeros(4000, bool)
    simulate(TRACE, name, 30, hits=hits, **parameters)
    simulate(TRACE, reference, 30, hits=own_hits, **parameters)
    assert own_hits.tolist() == hits.tolist()
    with pytest.raises(ParameterError, match=f"{reference.__name__} has no parameter 'colour'"):
        simulate(TRACE, reference, 30, colour=1)


class Mine:
    """Keeps the first blocks.

    Nothing is evicted."""

    def __init__(self, capacity, share=1.0):
        self.room, self.cached = int(capacity * share), set()
        self.evictions, self.ghost_hits = 0, 3

    def access(self, block):
        hit = block in self.cached
        if len(self.cached) < self.room:
            self.cached.add(block)
        return hit


def test_a_class_without_a_kernel_can_be_registered():
    try:
        register("mine", None)(Mine)
        result = simulate([1, 2, 3, 1, 2, 3], "mine", 4, share=0.5)
        assert (result.policy, result.hits, result.evictions, result.ghost_hits) == ("mine", 2, 0, 3)
        assert find_policy("MINE").summary == "Keeps the first blocks"
        register("mine")(Mine)  # again, as when a notebook's cell is run twice
        with pytest.raises(ParameterError, match="policy 'mine' is already registered"):
            register("mine")(type("Other", (), {"__init__": lambda self, capacity: None, "access": lambda self, b: 0}))
    finally:
        del registry._policies["mine"]


def test_names_of_policies_are_unique_and_in_lower_case():
    with pytest.raises(ParameterError, match=r"policy 'lru' is already registered, by misspenalty\.policies\.lru"):
        register("lru")(Mine)
    with pytest.raises(ParameterError, match="policy name 'Mine'; expected a name in lower case"):
        register("Mine")(Mine)
    with pytest.raises(ParameterError, match="policy name 'min' is another name for opt"):
        register("min")(Mine)


@pytest.mark.parametrize("parameters", [Parameter("share", 1, "share"), ["share"]])
def test_parameters_that_are_no_list_of_parameters_are_refused(parameters):
    with pytest.raises(
        ParameterError, match=r"policy 'mine': parameters is .*'?share'?.*; expected a list of Parameter"
    ):
        register("mine", Mine, parameters)(Mine)


@pytest.mark.parametrize("option", [{"offline": True}, {"spatial": True}, {"check": print}])
def test_options_that_a_class_without_a_kernel_would_not_heed_are_refused(option):
    with pytest.raises(ParameterError, match="policy 'mine': offline, spatial and check are only for a policy with"):
        register("mine", **option)(Mine)
    assert "mine" not in registry._policies


@pytest.mark.parametrize("name", ["lru", "opt"])
def test_a_class_does_not_have_the_name_of_another_policy(name):
    """A class with the name of another policy must be refused; otherwise the curve of the built-in policy would replace
    that of the class."""
    with pytest.raises(ParameterError, match=f"class {name} has the name of another policy; rename the class"):
        hit_ratio_curve(SHORT, type(name, (Mine,), {}), [1, 2, 3])


@pytest.mark.parametrize("run", [simulate, hit_ratio_curve, lambda *given: penalty(*given, "5ms")])
def test_two_classes_of_one_name_cannot_be_compared(run):
    mine = type("Mine", (Mine,), {"__contains__": lambda self, block: block in self.cached})
    assert run([1, 2, 1], [mine, "lru", mine], 2)["policy"].tolist() == ["Mine", "lru", "Mine"]
    with pytest.raises(ParameterError, match="several classes are called Mine; give each policy a name of its own"):
        run([1, 2, 1], [mine, "lru", type("Mine", (mine,), {})], 2)


def test_a_default_may_be_a_list_and_a_docstring_blank(capsys, monkeypatch):
    monkeypatch.setattr(registry, "_policies", dict(known_policies()))

    @register("mine")
    class Weighted(find_policy("lru").reference):
        """ """

        def __init__(self, capacity, weights=[1, 2]):  # noqa: B006
            super().__init__(capacity)

    assert find_policy("tinylfu+mine").takes("weights") and find_policy("mine").summary == "mine"
    assert main(["policies"]) == 0
    assert "weights=[1, 2]" in capsys.readouterr().out


def test_a_number_without_a_maximum_is_finite():
    depth = Parameter("depth", 2, "blocks")
    assert depth.check(10**400, "mine") == 10**400
    with pytest.raises(ParameterError, match="mine: depth is inf; expected a whole number from 0 to inf"):
        depth.check(float("inf"), "mine")


def policy(access=lambda self, block: False, init=lambda self, capacity: None):
    return type("Odd", (), {"access": access, "__init__": init})


@pytest.mark.parametrize(
    "cls, message",
    [
        (policy(access=lambda self, block: None), r"policy Odd: access\(5\) returned None; expected True if"),
        (policy(access=lambda self, block: "yes"), "returned 'yes'"),
        (
            policy(access=lambda self, block: 1 / 0),
            r"access\(5\) raised ZeroDivisionError: .*test_python_policy.py, line",
        ),
        (policy(init=lambda self, capacity: 1 / 0), "policy Odd: its constructor raised ZeroDivisionError"),
        (policy(init=lambda self: None), r"class Odd: expected a constructor \(capacity"),
        (policy(access=3), "class Odd has no method access"),
        (policy(init=lambda self, capacity, width: None), "Odd: parameter width has no default"),
        (type("Odd", (dict,), {"access": dict.get}), r"class Odd: expected a constructor \(capacity"),
    ],
)
def test_classes_that_are_not_policies_are_reported(cls, message):
    with pytest.raises(ParameterError, match=message):
        simulate([5, 6], cls, 2)


def test_what_needs_a_kernel_says_so():
    with pytest.raises(ParameterError, match="Mine is written in Python and cannot work behind the prefetcher"):
        simulate([5, 6], Mine, 2, prefetch="sequential")


def test_the_error_names_the_policy_behind_the_prefetcher_and_not_opt(monkeypatch):
    """OPT, which checks a policy in Python, cannot work behind a prefetcher either, and may be refused first."""
    replay = simulation._replay

    def mine_is_late(trace, definition, *further):
        time.sleep(0.1 if definition.name == "Mine" else 0)
        return replay(trace, definition, *further)

    monkeypatch.setattr(simulation, "_replay", mine_is_late)
    with pytest.raises(ParameterError, match="Mine is written in Python and cannot work behind the prefetcher"):
        hit_ratio_curve([5, 6], Mine, 2, prefetch="sequential", threads=2)


def test_classes_from_files(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "class Mine:\n    def __init__(self, capacity): pass\n    def access(self, block): return block > 2\n"
    )
    assert simulate([1, 2, 2], load_class(f"{path}:Mine"), 1).hits == 0
    with pytest.raises(ParameterError, match="has no class 'Yours'; it has Mine"):
        load_class(f"{path}:Yours")
    path.write_text("import nowhere_at_all\n")
    with pytest.raises(ValueError, match=r"mine.py: cannot be run: ModuleNotFoundError.*mine.py, line 1"):
        load_class(f"{path}:Mine")
    path.write_text("x = 1\nclass Mine(\n")
    with pytest.raises(ValueError, match=r"mine.py: cannot be run: SyntaxError: .* \(mine.py, line 2\)"):
        load_class(f"{path}:Mine")
    with pytest.raises(ValueError, match="no such file"):
        load_class(f"{tmp_path / 'nowhere.py'}:Mine")


def test_a_class_from_a_file_may_be_a_dataclass(tmp_path):
    path = tmp_path / "held.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass, field\n\n@dataclass\nclass Held:\n"
        "    capacity: int\n    blocks: set = field(default_factory=set)\n\n    def access(self, block):\n"
        "        hit = block in self.blocks\n        self.blocks.add(block)\n        return hit\n"
    )
    assert simulate([1, 2, 1], load_class(f"{path}:Held"), 5).hits == 1


class Held(Mine):
    """A policy that reports which blocks it holds."""

    def __contains__(self, block):
        return block in self.cached


@pytest.mark.parametrize("policy", [Held, "lru"])
def test_writes_that_load_nothing_are_reported_as_misses(policy):
    hits = np.ones(4, bool)
    trace = Trace.from_blocks([1, 2, 2, 1], write=[False, True, False, True])
    assert simulate(trace, policy, 3, writes="refresh", hits=hits).hits == 0
    assert hits.tolist() == [False, False, False, True]


class Recent(find_policy("lru").reference):
    """LRU that reports which blocks it holds, and does not count its evictions itself."""

    def __contains__(self, block):
        return block in self.stack


@pytest.mark.parametrize("writes", ["count", "refresh", "only"])
def test_what_loads_nothing_evicts_nothing(writes):
    own = hit_ratio_curve(TRACE, Recent, [1, 7, 60], writes=writes)
    assert own[COUNTS].equals(hit_ratio_curve(TRACE, "lru", [1, 7, 60], writes=writes)[COUNTS])


def test_installed_packages_register_by_entry_point(tmp_path):
    (tmp_path / "outside.py").write_text(
        "from misspenalty.policies import Reference\n"
        "class First(Reference):\n"
        '    """Hits block 1."""\n'
        "    def __init__(self, capacity): pass\n"
        "    def access(self, block):\n"
        "        self.known, known = True, hasattr(self, 'known')\n"
        "        return known and block == 1\n"
    )
    info = tmp_path / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[misspenalty.policies]\nfirst = outside:First\nbroken = outside:Nothing\n")
    code = (
        f"import sys, warnings; sys.path.insert(0, {str(tmp_path)!r})\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    import misspenalty\n"
        "print(misspenalty.simulate([1, 1, 1], 'first', 1).hits, 'lru' in misspenalty.policies(), told[0].message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 True policy 'broken' of outside was not registered: ")


class Cheat:
    """A policy that reports every reference as a hit."""

    def __init__(self, capacity): ...

    def access(self, block):
        return True


class Over:
    """A policy that forgets to evict."""

    def __init__(self, capacity):
        self.held = set()

    def access(self, block):
        hit = block in self.held
        self.held.add(block)
        return hit


class OverAndTells(Over):
    def __contains__(self, block):
        return block in self.held


class Late(Over):
    """A policy that cannot be copied, and that forgets to evict."""

    def __deepcopy__(self, memory):
        raise TypeError("no copies")


class Contradicts(Over):
    def __contains__(self, block):
        return block in self.held

    def access(self, block):
        super().access(block)
        return False


SHORT = [1, 2, 1, 3, 1, 2, 4, 1]


@pytest.mark.parametrize("run", [simulate, hit_ratio_curve])
@pytest.mark.parametrize(
    ("cls", "blocks", "message"),
    [
        (Cheat, SHORT, r"policy Cheat: access\(1\) returned True at the first reference to block 1"),
        (Over, SHORT, "policy Over holds 4 blocks at the end; expected at most its capacity of 2"),
        (OverAndTells, SHORT, "policy OverAndTells holds 4 blocks at the end; expected at most its capacity of 2"),
        (Late, [5, 6, 7, 5, 6, 7], r"Late: access\(7\) returned True, but .* more than its capacity of 2 blocks"),
    ],
)
def test_what_no_cache_can_do_is_refused(run, cls, blocks, message):
    with pytest.raises(ParameterError, match=message):
        run(blocks, cls, 2)


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (OverAndTells, "OverAndTells holds 4 blocks at the end"),
        (type("Sure", (Cheat,), {"__contains__": lambda self, block: True}), "at the first reference to block 1"),
        (Contradicts, r"access\(1\) returned False after __contains__\(1\) returned True"),
    ],
)
def test_what_no_cache_can_do_is_refused_by_penalty_too(cls, message):
    with pytest.raises(ParameterError, match=message):
        penalty(SHORT, cls, 2, "1ms")


class Keep(Over):
    """A policy that loads no more blocks once it is full."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.capacity = capacity

    def access(self, block):
        return block in self.held if len(self.held) == self.capacity else super().access(block)


def test_more_hits_than_opts_are_never_printed_without_a_warning():
    """In a cache of one block, opt loads each of [1, 2] * 50 and has no hits, but Keep and opt_bypass have 49."""
    expected = "Keep has more hits than opt at 1 blocks: opt loads every block that it misses"
    for policies in ([Keep], [Keep, "opt"], [Keep, "opt", "opt_bypass"]):
        for run in (simulate, hit_ratio_curve):
            with pytest.warns(MissPenaltyWarning, match=expected) as told:
                table = run([1, 2] * 50, policies, 1)
            assert len(told) == 1
            assert table["policy"].tolist() == [getattr(each, "__name__", each) for each in policies]
            assert table["hits"].tolist() == [49, 0, 49][: len(policies)]
    with pytest.warns(MissPenaltyWarning, match=expected):
        assert simulate([1, 2] * 50, Keep, 1).hits == 49


def test_opt_is_not_a_bound_for_reads_alone():
    """Writes do not count as requests: Keep hits the one read that can hit; the optimum may hit two writes instead."""
    trace = Trace.from_blocks([1, 2, 3, 2, 3, 1], write=[False, True, True, True, True, False])
    with pytest.warns(MissPenaltyWarning) as told:
        hit_ratio_curve(trace, [type("First", (Keep,), {}), "opt_bypass"], 2)
    assert "First has more hits than opt_bypass at 2 blocks: opt_bypass is not a bound for" in str(told[-1].message)


def test_evictions_are_those_of_the_requests():
    """By hand, with one block: every reference loads a block, and all but the first evict one.

    Numbered from 0, references 2 and 4 count; 0 and 1 are the warm-up, and 3 is a write.
    """
    trace = Trace.from_blocks([1, 2, 3, 4, 5], write=[False, False, False, True, False])
    for policy in (*(name for name, p in known_policies().items() if name != "opt_bypass"), Recent):
        result = simulate(trace, policy, 1, warm_up=2)
        assert (result.evictions, result.total_evictions) == (2, 4), policy
    table = hit_ratio_curve(trace, "lru", warm_up=2, totals=True)
    assert table["evictions"].tolist() == [2, 2, 1, 1, 0]
    assert table["total_evictions"].tolist() == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("policy", [*(name for name, policy in known_policies().items() if not policy.offline), Recent])
@pytest.mark.parametrize("options", [{}, {"warm_up": 700}, {"writes": "refresh"}, {"writes": "only", "warm_up": 9}])
def test_evictions_of_the_requests_are_the_growth_at_each(policy, options, monkeypatch):
    """The counts must equal those of a replay of one reference at a time, also in the slice that fills the cache."""
    monkeypatch.setattr("misspenalty.replay.simulation.SLICE", 100)
    size, writes = 30, options.get("writes", "count")
    kernel = find_policy(policy).cache(size, TRACE.address, {})
    expected, one = 0, np.zeros(1, np.uint8)
    for number, (block, write) in enumerate(zip(TRACE.ids, TRACE.write, strict=True)):
        before, refresh = kernel.evictions, np.array([writes == "refresh" and write], np.uint8)
        kernel.replay(np.array([block], np.uint32), one, refresh)
        counts = number >= options.get("warm_up", 0) and write == (writes == "only")
        expected += kernel.evictions - before if counts else 0
    result = simulate(TRACE, policy, size, **options)
    assert (result.evictions, result.total_evictions) == (expected, kernel.evictions)
    assert expected > 0


@pytest.mark.parametrize("value", [None, "many", -1, 1.5])
def test_counts_of_a_policy_are_numbers(value):
    odd = type("Odd", (Keep,), {"evictions": value})
    with pytest.raises(ParameterError, match=r"policy Odd: evictions is .*; expected a whole number from 0 to"):
        simulate([1, 2], odd, 1)
