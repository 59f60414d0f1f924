"""Test prefix caches against brute force, kvcache-simulator and hand-made cases; test the check of traces, too."""

import argparse
import itertools
import json
import lzma
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kvcache_sim.plan import build_execution_plan
from kvcache_sim.policies import simulate_policy
from kvcache_sim.trace import parse_trace_lines

from misspenalty import InputError, ParameterError, open_trace, simulate
from misspenalty.cli import prompts as cli_prompts
from misspenalty.cli.completion import commands
from misspenalty.cli.main import main, parser
from misspenalty.replay.prefix import prefix_hit_ratio_curve, prefix_hits
from misspenalty.traces.prompts import Prompts, read_prompts, soundness

DATA = Path(__file__).parents[1] / "data"
INPUTS = DATA / "inputs"


def slow(policy, chains, size, tail_first):
    """Count the hits in contiguous prefixes and the hits anywhere, in an LRU or FIFO cache."""
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
    """With room for 4 blocks, 9 follows 1 2 3 4: if the tail is used first, 4 is the least recent and is evicted."""
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
    with pytest.raises(InputError, match="has no timestamps; expected times in s; leave out --unit"):
        open_trace(INPUTS / "32_session_without_time.jsonl", unit="s")
    mixed = tmp_path / "x.jsonl"
    line = '{"input_length": 600, "output_length": 1, "hash_ids": [1, 2]'
    mixed.write_text(line + "}\n" + line + ', "timestamp": 3}\n')
    with pytest.raises(InputError, match="line 2: has a timestamp; expected times on all lines, or on none"):
        read_prompts(mixed)


def test_prompts_are_reported_as_sound_or_not():
    """By hand, block 3 follows block 2 and later block 9; of two repeated blocks, one comes after a new block; the last
    prompt has block 1 twice."""
    found = soundness(asked([[1, 2, 3], [1, 9, 3]]))
    assert (found["broken_chains"], found["repeat_hits"], found["unservable_share"]) == (1, 2, 0.5)
    sound = soundness(DATA / "prompts_small.jsonl")
    assert (sound["broken_chains"], sound["unservable_share"]) == (0, 0)
    assert soundness(asked([[1, 2, 1]]))["repeated"] == 1


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5), min_size=1, max_size=6))
def test_soundness_is_what_the_definition_says(prompts):
    """Compare each block's predecessor with that at its first reference, and look the block up in earlier prompts."""
    before, seen = {}, set()
    broken = repeated = hits = behind = 0
    for blocks in prompts:
        for place, block in enumerate(blocks):
            previous = blocks[place - 1] if place else None
            broken += before.setdefault(block, previous) != previous
            repeated += block in blocks[:place]
            hits += block in seen
            behind += block in seen and not set(blocks[:place]) <= seen
        seen |= set(blocks)
    found = soundness(asked(prompts))
    assert (found["broken_chains"], found["repeated"], found["repeat_hits"]) == (broken, repeated, hits)
    assert found["unservable_share"] == pytest.approx(behind / hits if hits else 0)


def test_the_trace_says_whether_its_prompts_are_sound(tmp_path, capsys):
    assert main(["trace", "info", str(DATA / "prompts_small.jsonl")]) == 0
    assert "each block always follows the same one" in capsys.readouterr().out
    path = tmp_path / "odd.jsonl"
    line = '{{"timestamp": {}, "input_length": 1024, "output_length": 1, "hash_ids": {}}}\n'
    path.write_text(line.format(0, [1, 2]) + line.format(1, [9, 2]))
    assert main(["curve", str(path), "--policy", "lru", "--size", "2"]) == 0
    said = capsys.readouterr().err
    assert "1 of 4 references do not follow the block that the first reference to the same block follows" in said
    assert "100.00% of the references to known blocks follow an unknown one" in said
    assert open_trace(path).reading.prefixes["repeat_hits"] == 1


