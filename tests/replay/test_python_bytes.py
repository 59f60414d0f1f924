"""Test that policies given as classes that receive the size of each request count like the kernels in caches of bytes,
and that they cannot cheat."""

import dataclasses
from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, Trace, byte_hit_ratio_curve, conformance, hit_ratio_curve, penalty, simulate
from misspenalty.cli.main import main
from misspenalty.policies import find_policy, register, registry
from misspenalty.policies.python_policy import size_argument
from misspenalty.policies.sized import SIZED
from misspenalty.policies.sized.own import ByteClaims


class Lru:
    """LRU; an object whose size changes takes the new size."""

    def __init__(self, capacity):
        self.capacity, self.used, self.held = capacity, 0, OrderedDict()
        self.evictions = 0

    def __contains__(self, block):
        return block in self.held

    def access(self, block, size):
        hit = block in self.held
        if hit:
            self.used -= self.held.pop(block)
        if size > self.capacity:
            self.evictions += hit
            return False
        self.held[block] = size
        self.used += size
        while self.used > self.capacity:
            self.used -= self.held.popitem(last=False)[1]
            self.evictions += 1
        return hit


class Gdsf:
    """Greedy-dual size frequency (GDSF) that does not load an object with the lowest rank."""

    def __init__(self, capacity, cost=1):
        self.capacity, self.cost, self.clock, self.now = capacity, cost, 0.0, 0
        self.held = {}  # block: (rank, last use, uses, size)

    def access(self, block, size):
        self.now += 1
        if block in self.held:
            uses = self.held[block][2] + 1
            self.held[block] = (self.clock + self.cost * uses / size, self.now, uses, size)
            return True
        if size > self.capacity:
            return False
        rank = self.clock + self.cost / size
        while sum(each[3] for each in self.held.values()) + size > self.capacity:
            victim = min(self.held, key=self.held.get)
            if self.held[victim][0] > rank:
                self.clock = rank
                return False
            self.clock = self.held.pop(victim)[0]
        self.held[block] = (rank, self.now, 1, size)
        return False


REQUESTS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 14), st.booleans()), min_size=2, max_size=120)


def trace_of(requests, changing):
    blocks, sizes, write = (list(column) for column in zip(*requests, strict=True))
    sizes = sizes if changing else [3 * block % 8 + 1 for block in blocks]
    return Trace.from_blocks([1000 + block for block in blocks], object_bytes=sizes, write=write)


def assert_equal_but_in_name(table):
    own, ours = (group.drop(columns="policy").reset_index(drop=True) for _, group in table.groupby("policy"))
    pd.testing.assert_frame_equal(own, ours)


OPTIONS = st.sampled_from([{}, {"warm_up": 1}, {"writes": "ignore"}, {"writes": "only", "warm_up": 1}])


@settings(max_examples=150, deadline=None)
@given(requests=REQUESTS, room=st.integers(1, 60), options=OPTIONS, changing=st.booleans())
def test_a_class_of_lru_counts_like_the_kernel(requests, room, options, changing):
    trace = trace_of(requests, changing)
    own, ours = np.zeros(len(trace), bool), np.zeros(len(trace), bool)
    options = {"unit": "bytes"} | options
    rows = [simulate(trace, each, room, hits=hits, **options) for each, hits in ((Lru, own), ("lru", ours))]
    assert own.tolist() == ours.tolist()
    assert dataclasses.replace(rows[0], policy="lru") == rows[1]


@settings(max_examples=100, deadline=None)
@given(requests=REQUESTS, room=st.integers(1, 60), options=OPTIONS)
def test_a_class_of_gdsf_counts_like_the_kernel(requests, room, options):
    table = byte_hit_ratio_curve(trace_of(requests, False), [Gdsf, "gdsf"], room, **options).drop(columns="evictions")
    assert_equal_but_in_name(table)


