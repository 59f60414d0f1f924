"""Every argument of the public functions, given values of any other kind, leads to a result or a clear message."""

import decimal
import pathlib
import warnings

import numpy as np
import pandas as pd
import pytest

import misspenalty
from misspenalty import disks
from misspenalty.errors import MissPenaltyError
from misspenalty.traces import Trace

TRACE = Trace.from_blocks([1, 2, 3, 1, 2, 3] * 5, write=[False, True, False] * 10, time=np.arange(30) * 1000)
VALUES = [
    *(None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**30, 2**64 - 1, -(2**63), 1j, decimal.Decimal("1.5")),
    *("", "x", "5", b"x", "\0", "é" * 5000, pathlib.Path("/nonexistent")),
    *([], [None], ["lru", None], {}, (), range(0), slice(3), iter([1]), object(), int, len, type("Empty", (), {})),
    *(np.array(value) for value in ([[1, 2]], [1.5], ["a"], [None])),
    *(np.ma.masked_array([1, 2], mask=[False, True]), np.float64(3), np.datetime64(1, "s")),
    *(pd.Series([1, 2]), pd.DataFrame({"a": [1]})),
]
STEPS = {"requests": [1, 2, 1], "policy": "lru", "cache_blocks": 1, "fetch_steps": 2}
CALLS = [  # function, valid arguments, further ones
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
