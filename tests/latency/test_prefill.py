"""Test the time to first token, from function and command, against the paper's formulas and hand-made cases."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from misspenalty import ParameterError
from misspenalty.cli.main import main
from misspenalty.latency.prefill import Server, bandwidth, time_to_first_token
from misspenalty.replay.prefix import prefix_hit_ratio_curve
from misspenalty.traces.prompts import Prompts

INPUTS = Path(__file__).parents[1] / "data" / "inputs"


def test_formulas_by_hand():
    """With one layer of width 1, n tokens take (n² + n) s; reusing 2 saves 6 s; loading takes 1 s per token."""
    one = Server(layers=1, width=1, attention=1, linear=1, shared_heads=1, element_bytes=0.5, tflops=1e-12)
    assert one.prefill_s(np.array([3, 3]), np.array([0, 2])).tolist() == [12, 6]
    assert one.token_bytes == 1 and one.load_s(5, 1e-9) == 5


def test_prompts_by_hand():
    """The second prompt finds 2 of its 3 tokens: it loads for 2 s and computes for 6 s; the first computes for 12 s."""
    one = Server(layers=1, width=1, attention=1, linear=1, shared_heads=1, element_bytes=0.5, tflops=1e-12)
    asked = Prompts(None, np.array([3, 3]), np.ones(2), np.array([3, 3]), np.array([1, 2, 3, 1, 2, 4]), 1)
    row = time_to_first_token(asked, "lru", 4, "0.000000001GB/s", server=one).iloc[0]
    assert (row["mean_us"], row["prefill_us"], row["load_us"]) == (10e6, 9e6, 1e6)
    assert (row["token_hit_ratio"], row["saved_ratio"], row["slower"]) == (2 / 6, pytest.approx(1 / 6), 0)
    slow = time_to_first_token(asked, "lru", 4, "0.0000000001GB/s", server=one, warm_up=1).iloc[0]
    assert (slow["requests"], slow["mean_us"], slow["slower"]) == (1, 26e6, 1)


def test_a_size_in_bytes_is_a_number_of_blocks_of_tokens():
    """A block takes the bytes of its 16 tokens; a cache of 4 blocks must keep a prompt of 4 blocks until it comes
    again."""
    asked = Prompts(None, np.array([64, 64]), np.ones(2), np.array([4, 4]), np.tile(np.arange(4), 2), 16)
    size = 4 * 16 * round(Server().token_bytes)
    table = time_to_first_token(asked, "lru", [f"{size}B", f"{size - 1}B", 4, 3])
    assert table["cache_blocks"].tolist() == [4, 3, 4, 3]
    assert table["token_hit_ratio"].tolist() == [0.5, 0.375, 0.5, 0.375]


def test_a_block_may_have_many_tokens():
    """4096 tokens take 1.25 GiB in the cache, more than a block of a trace may have."""
    asked = Prompts(None, np.array([8192, 8192]), np.ones(2), np.array([2, 2]), np.array([1, 2, 1, 2]), 4096)
    for replay in (time_to_first_token, prefix_hit_ratio_curve):
        table = replay(asked, "lru", [2, "2.5GB", "1.25GB"])
        assert table["cache_blocks"].tolist() == [2, 2, 1]
        assert table["token_hit_ratio"].tolist() == [0.5, 0.5, 0.25]


def test_policies_have_the_names_that_other_tables_give_them():
    prompts = Prompts(None, np.array([16]), np.ones(1), np.array([1]), np.array([1]), 16)
    for table in (time_to_first_token, prefix_hit_ratio_curve):
        assert table(prompts, ["LRU", "belady"], 4)["policy"].tolist() == ["lru", "opt"]


@pytest.mark.parametrize(("policy", "place", "missing"), [([], "dram", "policy"), ("lru", [], "place")])
def test_a_call_without_a_policy_or_place_is_refused(policy, place, missing):
    asked = Prompts(None, np.array([16]), np.ones(1), np.array([1]), np.array([1]), 16)
    with pytest.raises(ParameterError, match=f"no {missing} given"):
        time_to_first_token(asked, policy, 4, place)


def test_the_warm_up_leaves_a_prompt_to_count():
    asked = Prompts(None, np.array([3, 3]), np.ones(2), np.array([3, 3]), np.array([1, 2, 3, 1, 2, 4]), 1)
    assert time_to_first_token(asked, "lru", 4, warm_up=1)["requests"].tolist() == [1]
    with pytest.raises(ParameterError, match="warm_up is 2; expected a whole number from 0 to 1"):
        time_to_first_token(asked, "lru", 4, warm_up=2)


def test_the_command(capsys):
    asked = [
        "penalty",
        str(INPUTS / "09_prompts_16_tokens.jsonl"),
        "--prefix",
        "--policy",
        "lru,opt",
        "--size",
        "480MB",
    ]
    assert main([*asked, "--device", "dram,ssd", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["policy"], row["device"], row["requests"]) for row in rows] == [
        (policy, device, 3) for policy in ("lru", "opt") for device in ("dram", "ssd")
    ]
    assert rows[0]["token_hit_ratio"] == pytest.approx((48 + 32) / 129)
    assert main([*asked, "--device", " dram , ssd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rows
    assert main([*asked, "--device", "dram", "--warm-up", "1", "--tflops", "5000"]) == 0
    assert "token hit ratio" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--device", "sdd"], "is not a place for a cache of prompts, did you mean 'ssd'"),
        (["--device", "dram", "--clients", "4"], "--prefix cannot be combined with --clients"),
        (["--device", "dram", "--warm-up", "10m"], "expected a number of prompts .6000. or a share"),
        (["--device", "dram", "--tflops", "0"], "tflops is 0"),
    ],
)
def test_impossible_requests(capsys, options, message):
    asked = ["penalty", str(INPUTS / "09_prompts_16_tokens.jsonl"), "--prefix", "--policy", "lru", "--size", "4"]
    assert main([*asked, *options]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_place_is_known():
    with pytest.raises(ParameterError, match="'0 GB/s' is not a place"):
        bandwidth("0 GB/s")
    assert bandwidth("10GB/s") == bandwidth("10 gb/s") == 10
    with pytest.raises(ParameterError, match=r"'10Gb/s' is in bits; write it in bytes, 1\.25GB/s"):
        bandwidth("10Gb/s")