@pytest.mark.parametrize("changes", ["replace", "keep", "new"])
@pytest.mark.parametrize("name", [name for name in SIZED if name != "wtinylfu"])  # needs the mean size of the objects
def test_a_class_may_follow_any_rule_for_sizes_that_change(name, changes):
    rng = np.random.default_rng(4)
    trace = Trace.from_blocks(rng.zipf(1.3, 2000) % 60, object_bytes=rng.integers(0, 40, 2000))

    class Own:
        def __init__(self, capacity):
            self.cache = SIZED[name].reference(capacity, changes)

        def access(self, block, size):
            return self.cache.access(block, size)

        evictions = property(lambda self: self.cache.evictions)
        refused = property(lambda self: self.cache.refused)

    own = byte_hit_ratio_curve(trace, Own, [30, 300])
    ours = byte_hit_ratio_curve(trace, name, [30, 300], size_changes=changes)
    assert own.drop(columns="policy").equals(ours.drop(columns="policy"))
    assert ours["hits"].min() > 0


@settings(max_examples=50, deadline=None)
@given(requests=REQUESTS, room=st.integers(14, 60), changing=st.booleans())
def test_response_times_and_refreshing_writes_are_the_kernels(requests, room, changing):
    """No object may be larger than the cache here, because a class is not asked whether a request of that size hits."""
    trace = trace_of(requests, changing)
    assert_equal_but_in_name(byte_hit_ratio_curve(trace, [Lru, "lru"], room, writes="refresh"))
    timed = {"unit": "bytes", "interval": "400us", "threads": 1}
    assert_equal_but_in_name(penalty(trace, [Lru, "lru"], room, ["1ms", "dc_p3700"], **timed))


def test_what_the_class_does_not_count():
    """By hand, a cache of 30 bytes must refuse 99 bytes twice, once in the warm-up; the number of evictions is not
    known."""
    trace = Trace.from_blocks([3, 1, 2, 1, 3], object_bytes=[99, 10, 20, 10, 99])
    row = simulate(trace, Gdsf, "30B", warm_up=1)
    assert (row.hits, row.hit_bytes, row.requested_bytes, row.refused, row.evictions) == (1, 10, 139, 2, None)
    table = byte_hit_ratio_curve(trace, type("Told", (Gdsf,), {"refused": 7, "evictions": 5}), 30)
    assert table[["refused", "evictions"]].values.tolist() == [[7, 5]]


def test_blocks_of_a_trace_without_sizes_have_the_bytes_of_a_block():
    told = []
    own = type("Own", (Lru,), {"access": lambda self, block, size: told.append(size) or Lru.access(self, block, size)})
    assert byte_hit_ratio_curve([1, 2, 1], own, 8192)["hits"].tolist() == [1]
    assert simulate([1, 2, 1], own, 2).hits == 1
    assert simulate(Trace.from_blocks([1, 2, 1], object_bytes=[4096] * 3), own, "8KB").hits == 1
    assert penalty([1, 2, 1], own, 2, "1ms")["hits"].tolist() == [1]
    assert set(told) == {4096}


@pytest.mark.parametrize("options", [{}, {"writes": "refresh"}, {"warm_up": 99}])
def test_in_a_cache_of_blocks_a_class_for_bytes_counts_like_the_kernel(options):
    """Evictions must be estimated from the misses, like those of any class that does not count them."""
    rng = np.random.default_rng(6)
    trace = Trace.from_blocks(rng.zipf(1.3, 3000) % 200, write=rng.random(3000) < 0.3, block_bytes=512)
    assert_equal_but_in_name(hit_ratio_curve(trace, [Lru, "lru"], ["10%", 20, "32KB"], **options))


def test_the_conformance_vectors_take_a_class_for_bytes():
    lru = conformance.load_suite("lru")
    assert conformance.check_run(lru, conformance.run_class(Lru)).conforms
    assert not conformance.check_run(lru, conformance.run_class(Gdsf)).conforms


