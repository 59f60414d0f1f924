"""Prefix caches of prompts: a brute force, the study's counts, hand-made prompts, and what a trace is told to be."""

import json
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import InputError, ParameterError, open_trace
from misspenalty.cli.main import main
from misspenalty.replay.prefix import prefix_hit_ratio_curve, soundness
from misspenalty.traces.prompts import Prompts, read_prompts

DATA = Path(__file__).parents[1] / "data"
INPUTS = DATA / "inputs"


def slow(policy, chains, size, tail_first):
    """Blocks in contiguous prefixes, and blocks wherever they are, in an LRU or FIFO cache."""
    cache, prefix, anywhere = OrderedDict(), 0, 0
    for chain in chains:
        held = [block in cache for block in chain]
        anywhere += sum(held)
        for one in held:
            if not one:
                break
            prefix += 1
        for block in reversed(chain) if tail_first else chain:
            if block in cache:
                if policy == "lru":
                    cache.move_to_end(block)
                continue
            if len(cache) == size:
                cache.popitem(last=False)
            cache[block] = True
    return prefix, anywhere


def asked(chains, tokens=16):
    count = np.array([len(chain) for chain in chains])
    return Prompts(None, count * tokens, np.ones(len(chains)), count, np.concatenate(chains).astype(np.uint64), tokens)


chains = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=8, unique=True), min_size=1, max_size=30)


@pytest.mark.parametrize("policy", ["lru", "fifo"])
@settings(max_examples=100, deadline=None)
@given(chains=chains, size=st.integers(1, 12), tail_first=st.booleans())
def test_counts_equal_brute_force(policy, chains, size, tail_first):
    row = prefix_hit_ratio_curve(asked(chains), policy, size, tail_first=tail_first).iloc[0]
    assert (row["hits"], row["block_hits"]) == slow(policy, chains, size, tail_first)
    assert row["hit_tokens"] == 16 * row["hits"]
    assert row["hits"] <= row["possible_hits"]


def test_a_chain_loses_its_tail_first():
    """Room for 4 blocks: 1 2 3 4, then 9: with the tail used first, 4 is the least recent and leaves."""
    prompts = asked([[1, 2, 3, 4], [9], [1, 2, 3, 4]])
    assert prefix_hit_ratio_curve(prompts, "lru", 4)["hits"].tolist() == [3]
    assert prefix_hit_ratio_curve(prompts, "lru", 4, tail_first=False)["hits"].tolist() == [0]


def test_the_input_whose_prefix_is_missing():
    row = prefix_hit_ratio_curve(INPUTS / "31_prefix.jsonl", "lru", 4).iloc[0]
    assert (row["block_hits"], row["hits"]) == (2, 0)


def test_prompts_in_blocks_of_16_tokens_and_seconds():
    trace = open_trace(INPUTS / "09_prompts_16_tokens.jsonl")
    assert trace.block_bytes == 16 * 327_680
    assert trace.time.max() == 8_750_000_000
    assert prefix_hit_ratio_curve(INPUTS / "09_prompts_16_tokens.jsonl", "lru", "480MB")["cache_blocks"][0] == 96
    told = open_trace(INPUTS / "09_prompts_16_tokens.jsonl", unit="ms", block_tokens=15)
    assert (told.block_bytes, told.time.max()) == (15 * 327_680, 8_750_000)
    with pytest.raises(ParameterError, match="unit is 'h'"):
        open_trace(INPUTS / "09_prompts_16_tokens.jsonl", unit="h")


def test_sessions_without_times(tmp_path):
    trace = open_trace(INPUTS / "32_session_without_time.jsonl")
    assert trace.time is None
    assert (len(trace), trace.blocks) == (5, 3)
    mixed = tmp_path / "x.jsonl"
    line = '{"input_length": 600, "output_length": 1, "hash_ids": [1, 2]'
    mixed.write_text(line + "}\n" + line + ', "timestamp": 3}\n')
    with pytest.raises(InputError, match="line 2: a timestamp; expected times on all lines, or on none"):
        read_prompts(mixed)


def test_a_trace_of_prompts_is_told_to_be_sound_or_not():
    """By hand: 3 follows 2, then 9; the third prompt has 1 twice. Of 2 known references, one is behind an unknown."""
    found = soundness(asked([[1, 2, 3], [1, 9, 3]]))
    assert (found["broken_chains"], found["repeat_hits"], found["unservable_share"]) == (1, 2, 0.5)
    sound = soundness(DATA / "prompts_small.jsonl")
    assert (sound["broken_chains"], sound["unservable_share"]) == (0, 0)
    assert soundness(asked([[1, 2, 1]]))["repeated"] == 1


def test_the_command(capsys):
    asked = ["curve", str(INPUTS / "31_prefix.jsonl"), "--prefix", "--size", "4"]
    assert main([*asked, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["policy"], row["cache_blocks"], row["requests"], row["block_hits"], row["hits"]) == ("lru", 4, 7, 2, 0)
    assert main(asked) == 0
    assert "hit ratio" in capsys.readouterr().out
    assert main([*asked, "--sample", "0.1"]) == 2
    assert "--prefix cannot be combined with --sample" in capsys.readouterr().err


# tokens of hits of kvcache-simulator 0.1.3 (PyPI; its Python policies) on the same trace, the first half as warm-up; it
# evicts leaves of its tree by recency, and enters a prompt from its head into FIFO
SIMULATED = {
    ("fifo", 5859): 8_712_833,
    ("fifo", 20_000): 18_136_580,
    ("lru", 5859): 9_286_131,
    ("lru", 20_000): 20_586_572,
}


@pytest.mark.parametrize(("policy", "size"), SIMULATED)
def test_kvcache_simulator_counts_the_same_tokens(policy, size):
    prompts = read_prompts(DATA.parents[1] / "data" / "raw" / "kvcache" / "conversation.jsonl.xz")
    row = prefix_hit_ratio_curve(prompts, policy, size, warm_up=6015, tail_first=policy == "lru").iloc[0]
    assert (row["hit_tokens"], row["requested_tokens"]) == (SIMULATED[policy, size], 67_915_607)


@pytest.mark.parametrize("policy", ["opt", "sarc"])
def test_what_cannot_be_a_prefix_cache(policy):
    with pytest.raises(ParameterError, match=f"{policy} cannot be a prefix cache"):
        prefix_hit_ratio_curve(INPUTS / "31_prefix.jsonl", policy, 4)
