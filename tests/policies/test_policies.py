"""Test every registered policy against its definition, and for properties that any policy must have.

The tests run over all registered policies: a new file in misspenalty/policies is tested without changes here.
"""

import functools
import inspect
import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, byte_hit_ratio_curve, hit_ratio_curve, penalty, simulate
from misspenalty.policies import Definition, find_policy, known_policies
from misspenalty.policies._opt import Claims
from misspenalty.policies.registry import Parameter

POLICIES = sorted(known_policies())
CAPACITIES = (1, 2, 3, 7, 40)


def values_of(parameter):
    """Return values to test: the lowest, the highest (within a limit), one between them, and the default."""
    low, high = parameter.minimum, min(parameter.maximum, parameter.minimum + 40)
    if parameter.kind is float:
        high = min(high, low + 3)
        return [low, (2 * low + high) / 3, high, parameter.default]
    return [low, min(low + 2, high), high, parameter.default]


def settings_of(name):
    """Return different parameter sets of a policy: the defaults, each parameter varied alone, and some random
    combinations."""
    definition = find_policy(name)
    alone = [{p.name: value} for p in definition.parameters for value in values_of(p)]
    every = list(itertools.product(*(values_of(p) for p in definition.parameters)))
    chosen = random.Random(7).sample(every, min(6, len(every)))
    combined = [dict(zip([p.name for p in definition.parameters], values, strict=True)) for values in chosen]
    found = {}
    for setting in filter(functools.partial(possible, definition), [{}, *alone, *combined]):
        found.setdefault(str(definition.check(setting)), setting)
    return list(found.values())


def possible(definition, setting):
    try:
        definition.check(setting)
    except ParameterError:
        return False
    return True


CASES = [pytest.param(name, s, id=f"{name}-{s}") for name in POLICIES for s in settings_of(name)]


def dense(addresses):
    """Return dense ids as in a compiled trace, and the number of distinct ids."""
    ids = np.unique(addresses, return_inverse=True)[1].astype(np.uint32)
    return ids, int(ids.max()) + 1


def kernel_outcome(name, capacity, addresses, parameters, cuts=()):
    """Replay in slices; return the kernel's outcomes of the references, and the kernel."""
    definition = find_policy(name)
    kernel = definition.cache(capacity, np.unique(addresses), parameters)
    ids, _ = dense(addresses)
    hit = np.full(ids.size, 7, np.uint8)
    for begin, end in itertools.pairwise([0, *sorted(cuts), ids.size]):
        kernel.replay(ids[begin:end], hit[begin:end])
        assert kernel.resident <= capacity
    return hit, kernel


def reference_outcome(name, capacity, addresses, parameters):
    definition = find_policy(name)
    future = [list(addresses)] if definition.offline else []
    reference = definition.reference(capacity, *future, **definition.check(parameters))
    return np.array([reference.access(address) for address in addresses], np.uint8)


@functools.cache
def made_traces(n=500):
    """Make traces as arrays of addresses: Zipf, loop, phases and a mix."""
    rng = np.random.default_rng(11)
    zipf, loop = rng.zipf(1.2, n) % 90, np.arange(n) % 45
    phase = np.arange(n) // 120 * 25 + rng.integers(0, 30, n)
    mixed = np.where(rng.random(n) < 0.5, zipf, 200 + loop)
    return {"zipf": zipf, "loop": loop, "phase": phase, "mixed": mixed}


@pytest.mark.parametrize("name, parameters", CASES)
def test_kernel_equals_reference(name, parameters):
    assert made_traces() and CAPACITIES
    for addresses in made_traces().values():
        for capacity in CAPACITIES:
            hit, kernel = kernel_outcome(name, capacity, addresses.tolist(), parameters, cuts=[1, 2, 150, 330])
            expected = reference_outcome(name, capacity, addresses.tolist(), parameters)
            assert hit.tolist() == expected.tolist()
            misses = np.count_nonzero(hit == 0)
            assert kernel.requests == hit.size
            assert kernel.resident == min(capacity, misses)
            assert kernel.evictions == misses - kernel.resident