def test_a_size_with_a_default_serves_both_kinds_of_cache():
    both = type("Both", (Lru,), {"access": lambda self, block, size=1: Lru.access(self, block, size)})
    trace = Trace.from_blocks([1, 2, 3, 1], object_bytes=[10, 20, 30, 10])
    assert [simulate(trace, both, size).hits for size in (3, 2, "60B", "59B")] == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("access", "name"),
    [
        (lambda self, block: 0, None),
        (lambda self, block, size: 0, "size"),
        (lambda self, block, weight: 0, "weight"),
        (lambda self, block, size=1: 0, "size"),
        (lambda self, block, now=None: 0, None),
        (lambda self, *block: 0, None),
        (staticmethod(lambda block, size: 0), "size"),
        (staticmethod(lambda block: 0), None),
        (dict.get, None),
    ],
)
def test_the_argument_for_the_size(access, name):
    assert getattr(size_argument(type("Own", (), {"access": access})), "name", None) == name


def test_a_package_registers_a_class_for_bytes_by_name():
    try:
        register("mine")(Lru)
        trace = Trace.from_blocks([1, 2, 1], object_bytes=[10, 20, 10])
        assert hit_ratio_curve(trace, ["mine", "LRU"], "100%")[["policy", "hits"]].values.tolist() == [
            ["mine", 1],
            ["lru", 1],
        ]
    finally:
        del registry._policies["mine"]


class Cheat(Lru):
    """A cheat that reports every request as a hit."""

    def access(self, block, size):
        return True


class Over(Lru):
    """LRU that forgets to evict."""

    def __init__(self, capacity):
        super().__init__(1 << 60)


class Silent:
    """A policy that forgets to evict and does not report what it holds."""

    def __init__(self, capacity):
        self.held = set()

    def access(self, block, size):
        hit = block in self.held
        self.held.add(block)
        return hit


class Swallow(Silent):
    """A policy that claims to cache objects larger than the cache, and that cannot be copied."""

    def __deepcopy__(self, memory):
        raise TypeError("no copies")


class Contradicts(Lru):
    def access(self, block, size):
        super().access(block, size)
        return False


OBJECTS = Trace.from_blocks([1, 2, 3, 1, 2], object_bytes=[10, 25, 7, 10, 25])
WRITTEN = Trace.from_blocks([1, 2], object_bytes=[10, 25], write=[False, True])
TWICE = Trace.from_blocks([1, 1], object_bytes=[10, 20])
FIRST = Trace.from_blocks([1, 2, 3], object_bytes=[10, 25, 7])


@pytest.mark.parametrize("run", [simulate, hit_ratio_curve])
@pytest.mark.parametrize(
    ("cls", "trace", "message"),
    [
        (Cheat, OBJECTS, r"policy Cheat: access\(1, 10\) returned True at the first reference to object 1"),
        (
            Over,
            OBJECTS,
            r"Over: access\(2, 25\) returned True, but with the other hits .* more than its capacity of 30 bytes",
        ),
        (Over, FIRST, "policy Over holds 42 bytes at the end; expected at most its capacity of 30"),
        (Silent, FIRST, "policy Silent holds 42 bytes at the end; expected at most its capacity of 30"),
        (
            Swallow,
            Trace.from_blocks([1, 1, 2], object_bytes=[31, 31, 1]),
            r"Swallow: access\(1, 31\) returned True, but .* capacity of 30 bytes; evict before you add another object",
        ),
    ],
)
def test_what_no_cache_can_do_is_refused(run, cls, trace, message):
    with pytest.raises(ParameterError, match=message):
        run(trace, cls, "30B")


