"""Arguments of the public functions, given values of any kind, lead to a result or a clear message."""

import decimal
import fractions
import pathlib
import warnings

import numpy as np
import pandas as pd
import pytest

import misspenalty
from misspenalty import disks
from misspenalty.errors import MissPenaltyError
from misspenalty.latency.prefill import Server, time_to_first_token
from misspenalty.traces import Trace
from misspenalty.traces.prompts import Prompts

TRACE = Trace.from_blocks([1, 2, 3, 1, 2, 3] * 5, write=[False, True, False] * 10, time=np.arange(30) * 1000)
VALUES = [
    *(None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**30, 2**64 - 1, -(2**63), 1j, decimal.Decimal("1.5")),
    *("", "x", "5", b"x", "\0", "é" * 5000, pathlib.Path("/nonexistent")),
    *([], [None], ["lru", None], {}, (), range(0), slice(3), iter([1]), object(), int, len, type("Empty", (), {})),
    *(np.array(value) for value in ([[1, 2]], [1.5], ["a"], [None])),
    *(np.ma.masked_array([1, 2], mask=[False, True]), np.float64(3), np.datetime64(1, "s")),
    *(pd.Series([1, 2]), pd.DataFrame({"a": [1]})),
    *(fractions.Fraction(1, 3), 10**400, np.array(2), np.ma.masked, np.timedelta64(1, "D"), np.timedelta64(1)),
]
PROMPTS = Prompts(None, np.array([1024, 1536]), np.zeros(2), np.array([2, 3]), np.array([1, 2, 1, 2, 3]), 512)
PREFIX = {"prompts": PROMPTS, "policy": "lru", "cache_blocks": 4}
STEPS = {"requests": [1, 2, 1], "policy": "lru", "cache_blocks": 1, "fetch_steps": 2}
CALLS = [  # function, valid arguments, names of optional ones
    (
        misspenalty.simulate,
        {"trace": TRACE, "policy": "lru", "cache_blocks": 2},
        "writes warm_up prefetch hits progress unit size_changes",
    ),
    (
        misspenalty.hit_ratio_curve,
        {"trace": TRACE, "policy": "arc", "cache_blocks": [2]},
        "writes warm_up threads sample sample_seed prefetch progress totals unit size_changes",
    ),
    (
        misspenalty.byte_hit_ratio_curve,
        {"trace": TRACE, "policy": "lru", "cache_bytes": 8192},
        "writes warm_up threads",
    ),
    (misspenalty.stack_distances, {"trace": TRACE}, "writes"),
    (
        misspenalty.penalty,
        {"trace": TRACE, "policy": "lru", "cache_blocks": 2, "device": "1ms"},
        "writes warm_up clients think speed interval scheduler hit_time write_through threads unit size_changes",
    ),
    (misspenalty.delayed_hits, STEPS, ""),
    (Trace.from_blocks, {"blocks": [1, 2]}, "write time block_bytes object_bytes"),
    (misspenalty.open_trace, {"path": "nowhere"}, "format block_bytes most_references columns"),
    (misspenalty.prefix_hit_ratio_curve, PREFIX, "tail_first warm_up token_bytes threads"),
    (time_to_first_token, PREFIX, "place server tail_first warm_up"),
    (Server, {}, "layers width tflops"),
    (disks.load, {"name_or_path": "hp97560"}, "kind"),
]
CASES = [
    pytest.param(function, given, name, id=f"{function.__name__}-{name}")
    for function, given, further in CALLS
    for name in (*given, *further.split())
]


@pytest.mark.parametrize(("function", "given", "name"), CASES)
def test_any_value_gives_a_result_or_a_message(function, given, name):
    refused = 0
    for value in VALUES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**given | {name: value})
        except MissPenaltyError as error:
            assert str(error)
            refused += 1
    assert refused > 5


LONG = np.arange((1 << 20) + 100) % 100


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint32, np.uint64])
@pytest.mark.parametrize(
    "counted",
    [
        lambda trace, warm_up: misspenalty.simulate(trace, "fifo", 50, warm_up=warm_up),
        lambda trace, warm_up: misspenalty.hit_ratio_curve(trace, "lru", warm_up=warm_up),
        lambda trace, warm_up: misspenalty.hit_ratio_curve(trace, "fifo", [80], sample=0.5, warm_up=warm_up),
        lambda trace, warm_up: misspenalty.byte_hit_ratio_curve(trace, "lru", 8192, warm_up=warm_up),
        lambda trace, warm_up: misspenalty.penalty(trace, "lru", 50, "1ms", warm_up=warm_up, clients=2),
    ],
    ids=["simulate", "curve", "sample", "bytes", "penalty"],
)
def test_a_number_of_numpy_counts_as_the_same_int(counted, kind):
    """After the first slice, ``np.uint64(3) - 1048576`` would wrap to a huge warm-up, and nothing would be counted."""
    trace = Trace.from_blocks(LONG, write=LONG % 2 == 0)
    given, plain = counted(trace, kind(3)), counted(trace, 3)
    assert given.equals(plain) if isinstance(plain, pd.DataFrame) else given == plain


def test_outcomes_need_an_array_that_can_be_written():
    hits = np.zeros(len(TRACE), bool)
    hits.flags.writeable = False
    with pytest.raises(MissPenaltyError, match="hits is not a writable bool array"):
        misspenalty.simulate(TRACE, "lru", 2, hits=hits)


def test_a_speed_may_be_any_real_number():
    whole, exact = (misspenalty.penalty(TRACE, "lru", 2, "1ms", speed=value) for value in (2, fractions.Fraction(2)))
    assert whole.equals(exact)