@pytest.mark.parametrize("name", POLICIES)
def test_kernel_equals_reference_in_a_long_run(name):
    """The run is so long that logs are compacted, axes renumbered and lifeTimes estimated repeatedly."""
    rng = np.random.default_rng(12)
    addresses = np.where(rng.random(20_000) < 0.7, rng.zipf(1.3, 20_000) % 200, np.arange(20_000) % 90).tolist()
    for capacity in (3, 25):
        hit, _ = kernel_outcome(name, capacity, addresses, {}, cuts=range(700, 20_000, 700))
        assert hit.tolist() == reference_outcome(name, capacity, addresses, {}).tolist()


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("blocks", [2, 3, 9])
def test_kernel_equals_reference_in_a_long_run_over_few_blocks(name, blocks):
    """With so few blocks, a wrong step in compacting or renumbering would soon change the hits."""
    rng = np.random.default_rng(13)
    for addresses in (np.arange(13_000) % blocks, rng.integers(0, blocks, 13_000)):
        for capacity in (blocks - 1, blocks):
            hit, _ = kernel_outcome(name, capacity, addresses.tolist(), {})
            assert hit.tolist() == reference_outcome(name, capacity, addresses.tolist(), {}).tolist()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux reports mapped memory in /proc")
def test_the_memory_of_a_policy_is_given_back():
    def mapped():
        return int(Path("/proc/self/statm").read_text().split()[0])

    definition, before = find_policy("lru"), mapped()
    for _ in range(20):
        definition.kernel(1, 10**7, **definition.check({}))
    assert mapped() - before < 5 * 4 * 10**7 / 4096


@pytest.mark.parametrize("name", ["lru", "2q"])
def test_positions_have_to_fit_32_bits(name):
    with pytest.raises(ParameterError, match=r"cache and history hold up to \d+ blocks; expected at most 1431655760"):
        find_policy(name).kernel(2**32 - 2, 2**32 - 2, **find_policy(name).check({}))


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_kernel_equals_reference_on_any_trace(name, data):
    addresses = data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=120))
    parameters = data.draw(st.sampled_from(settings_of(name)))
    capacity = data.draw(st.integers(1, 14))
    cuts = data.draw(st.lists(st.integers(0, len(addresses)), max_size=4))
    hit, _ = kernel_outcome(name, capacity, addresses, parameters, cuts)
    assert hit.tolist() == reference_outcome(name, capacity, addresses, parameters).tolist()


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_kernel_equals_reference_where_nearly_all_blocks_fit(name, data):
    """A kernel may limit a history to the blocks that can fill it, but not to fewer."""
    capacity = data.draw(st.integers(1, 6))
    block = st.integers(0, capacity + data.draw(st.integers(0, 1)))
    addresses = data.draw(st.lists(block, min_size=1, max_size=150))
    parameters = data.draw(st.sampled_from(settings_of(name)))
    hit, _ = kernel_outcome(name, capacity, addresses, parameters)
    assert hit.tolist() == reference_outcome(name, capacity, addresses, parameters).tolist()


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("capacity, blocks", [(0, 5), (-1, 5), (5, -1), (2**32, 5), (5, 2**32)])
def test_impossible_caches(name, capacity, blocks):
    with pytest.raises(
        ParameterError, match=f"capacity is {capacity} and blocks is {blocks}; expected 1 to 4294967294"
    ):
        find_policy(name).kernel(capacity, blocks, **find_policy(name).check({}))


@pytest.mark.parametrize("name, parameters", CASES)
def test_any_slices_give_the_outcome_of_one_run(name, parameters):
    addresses = made_traces()["mixed"]
    whole, one = kernel_outcome(name, 30, addresses, parameters)
    for length in (1, 7):
        parts, other = kernel_outcome(name, 30, addresses, parameters, cuts=range(length, addresses.size, length))
        assert np.array_equal(parts, whole)
        assert (other.evictions, other.ghost_hits) == (one.evictions, one.ghost_hits)


@functools.cache
def most_hits(offline, kind, capacity):
    """Return the hits of OPT or, with ``opt_bypass``, of OPT with bypassing on a trace of 3000 references."""
    return kernel_outcome(offline, capacity, made_traces(3000)[kind], {})[0].sum()


@pytest.mark.parametrize("name", POLICIES)
def test_nothing_beats_opt(name):
    """The defaults suffice: `test_contents_tell_the_coming_outcome` tries all parameters, and no cache that hits only
    the blocks that it holds beats OPT with bypassing."""
    assert made_traces() and CAPACITIES
    for kind, addresses in made_traces(3000).items():
        for capacity in CAPACITIES:
            hits = kernel_outcome(name, capacity, addresses, {})[0].sum()
            best = most_hits("opt_bypass" if name == "opt_bypass" else "opt", kind, capacity)
            assert hits <= best <= most_hits("opt_bypass", kind, capacity)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=14), st.integers(1, 5))
