"""Caches by bytes: an independent program's and libCacheSim's counts, a slow reference, impossible settings."""

from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty import ParameterError, Trace, byte_hit_ratio_curve, open_trace, simulate
from misspenalty.cli.main import main
from misspenalty.policies._bytes import ByteCache
from misspenalty.replay.by_bytes import RULES

LIBCACHESIM = {  # misses of libCacheSim 0.3.5 on the same trace, by bytes of the cache
    1 << 20: {"fifo": 56260, "lru": 55704, "clock": 55408, "sieve": 54646},
    1 << 22: {"fifo": 52890, "lru": 52240, "clock": 52034, "sieve": 50746},
    1 << 24: {"fifo": 49536, "lru": 48598, "clock": 48304, "sieve": 45892},
    1 << 26: {"fifo": 45247, "lru": 43988, "clock": 43492, "sieve": 42843},
}


def slow(rule, blocks, size, room):
    """Hits of a cache of `room` bytes, read off the definitions."""
    cache, hits, hand = OrderedDict(), [], None  # object: used again; the oldest first
    for block in blocks:
        hits.append(block in cache)
        if block in cache:
            cache[block] = True
            if rule == "lru":
                cache.move_to_end(block)
        elif size[block] <= room:
            while sum(size[one] for one in cache) + size[block] > room:
                order = list(cache)
                if rule == "clock":
                    while cache[order[0]]:
                        cache[order[0]] = False
                        cache.move_to_end(order[0])
                        order = list(cache)
                    victim = order[0]
                elif rule == "sieve":
                    at = order.index(hand) if hand in cache else 0
                    while cache[order[at]]:
                        cache[order[at]] = False
                        at = (at + 1) % len(order)
                    victim, hand = order[at], order[at + 1] if at + 1 < len(order) else None
                else:
                    victim = order[0]
                del cache[victim]
            cache[block] = False
    return sum(hits)


@pytest.mark.parametrize("rule", ["fifo", "lru", "clock", "sieve"])
@given(blocks=st.lists(st.integers(0, 9), min_size=1, max_size=80), room=st.integers(1, 40), seed=st.integers(0, 9))
def test_kernel_equals_slow_reference(rule, blocks, room, seed):
    size = np.random.default_rng(seed).integers(1, 15, 10)
    trace = Trace.from_blocks(blocks, object_bytes=size[blocks])
    row = byte_hit_ratio_curve(trace, rule, room).iloc[0]
    assert row["hits"] == slow(rule, blocks, size, room)
    assert row["refused"] == sum(int(size[block]) > room for block in blocks)
    assert row["requested_bytes"] == size[blocks].sum()


@pytest.mark.parametrize("policy", ["fifo", "lru", "clock", "sieve"])
def test_equal_sizes_are_blocks(policy):
    blocks = np.random.default_rng(3).zipf(1.3, 5000) % 300
    by_bytes = byte_hit_ratio_curve(Trace.from_blocks(blocks, block_bytes=512), policy, 50 * 512).iloc[0]
    assert by_bytes["hits"] == simulate(blocks, policy, 50).hits


@pytest.mark.parametrize("policy", RULES)
def test_a_cache_tells_what_it_holds_and_what_it_has_evicted(policy):
    ids = (np.random.default_rng(5).zipf(1.3, 3000) % 100).astype(np.uint32)
    size = np.random.default_rng(6).integers(1, 60, 100)
    cache, hit = ByteCache(1, 100, RULES.index(policy), 50, size), np.zeros(3000, np.uint8)
    cache.replay(ids, hit)
    held = np.array([block in cache for block in range(100)])
    assert (cache.resident, cache.used_bytes) == (held.sum(), size[held].sum())
    loaded = ids[(hit == 0) & (size[ids] <= 50)]
    assert cache.refused == np.count_nonzero(hit == 0) - loaded.size > 0
    assert (cache.evictions, cache.evicted_bytes) == (loaded.size - held.sum(), size[loaded].sum() - size[held].sum())


def test_rows_are_numbered_and_in_the_order_given():
    table = byte_hit_ratio_curve([1, 2, 1], ["lru", "fifo"], [8192, 4096], threads=2)
    assert table.index.tolist() == [0, 1, 2, 3]
    rows = [("lru", 8192, 1), ("lru", 4096, 0), ("fifo", 8192, 1), ("fifo", 4096, 0)]
    assert list(table[["policy", "cache_bytes", "hits"]].itertuples(index=False, name=None)) == rows


def test_other_programs_count_the_same(shared_traces):
    folder = shared_traces.parent / "extras"
    trace = open_trace(folder / "adapt_size_request.trace.xz", "adapt_size")
    truth = pd.read_csv(folder / "adapt_size_bytes_lru.csv")
    table = byte_hit_ratio_curve(trace, "lru", truth["cache_bytes"].tolist())
    assert table["misses"].tolist() == truth["lru_object_misses"].tolist()
    missed = table["requested_bytes"] - table["hit_bytes"]
    assert missed.tolist() == truth["lru_bytes_missed"].tolist()
    table = byte_hit_ratio_curve(trace, ["fifo", "lru", "clock", "sieve"], list(LIBCACHESIM))
    found = {size: group.set_index("policy")["misses"].to_dict() for size, group in table.groupby("cache_bytes")}
    assert found == LIBCACHESIM


@pytest.mark.parametrize(
    ("policy", "size", "message"),
    [
        (
            "arc",
            10,
            "policy 'arc' is not defined for objects of different sizes; those that are: fifo, lru, clock, sieve",
        ),
        ("seive", 10, "did you mean 'sieve'"),
        ("lru", 0, "cache size is 0 bytes"),
        ("lru", 1 << 62, "cache size is 4611686018427387904 bytes"),
        ("lru", 1.5, "cache size is 1.5 bytes"),
    ],
)
def test_impossible_settings(policy, size, message):
    with pytest.raises(ParameterError, match=message):
        byte_hit_ratio_curve([1, 2], policy, [size])


def test_the_command(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("key,size\na,10\nb,20\na,10\nc,99\na,10\n")
    assert (
        main(["curve", str(tmp_path / "x.csv"), "--by-bytes", "--policy", "lru,fifo", "--size", "30,50%", "--csv"]) == 0
    )
    assert capsys.readouterr().out.splitlines()[1] == "lru,30,5,2,3,0.4,149,20,0.1342281879194631,1,0"
    assert main(["curve", str(tmp_path / "x.csv"), "--by-bytes", "--size", "30", "--prefetch", "sequential"]) == 2
