"""Test miss counts on the committed excerpt of a real TPC-C capture (10 warehouses, 150,000 reads and 55,845 writes).

The counts are those of libCacheSim 0.3.5, recorded on 2026-11-21 (unit size, cold start, its defaults except LRU-K with
k = 2).
"""

from pathlib import Path

import numpy as np
import pytest

from misspenalty import open_trace, simulate

LIBCACHESIM = [
    # Each row has the policy, its parameters, and the misses with 100, 1000 and 4000 blocks.
    ("lru", {}, (205409, 196871, 107185)),
    ("lfu", {}, (202674, 188568, 144796)),
    ("opt", {}, (185247, 109228, 61385)),
    ("2q", {}, (202747, 185822, 95052)),
    ("lru2", {"history": 0}, (202674, 188568, 144796)),
    ("mq", {"life_time": 10_000, "recall_first": 1}, (200132, 169925, 112710)),
    ("fifo", {}, (205409, 158313, 113535)),
    ("clock", {}, (205409, 196541, 108656)),
    ("sieve", {}, (202674, 188568, 144796)),
    ("slru", {"segments": 4, "protected": 0.75, "fill_up": 1}, (202988, 186424, 106279)),
    ("s3fifo", {}, (200958, 188095, 108379)),
    ("arc", {}, (201131, 158907, 117909)),
]


@pytest.fixture(scope="module")
def tpcc():
    return open_trace(Path(__file__).parents[1] / "data" / "tpcc_small.parquet")


@pytest.mark.parametrize("policy, parameters, misses", LIBCACHESIM)
def test_golden_misses(tpcc, policy, parameters, misses):
    assert (len(tpcc), tpcc.blocks) == (205_845, 31_066)
    for blocks, expected in zip((100, 1000, 4000), misses, strict=True):
        hits = np.zeros(len(tpcc), bool)
        simulate(tpcc, policy, blocks, hits=hits, **parameters)
        assert len(tpcc) - np.count_nonzero(hits) == expected