def test_opt_with_bypass_has_the_most_hits_of_all_decisions(addresses, capacity):
    """The kernel must have as many hits as the best of all choices: not to load a missed block, or to load it in place
    of any other."""

    @functools.cache
    def most(number, held):
        if number == len(addresses):
            return 0
        block = addresses[number]
        if block in held:
            return 1 + most(number + 1, held)
        loaded = [held | {block}] if len(held) < capacity else [held - {old} | {block} for old in held]
        return max(most(number + 1, after) for after in (held, *loaded))

    assert kernel_outcome("opt_bypass", capacity, addresses, {})[0].sum() == most(0, frozenset())


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40), st.integers(1, 5))
def test_hits_are_possible_if_no_gap_between_accesses_is_overfull(references, capacity):
    addresses, claimed = zip(*references, strict=True)
    ids, blocks = dense(addresses)
    last, held, wrong = {}, np.zeros(len(ids), int), (len(ids), False)
    for number, (block, claim) in enumerate(zip(ids.tolist(), claimed, strict=True)):
        if claim:
            held[last.get(block, number) : number] += 1
            if block not in last or held.max() > capacity:
                wrong = number, block in last
                break
        last[block] = number
    assert Claims(capacity, blocks).add(ids, np.array(claimed, np.uint8)) == wrong


@pytest.mark.parametrize("name, parameters", CASES)
def test_a_cache_that_holds_all_has_only_cold_misses(name, parameters):
    addresses = made_traces(3000)["mixed"]
    ids, blocks = dense(addresses)
    first = np.zeros(ids.size, np.uint8)
    first[np.unique(ids, return_index=True)[1]] = 1
    for capacity in (blocks, blocks + 1, 2**31, 2**32 - 2):
        hit, kernel = kernel_outcome(name, capacity, addresses, parameters)
        assert np.array_equal(hit, 1 - first)
        assert (kernel.resident, kernel.evictions, kernel.ghost_hits) == (blocks, 0, 0)


@pytest.mark.parametrize("name", sorted({*POLICIES} - {"opt_bypass"}))
def test_a_cache_of_one_block_hits_repeats_only(name):
    addresses = made_traces()["phase"]
    hit, _ = kernel_outcome(name, 1, addresses, {})
    assert hit[1:].tolist() == (addresses[1:] == addresses[:-1]).astype(int).tolist()