def test_the_command(capsys):
    asked = ["curve", str(INPUTS / "31_prefix.jsonl"), "--prefix", "--size", "4"]
    assert main([*asked, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["policy"], row["cache_blocks"], row["requests"], row["block_hits"], row["hits"]) == ("lru", 4, 7, 2, 0)
    assert main(asked) == 0
    assert "hit ratio" in capsys.readouterr().out
    assert main([*asked, "--sample", "0.1"]) == 2
    assert "--prefix cannot be combined with --sample" in capsys.readouterr().err


@pytest.mark.parametrize("policy", ["lru", "opt"])
def test_a_warm_up_that_leaves_only_prompts_without_blocks_is_refused(policy):
    prompts = Prompts(None, np.array([32, 8]), np.zeros(2), np.array([2, 0]), np.array([1, 2], np.uint64), 16)
    assert prefix_hit_ratio_curve(prompts, policy, 4)["requests"].tolist() == [2]
    with pytest.raises(ParameterError, match="a warm-up of 1 prompt leaves only prompts without blocks"):
        prefix_hit_ratio_curve(prompts, policy, 4, warm_up=1)


@pytest.mark.parametrize("command", ["curve", "penalty"])
def test_prompts_are_read_from_standard_input(capsys, command):
    """A dash must mean standard input, as for other traces."""
    path, options = INPUTS / "31_prefix.jsonl", ["--prefix", "--policy", "lru", "--size", "4", "--json"]
    words = [sys.executable, "-m", "misspenalty", command, "-", *options, *DEVICE[command]]
    done = subprocess.run(words, input=path.read_text(), capture_output=True, text=True, check=False)
    assert main([command, str(path), *options, *DEVICE[command]]) == 0
    assert (done.returncode, done.stderr, done.stdout) == (0, "", capsys.readouterr().out) and done.stdout


@pytest.mark.parametrize("command", ["curve", "penalty"])
def test_a_compiled_trace_of_prompts_is_refused(tmp_path, capsys, command):
    open_trace(INPUTS / "31_prefix.jsonl").save(tmp_path / "prompts.trace")
    assert main([command, str(tmp_path / "prompts.trace"), "--prefix", "--size", "4", *DEVICE[command]]) == 2
    said = capsys.readouterr().err
    assert "prompts.trace: is a folder; expected a file of prompts" in said and "name the file that it was made" in said


def options_of(command):
    """Yield each option of a command, with a value other than its default, and the name under which it is parsed."""
    for action in dict(commands(parser()))[command,]._actions:
        if action.option_strings and action.dest != "help":
            values = (
                [] if action.nargs == 0 else [next((str(c) for c in action.choices or () if c != action.default), "7")]
            )
            yield action.dest, [action.option_strings[0], *values]


READ = {"curve": cli_prompts.CURVE, "penalty": cli_prompts.PENALTY}
DEVICE = {"curve": [], "penalty": ["--device", "dram"]}
OTHERS = [(command, *given) for command in READ for dest, given in options_of(command) if dest not in READ[command]]


@pytest.mark.parametrize("given", OTHERS, ids=" ".join)
def test_an_option_that_prompts_do_not_heed_is_refused(capsys, given):
    """The options come from the commands, so a new one must be refused or be in the list of those that are read."""
    command, *option = given
    asked = [command, str(INPUTS / "31_prefix.jsonl"), "--prefix", "--size", "4", *DEVICE[command]]
    assert main([*asked, *option]) == 2
    assert capsys.readouterr().err == (
        f"misspenalty: --prefix cannot be combined with {option[0]}; leave out one of them\n"
    )


@pytest.mark.parametrize("command", READ)
def test_options_that_are_said_to_be_read_are_read(command):
    class Noted(argparse.Namespace):
        def __getattribute__(self, name):
            read.add(name)
            return super().__getattribute__(name)

    read = set()
    asked = [command, str(INPUTS / "31_prefix.jsonl"), "--prefix", "--size", "4", *DEVICE[command]]
    options = parser().parse_args(asked, Noted(rest=[]))
    read.clear()
    getattr(cli_prompts, command)(options)
    shown = {"json", "csv", "wide", "quiet"}
    assert shown | read & {dest for dest, _ in options_of(command)} == {*READ[command], "quiet"} - {"prefix"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--clients", "0"], "--prefix cannot be combined with --clients"),
        (["--format", "lirs"], "--prefix reads prompts of the format mooncake; leave out --format lirs"),
        (["--unit", "h"], "unit is 'h'; expected one of ms, s"),
        (["--block-tokens", "x"], "block_tokens is 'x'; expected a whole number from 1 to 1048576"),
        (["--block-tokens", "0"], "block_tokens is 0; expected a whole number from 1 to 1048576"),
    ],
)
def test_options_of_prompts_are_checked(capsys, options, message):
    asked = ["penalty", str(INPUTS / "31_prefix.jsonl"), "--prefix", "--size", "4", "--device", "dram"]
    assert main([*asked, "--format", "Mooncake", "--unit", "ms", "--block-tokens", "512"]) == 0
    assert main([*asked, *options]) == 2
    assert message in capsys.readouterr().err


CONVERSATION = DATA.parents[1] / "data" / "raw" / "kvcache" / "conversation.jsonl.xz"
THERE = {"fifo": "fifo", "lru": "lru", "opt": "optimal"}


class Counted(list):
    """A list that counts how often each of its numbers is looked up."""

    def __init__(self, values):
        super().__init__(values)
        self.looks = np.zeros(len(values), np.int64)

    def __getitem__(self, place):
        self.looks[place] += 1
        return super().__getitem__(place)


