"""Test TinyLFU as a filter before another policy: kernels that name their victim, policies that cannot be filtered."""

import random

import numpy as np
import pytest

from misspenalty import ParameterError, Trace, hit_ratio_curve, simulate
from misspenalty.policies import Reference, find_policy, known_policies
from misspenalty.policies.tinylfu import FAST, filtered

SETTINGS = {
    "arc": [{"target": 0.4}],
    "clock": [{"bits": 2}],
    "s3fifo": [{"small": 0.4}, {"threshold": 1}],
    "2q": [{"simplified": 1}],
    "slru": [{"segments": 4, "protected": 0.7}, {"fill_up": 1}],
    "lirs": [{"hirs": 0.5}],
}
CASES = [(name, parameters) for name in FAST for parameters in [{}, {"sample_size": 2.0}, *SETTINGS.get(name, [])]]
SLOW = [name for name, found in known_policies().items() if not found.offline and not found.spatial]


def some_traces(seed):
    draw = random.Random(seed)
    for _ in range(25):
        blocks, power = draw.randrange(2, 30), draw.choice((1, 2, 3))
        trace = [int(blocks * draw.random() ** power) for _ in range(draw.randrange(20, 250))]
        yield draw.randrange(1, 14), trace


@pytest.mark.parametrize("name, parameters", CASES, ids=str)
def test_a_kernel_names_the_block_that_a_copy_evicts(name, parameters):
    """The definition finds the victim with a copy of the policy; the kernel names it itself."""
    definition, refused = find_policy(f"tinylfu+{name}"), 0
    for capacity, trace in some_traces(3):
        reference = definition.reference(capacity, **definition.check(parameters))
        expected = [reference.access(block) for block in trace]
        blocks, ids = np.unique(np.array(trace, np.uint64), return_inverse=True)
        kernel = definition.cache(capacity, blocks, parameters)
        hit = np.empty(len(ids), np.uint8)
        kernel.replay(ids.astype(np.uint32), hit)
        assert hit.tolist() == expected
        assert {int(block) for i, block in enumerate(blocks) if i in kernel} == reference.cached_blocks()
        assert kernel.evictions == kernel.counted_evictions == reference.evictions
        refused += expected.count(False) - kernel.resident - kernel.evictions
    assert refused > 100


def test_a_policy_without_such_a_kernel_is_filtered_as_defined():
    blocks = [1, 2, 3, 4, 4, 4, 1, 5, 2, 2, 4]
    for name in ("gdsf", "merlin", "lecar", "car"):
        definition = find_policy(f"tinylfu+{name}")
        assert definition.kernel is None
        reference = definition.reference(3, **definition.check({}))
        hits = sum(reference.access(block) for block in blocks)
        result = simulate(Trace.from_blocks(blocks), f"tinylfu+{name}", 3)
        assert (result.hits, result.evictions) == (hits, reference.evictions)


def test_writes_refresh_what_a_slow_filter_holds():
    draw = np.random.default_rng(4)
    trace = Trace.from_blocks(draw.zipf(1.5, 400) % 20, write=draw.random(400) < 0.3)
    kernel, slow = find_policy("tinylfu+lru"), find_policy("tinylfu+lru").reference
    assert simulate(trace, slow, 5, writes="refresh").hits == simulate(trace, kernel, 5, writes="refresh").hits


@pytest.mark.parametrize("name", [name for name in SLOW if name not in ("wtinylfu", "sarc")])
def test_every_online_policy_can_be_filtered(name):
    definition = find_policy(f"tinylfu+{name}")
    policy, held = definition.reference(4, **definition.check({})), 0
    for block in random.Random(5).choices(range(12), k=300):
        before = policy.cached_blocks()
        hit = policy.access(block)
        assert hit == (block in before) and len(policy.cached_blocks()) <= 4
        held = max(held, len(policy.cached_blocks()))
    assert held == 4


@pytest.mark.parametrize(
    "name, reason",
    [
        ("opt", "looks into the future"),
        ("lru_top", "also loads neighbouring blocks"),
        ("wtinylfu", "already has this filter"),
        ("tinylfu+lru", "already has this filter"),
        ("nothing", "unknown policy 'nothing'"),
    ],
)
def test_what_cannot_be_filtered_is_refused(name, reason):
    with pytest.raises(ParameterError, match=reason):
        find_policy(f"tinylfu+{name}")


def test_a_class_that_does_not_say_which_blocks_it_holds_is_not_filtered():
    """Such a policy must be refused: the cache would always look empty to the filter, which would then admit every
    block."""

    class Silent(Reference):
        def __init__(self, capacity): ...
        def access(self, block):
            return False

    class Named(Silent):
        CACHED = ("blocks",)

    with pytest.raises(ParameterError, match="Silent does not name in CACHED the attributes that hold its blocks"):
        filtered(find_policy(Silent))
    assert filtered(find_policy(Named)).name == "tinylfu+Named"


def test_the_name_alone_is_the_windowed_form():
    assert find_policy("TinyLFU").name == "wtinylfu"


def test_a_filter_keeps_frequent_blocks_through_a_scan():
    """Blocks 0 to 9 are used twice. A scan makes LRU lose all of them; with the filter, only a collision may lose
    one."""
    trace = Trace.from_blocks([*range(10), *range(10), *range(100, 160), *range(10)])
    curve = hit_ratio_curve(trace, ["lru", "tinylfu+lru"], [10])
    hits = dict(zip(curve["policy"], curve["hits"], strict=True))
    assert hits["lru"] == 10 and 19 <= hits["tinylfu+lru"] <= 20