@pytest.mark.parametrize("kind", made_traces())
def test_opt_hit_counts_grow_with_the_cache(kind):
    counts = [kernel_outcome("opt", capacity, made_traces(3000)[kind], {})[0].sum() for capacity in range(1, 60)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("kind", made_traces())
def test_lru_inclusion(kind):
    """A reference that hits in a smaller LRU cache must hit in a larger one."""
    addresses = made_traces(3000)[kind]
    smaller = np.zeros(3000, np.uint8)
    for capacity in range(1, 60):
        hit, _ = kernel_outcome("lru", capacity, addresses, {})
        assert np.all(hit >= smaller)
        smaller = hit


@pytest.mark.parametrize("name", [n for n in POLICIES if any(p.name == "history" for p in find_policy(n).parameters)])
def test_history_remembers(name):
    """In A B A with a cache of one block, A is remembered if and only if the history has room for an entry."""
    first = {"recall_first": 1} if name == "mq" else {}
    for history, known in ((0, 0), (0.9, 0), (1, 1), (1000, 1)):
        _, kernel = kernel_outcome(name, 1, [0, 1, 0], {"history": history, **first})
        assert kernel.ghost_hits == known


def test_mq_evicts_before_it_looks_into_its_history():
    """In the paper's order, B replaces A in a history of one entry before A is looked up; two entries keep A."""
    for history, known in ((1, 0), (2, 1)):
        _, kernel = kernel_outcome("mq", 1, [0, 1, 0], {"history": history})
        assert kernel.ghost_hits == known


@pytest.mark.parametrize("name", POLICIES)
def test_memory_per_block(name):
    """A policy may take at most 32 bytes per distinct block (a simple one 16, GDSF 72) if a tenth of them are cached.

    In addition, LHD has 7.7 MB of counts and densities, whatever the trace.
    """
    definition = find_policy(name)
    kernel = definition.kernel(10_000, 100_000, **definition.check({}))
    most = dict.fromkeys(("lru", "mru", "fifo", "clock", "random", "sieve"), 16) | {"gdsf": 72}
    besides = 16 * 20_000 * 3 * 8 if name == "lhd" else 0
    assert 1 <= (kernel.memory - besides) / 100_000 <= most.get(name, 32)


def test_lru2_refuses_to_remember_no_use():
    definition = find_policy("lru2")
    with pytest.raises(ValueError, match="k is 0; expected 1 or more uses"):
        definition.kernel(10, 50, **definition.check({}) | {"k": 0})


def test_lru2_takes_16_bytes_for_each_block_set_aside():
    definition = find_policy("lru2")
    without, beside = (
        definition.kernel(10_000, 100_000, **definition.check({"correlated_period": period})).memory
        for period in (0, 100)
    )
    assert 16 * 10_000 <= beside - without <= 16 * 10_010


BAD = [float("nan"), float("inf"), -1, True, "7", "x", [1], 10**30]
PARAMETERS = [(name, p) for name in POLICIES for p in find_policy(name).parameters]


@pytest.mark.parametrize("name, parameter", PARAMETERS, ids=lambda x: getattr(x, "name", x))
def test_impossible_values_are_named(name, parameter):
    bad = BAD + ([parameter.minimum + 0.5] if parameter.kind is int else [])
    bad += [None] if parameter.default is not None else []
    assert bad
    for value in bad:
        with pytest.raises(ParameterError) as error:
            find_policy(name).check({parameter.name: value})
        message = str(error.value)
        assert message.startswith(f"{name}: {parameter.name} is {value!r}; expected a")
        low, high = re.search(r" from (\S+) to (\S+)", message).groups()
        assert (float(low), float(high)) == (float(parameter.minimum), float(parameter.maximum))


@pytest.mark.parametrize("name", POLICIES)
def test_unknown_parameters_are_named(name):
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'sise'; it has "):
        find_policy(name).check({"sise": 1})


@pytest.mark.parametrize(
    ("function", "wrong", "right"),
    [(simulate, "prefetcher", "prefetch"), (hit_ratio_curve, "warmup", "warm_up"), (penalty, "client", "clients"),
     (byte_hit_ratio_curve, "thread", "threads")],
)  # fmt: skip
def test_an_argument_that_is_not_one_of_the_function_is_suggested_as_it_is_spelt(function, wrong, right):
    device = ["5ms"] if function is penalty else []
    with pytest.raises(
        ParameterError, match=rf"lru has no parameter '{wrong}'.*, did you mean '{right}'\?; it has none"
    ):
        function([1, 2, 1], "lru", 2, *device, **{wrong: 1})


@pytest.mark.parametrize("name, parameter", PARAMETERS, ids=lambda x: getattr(x, "name", x))
def test_parameters_can_be_set_everywhere(name, parameter):
    """Parameters are keywords of `simulate` and `hit_ratio_curve`, so they must not have names that these use."""
    for function in (simulate, hit_ratio_curve):
        assert parameter.name not in inspect.signature(function).parameters


def test_numpy_numbers_are_numbers():
    parameter = Parameter("kin", 0.25, "share", 0, 1, float)
    assert parameter.check(np.float32(0.5), "2q") == 0.5
    whole = Parameter("queues", 8, "queues", 1, 32).check(np.int64(4), "mq")
    assert (whole, type(whole)) == (4, int)


@pytest.mark.parametrize(("kind", "value"), [(int, float("inf")), (float, 10**400)])
def test_a_number_beyond_its_type_is_named(kind, value):
    with pytest.raises(ParameterError, match=f"mine: step is {value!r}; expected a .*number from 0 to inf"):
        Parameter("step", 1, "accesses", kind=kind).check(value, "mine")


def test_fbr_sections_have_to_fit():
    with pytest.raises(ParameterError, match=r"fbr: f_new \+ f_old is 1.2; expected at most 1"):
        find_policy("fbr").check({"f_new": 0.6, "f_old": 0.6})


def test_mq_refuses_a_factor_of_a_life_time_that_is_given():
    with pytest.raises(ParameterError, match="mq: life_time_factor is 2 and life_time is 50; expected only one"):
        find_policy("mq").check({"life_time": 50, "life_time_factor": 2})
    assert find_policy("mq").check({"life_time": 50})["life_time_factor"] == 1


def test_simplified_2q_has_no_names():
    with pytest.raises(ParameterError, match="2q: kout is 2 and simplified is 1; expected only one of them"):
        find_policy("2q").check({"kout": 2, "simplified": 1})
    assert find_policy("2q").check({"kout": 0, "simplified": 1})["kout"] == 0


def test_fbr_old_section_holds_a_block_at_least():
    """Even if the new section is to take the whole cache, the old section must keep one block."""
    ids = np.random.default_rng(3).zipf(1.3, 2000) % 30
    for capacity in (1, 2, 7):
        parameters = {"f_new": 1.0, "f_old": 0.0}
        hit, _ = kernel_outcome("fbr", capacity, ids.tolist(), parameters)
        assert hit.tolist() == reference_outcome("fbr", capacity, ids.tolist(), parameters).tolist()


@pytest.mark.parametrize("name", ["lru2", "lfru", "fbr"])
def test_a_history_is_at_most_a_thousand_caches(name):
    assert find_policy(name).check({"history": 1000})["history"] == 1000
    with pytest.raises(ParameterError, match=r"history is 1000\.5; expected a number from 0 to 1000"):
        find_policy(name).check({"history": 1000.5})


@pytest.mark.parametrize("name", ["lrfu", "lfru"])
def test_lambda_is_at_most_1(name):
    """With lambda 1 both policies are LRU, and the paper has no larger value."""
    assert find_policy(name).check({"lam": 1})["lam"] == 1
    with pytest.raises(ParameterError, match="lam"):
        find_policy(name).check({"lam": 1.01})


def test_unknown_policy_lists_the_known():
    with pytest.raises(ParameterError, match=r"unknown policy 'lur', did you mean 'lru'\?; known policies: .*lru, "):
        find_policy("lur")


@pytest.mark.parametrize("name", POLICIES)
def test_each_policy_is_documented(name):
    definition = find_policy(name)
    text = inspect.getmodule(definition.reference).__doc__
    assert isinstance(definition, Definition)
    assert "Paper: " in text
    assert "Deviations" in text
    assert definition.summary
    assert all(p.doc for p in definition.parameters)


@pytest.mark.parametrize("name, parameters", [case for case in CASES if not find_policy(case.values[0]).offline])
def test_contents_tell_the_coming_outcome(name, parameters):
    """`block in kernel` must be true exactly if the block's next reference would hit; testing must change nothing."""
    ids, blocks = dense(made_traces(200)["mixed"])
    kernel = find_policy(name).kernel(9, blocks, **find_policy(name).check(parameters))
    hit = np.zeros(1, np.uint8)
    expected, _ = kernel_outcome(name, 9, ids, parameters)
    assert ids.size == 200
    for i in range(ids.size):
        inside = [block in kernel for block in range(blocks)]
        assert sum(inside) == kernel.resident
        assert -1 not in kernel and blocks not in kernel
        kernel.replay(ids[i : i + 1], hit)
        assert inside[ids[i]] == hit[0] == expected[i]
        assert ids[i] in kernel


def test_contents_of_an_offline_policy_are_not_known():
    with pytest.raises(TypeError, match="OPT looks into the future"):
        assert 0 not in find_policy("opt").kernel(2, 3)


def test_replay_refuses_a_short_outcome():
    kernel = find_policy("lru").kernel(2, 3)
    with pytest.raises(IndexError, match="hit has length 3; expected at least"):
        kernel.replay(np.zeros(4, np.uint32), np.zeros(3, np.uint8))
    kernel.replay(np.zeros(0, np.uint32), np.zeros(0, np.uint8))
    assert kernel.requests == 0


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("stray", [5, 6, 2**32 - 1])
def test_replay_refuses_ids_it_has_no_node_for(name, stray):
    kernel = find_policy(name).kernel(2, 5, **find_policy(name).check({}))
    ids, hit = np.array([0, 4, 1, stray, 0] * 9, np.uint32), np.full(45, 7, np.uint8)
    with pytest.raises(IndexError, match=f"ids hold block {stray}; expected ids below 5"):
        kernel.replay(ids, hit)
    assert set(hit) == {7} and (kernel.requests, kernel.resident) == (0, 0)
    kernel.replay(ids[:3], hit)
    assert (hit[:3].tolist(), kernel.requests) == ([0, 0, 0], 3)
