"""Test miss counts on the committed excerpt of a real TPC-C capture (10 warehouses, 150,000 reads and 55,845 writes).

The counts were recorded on 2026-11-21. The first table has those of libCacheSim 0.3.5 (unit size, cold start, its
defaults except LRU-K with k = 2), the others those of the pure-Python references, some of which take too long for the
larger caches.
"""

from pathlib import Path

import numpy as np
import pytest

from misspenalty import open_trace, simulate

LIBCACHESIM = [
    # policy, parameters, misses with 100, 1000 and 4000 blocks
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
REFERENCES = [
    ("mq", {}, (205427, 176942, 111462)),
    ("mq", {"recall_first": 1}, (205427, 176942, 111461)),
    ("mru", {}, (205128, 198167, 175268)),
    ("lfru", {}, (205093,)),
    ("lru2", {}, (200326,)),
    ("fbr", {}, (203259,)),
    ("clock", {"bits": 2}, (205409, 196549, 106549)),
    ("random", {}, (205415, 179287, 120187)),
    ("slru", {}, (202637, 188479, 128633)),
    ("s3fifo", {"fill_main": 0}, (201786, 188395, 104268)),
    ("wtinylfu", {}, (202898, 174189, 120498)),
    ("car", {}, (201111, 163003, 114923)),
    ("lirs", {}, (203846, 188065, 136129)),
    ("clockpro", {}, (200797,)),
    ("lrfu", {}, (205314,)),
    ("sarc", {}, (205409,)),
    ("lru_bottom", {}, (205410,)),
    ("2q", {"simplified": 1}, (202495, 188391, 109765)),
]
LRUK = [
    # parameters, misses of the reference with 300 blocks
    ({"k": 3}, 194556),
    ({"k": 3, "history": 20.0, "correlated_period": 50}, 194789),
    ({"k": 4, "history": 40.0}, 195878),
]


@pytest.fixture(scope="module")
def tpcc():
    return open_trace(Path(__file__).parents[1] / "data" / "tpcc_small.parquet")


@pytest.mark.parametrize("policy, parameters, misses", LIBCACHESIM + REFERENCES)
def test_golden_misses(tpcc, policy, parameters, misses):
    assert (len(tpcc), tpcc.blocks) == (205_845, 31_066)
    for blocks, expected in zip((100, 1000, 4000), misses, strict=False):
        hits = np.zeros(len(tpcc), bool)
        simulate(tpcc, policy, blocks, hits=hits, **parameters)
        assert len(tpcc) - np.count_nonzero(hits) == expected


@pytest.mark.parametrize("parameters, misses", LRUK)
def test_golden_misses_of_lru_k(tpcc, parameters, misses):
    hits = np.zeros(len(tpcc), bool)
    simulate(tpcc, "lru2", 300, hits=hits, **parameters)
    assert len(tpcc) - np.count_nonzero(hits) == misses