@pytest.mark.parametrize(
    ("cls", "trace", "message"),
    [
        (Over, OBJECTS, r"policy Over: access\(2, 25\) returned True, but with the other hits so far"),
        (
            type("Sure", (Cheat,), {"__contains__": lambda self, block: True}),
            OBJECTS,
            "at the first reference to object 1",
        ),
        (
            Contradicts,
            TWICE,
            r"access\(1, 20\) returned False after __contains__\(1\) returned True; .*, whatever its size",
        ),
        (Silent, OBJECTS, "policy Silent has no `__contains__`, which response times need"),
    ],
)
def test_what_no_cache_can_do_is_refused_by_penalty_too(cls, trace, message):
    with pytest.raises(ParameterError, match=message):
        penalty(trace, cls, "30B", "1ms")


@settings(max_examples=300, deadline=None)
@given(
    claims=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.booleans()), min_size=1, max_size=40),
    room=st.integers(1, 25),
    cut=st.integers(0, 40),
)
def test_hits_are_refused_exactly_if_the_objects_that_they_need_do_not_fit(claims, room, cut):
    """The expected outcome follows from the bytes that the hits need in every gap between two references."""
    seen, gaps, expected = {}, [0] * len(claims), (len(claims), False)
    for now, (block, size, found) in enumerate(claims):
        since, least = seen.get(block, (None, size))
        if found:
            if since is not None:
                gaps[since:now] = [each + least for each in gaps[since:now]]
            if since is None or max(gaps) > room:
                expected = now, since is not None
                break
        seen[block] = now, min(least, size)
    checked, columns = ByteClaims(room), [np.array(column) for column in zip(*claims, strict=True)]
    ids, sizes, hit = columns
    # Pass the claims in two parts, like the slices of a trace.
    first, known = checked.add(ids[:cut], hit[:cut], sizes[:cut])
    if first == len(ids[:cut]):
        first, known = checked.add(ids[cut:], hit[cut:], sizes[cut:])
        first += len(ids[:cut])
    assert (first, known) == expected


def own(access=lambda self, block, size: False, init=lambda self, capacity: None):
    return type("Odd", (), {"access": access, "__init__": init})


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (
            own(access=lambda self, block, size: None),
            r"policy Odd: access\(1, 10\) returned None; expected True if the",
        ),
        (own(access=lambda self, block, size: 0.5), r"access\(1, 10\) returned 0.5"),
        (own(access=lambda self, block, size: 1 / 0), r"access\(1, 10\) raised ZeroDivisionError.*_bytes.py, line"),
        (own(access=lambda self, block, size, time: 0), r"access\(1, 10\) raised TypeError: .* 'time'"),
        (own(access=lambda self, block, *, size: 0), r"policy 'Odd' is not defined for objects of different sizes"),
        (own(init=lambda self, capacity: 1 / 0), "policy Odd: its constructor raised ZeroDivisionError.*, line"),
        (own(init=lambda self: None), r"class Odd: expected a constructor \(capacity"),
        (own(init=lambda self, capacity, width: None), "Odd: parameter width has no default"),
        (own(init=lambda self, capacity, future: None), "policy Odd looks into the future, which is not supported"),
        (type("Odd", (Gdsf,), {"evictions": -1}), "Odd: evictions is -1; expected a"),
        (type("Odd", (Gdsf,), {"refused": "many"}), "policy Odd: refused is 'many'; expected a whole number from 0"),
        (
            own(access=lambda self, block: False),
            r"'Odd' is not defined .*; give the class a method access\(block, size\)",
        ),
    ],
)
def test_classes_that_are_no_policies_for_bytes_are_reported(cls, message):
    cls.__contains__ = getattr(cls, "__contains__", lambda self, block: False)
    with pytest.raises(ParameterError, match=message):
        simulate(FIRST, type("Odd", (cls,), {"held": ()}), "30B")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            lambda: simulate(OBJECTS, Lru, 2),
            r"Lru has access\(block, size\), but this cache counts objects, .*, or give size a default",
        ),
        (lambda: hit_ratio_curve(OBJECTS, ["lru", Lru], 0.5, unit="objects"), "give cache sizes in bytes"),
        (
            lambda: simulate([1, 2], Cheat, 2),
            r"Cheat: access\(1, 4096\) returned True at the first reference to block 1",
        ),
        (lambda: penalty(OBJECTS, Lru, 2, "1ms"), r"Lru has access\(block, size\), but this cache counts objects"),
        (lambda: simulate(WRITTEN, Gdsf, "30B", writes="refresh"), r"no `__contains__`, .* __contains__\(block\)"),
        (
            lambda: simulate(OBJECTS, Lru, "30B", size_changes="keep"),
            "size_changes is 'keep', which does not apply to Lru: your own class",
        ),
        (
            lambda: penalty(OBJECTS, Lru, "30B", "1ms", size_changes="new"),
            "size_changes is 'new', which does not apply to Lru: your own class",
        ),
        (lambda: simulate(OBJECTS, Lru, "30B", prefetch="amp"), "a prefetcher needs blocks of one size"),
        (lambda: simulate(OBJECTS, Gdsf, "30B", price=2), "Gdsf has no parameter 'price'.*; it has cost"),
        (
            lambda: byte_hit_ratio_curve(OBJECTS, [Lru, type("Lru", (Lru,), {})], 30),
            "several classes are called Lru; give each policy a name",
        ),
        (
            lambda: hit_ratio_curve(OBJECTS, type("gdsf", (Gdsf,), {}), "30B"),
            "class gdsf has the name of another policy",
        ),
    ],
)
def test_what_a_class_for_bytes_does_not_support_is_refused(run, message):
    with pytest.raises(ParameterError, match=message):
        run()