@pytest.fixture(scope="module")
def plan():
    """Read the conversation trace as kvcache-simulator does; the trace's first half warms the cache up."""
    with lzma.open(CONVERSATION, "rt") as lines:
        return build_execution_plan(parse_trace_lines(lines, block_size=512))


@pytest.mark.parametrize("policy", THERE)
@pytest.mark.parametrize("size", [5859, 20_000])
def test_kvcache_simulator_has_the_same_prefix_of_every_request(plan, policy, size):
    """The simulator looks up a counted block's tokens once, or twice if it hits; its FIFO loads the head first."""
    prompts = read_prompts(CONVERSATION)
    plan.tokens = Counted(list(plan.tokens))
    total = simulate_policy(plan, THERE[policy], size)
    expected = np.add.reduceat(plan.tokens.looks == 2, plan.request_starts[:-1])
    found = prefix_hits(prompts, policy, size, tail_first=policy != "fifo")
    warm = plan.warmup_requests
    assert (warm, len(found)) == (6015, 12_031)
    assert found[warm:].tolist() == expected[warm:].tolist()
    row = prefix_hit_ratio_curve(prompts, policy, size, warm_up=warm, tail_first=policy != "fifo").iloc[0]
    assert (row["hit_tokens"], row["requested_tokens"]) == (total.hitTokens, total.totalTokens)


def best_of_trees(prompts, capacity):
    """Find the maximum number of prefix hits of a cache of trees: try every set of blocks to keep after each prompt."""
    before = {block: ([None, *prompt])[place] for prompt in prompts for place, block in enumerate(prompt)}
    states = {frozenset(): 0}
    for prompt in prompts:
        after = {}
        for held, hits in states.items():
            hits += next((place for place, block in enumerate(prompt) if block not in held), len(prompt))
            every = sorted(held | set(prompt))
            for size in range(min(capacity, len(every)) + 1):
                for kept in map(frozenset, itertools.combinations(every, size)):
                    if all(before[block] in (None, *kept) for block in kept):
                        after[kept] = max(after.get(kept, 0), hits)
        states = after
    return max(states.values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=3), min_size=2, max_size=6), st.integers(1, 4))
def test_no_policy_hits_more_than_the_best_schedule(paths, capacity):
    """Blocks are numbered by the path that leads to them, so equal numbers mean equal prefixes, as equal hashes do."""
    numbers = {}
    prompts = [
        [numbers.setdefault(tuple(path[: end + 1]), len(numbers) + 1) for end in range(len(path))] for path in paths
    ]
    best = best_of_trees(prompts, capacity)
    counts = {name: int(prefix_hits(asked(prompts), name, capacity).sum()) for name in ("opt", "lru", "fifo")}
    assert max(counts.values()) <= best


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 8))
def test_the_optimum_of_prompts_of_one_block_is_belady_s_with_bypassing(blocks, capacity):
    hits = prefix_hits(asked([[block] for block in blocks]), "opt", capacity)
    assert hits.sum() == simulate(blocks, "opt_bypass", capacity).hits


def test_an_error_ends_the_other_replays(monkeypatch):
    begun, used = threading.Event(), []

    def fails(cache, prompt):
        begun.wait(60)
        raise ValueError("no such block")

    def runs_on(cache, prompt):
        begun.set()
        used.append(prompt)
        time.sleep(0.01)

    monkeypatch.setattr("misspenalty.replay.prefix.OptimalTree.use", fails)
    monkeypatch.setattr("misspenalty.replay.prefix._Kernel.use", runs_on)
    with pytest.raises(ValueError, match="no such block"):
        prefix_hit_ratio_curve(asked([[1]] * 1000), ["opt", "lru"], 4, threads=2)
    assert 0 < len(used) < 1000


def test_a_call_without_a_policy_is_refused():
    with pytest.raises(ParameterError, match="no policy given"):
        prefix_hit_ratio_curve(asked([[1]]), [], 4)


def test_the_hits_of_each_prompt_are_those_at_one_size():
    """Two sizes must be refused; the second one used to be ignored."""
    with pytest.raises(ParameterError, match="2 cache sizes given; name one, or use prefix_hit_ratio_curve"):
        prefix_hits(asked([[1]]), "lru", [4, 5])


def test_prompts_without_tokens_have_no_ratio_of_tokens():
    empty = replace(asked([[1], [1]]), input_tokens=np.zeros(2, np.int64))
    row = prefix_hit_ratio_curve(empty, "lru", 4).iloc[0]
    assert (row["hits"], row["requested_tokens"]) == (1, 0) and np.isnan(row["token_hit_ratio"])


@pytest.mark.parametrize("policy", ["opt_bypass", "sarc"])
def test_what_cannot_be_a_prefix_cache(policy):
    with pytest.raises(ParameterError, match=f"{policy} cannot be a prefix cache"):
        prefix_hit_ratio_curve(INPUTS / "31_prefix.jsonl", policy, 4)