def test_a_rule_for_sizes_that_change_applies_to_the_other_policies():
    trace = Trace.from_blocks([1, 1], object_bytes=[3, 9])
    table = byte_hit_ratio_curve(trace, [Lru, "lru"], 10, size_changes="new")
    assert table["hits"].tolist() == [1, 0]


def test_a_class_is_not_taken_for_a_policy_of_a_similar_name():
    """``tinylfu`` must be an alias of ``wtinylfu``, unless a class has that name."""
    kept = type("tinylfu", (Lru,), {})
    assert find_policy(kept).name == "tinylfu"
    assert byte_hit_ratio_curve(OBJECTS, [kept, "lru"], 30)["hits"].nunique() == 1


def test_the_commands(tmp_path, capsys):
    (tmp_path / "web.csv").write_text("key,size\na,10\nb,20\na,10\nc,99\na,10\n")
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def __init__(self, room, most=1000):\n"
        "        self.room, self.most, self.held = room, most, {}\n"
        "    def __contains__(self, block):\n        return block in self.held\n"
        "    def access(self, block, size):\n        hit = block in self.held\n"
        "        if size <= self.most and sum(self.held.values()) + size <= self.room:\n"
        "            self.held[block] = size\n"
        "        return hit\n"
    )
    given = [str(tmp_path / "web.csv"), "--policy", f"lru,{tmp_path / 'mine.py'}:Mine"]
    assert main(["curve", *given, "--size", "30B,50%", "--set", "most=15", "--csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[3:] == [
        "Mine,30,5,2,3,0.4,149,20,0.1342281879194631,1,",
        "Mine,65,5,2,3,0.4,149,20,0.1342281879194631,1,",
    ]
    assert main(["simulate", *given, "--size", "30B"]) == 0
    assert main(["simulate", given[0], "--policy", given[2].partition(",")[2], "--size", "30B", "--quiet"]) == 0
    assert "evictions        -" in capsys.readouterr().out
    assert main(["penalty", *given, "--size", "30B", "--device", "5ms", "--csv"]) == 0
    assert "Mine,30,5ms" in capsys.readouterr().out
    assert main(["curve", *given, "--size", "2"]) == 2
    assert "give cache sizes in bytes (64MB, --by-bytes)" in capsys.readouterr().err
