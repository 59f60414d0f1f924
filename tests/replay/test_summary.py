"""Test the summary of a curve: the sizes at which it bends, and each line of the text."""

import numpy as np
import pandas as pd
import pytest

from misspenalty import Trace, hit_ratio_curve
from misspenalty.replay.summary import _hull, knees, text


def curve(sizes, ratios):
    return pd.DataFrame({"cache_blocks": sizes, "hit_ratio": ratios})


@pytest.mark.parametrize(
    "corners, found",
    [
        ({10: 0.5, 100: 0.9}, [10, 100]),  # 5 points per block, then 0.44, then none
        ({8: 0.5, 24: 1.0}, [8, 24]),  # 6.25 points per block, then half as much
        ({8: 0.5, 23: 1.0}, [23]),  # then more than half as much
        ({10: 0.5, 20: 0.515, 100: 0.575}, [10, 100]),  # 20 is only 1.5 points above the previous knee
        ({500: 0.0, 501: 0.8}, [501]),  # a loop
        ({1000: 0.0}, []),
    ],
)
def test_knees_are_where_a_curve_of_straight_lines_bends(corners, found):
    sizes = np.arange(1, 1001)
    table = curve(sizes, np.interp(sizes, [0, *corners], [0, *corners.values()]))
    assert knees(table)["cache_blocks"].tolist() == found
    assert knees(table[::-1])["cache_blocks"].tolist() == found


def test_points_on_one_line_are_not_corners():
    assert _hull(np.array([0, 1, 2, 3, 5]), np.array([0.0, 0.25, 0.5, 0.625, 0.625])) == [0, 2, 3, 4]


@pytest.mark.parametrize(("rise", "found"), [(0.02, [1]), (0.0199, [])])
def test_a_knee_is_two_points_or_more_above_the_one_before(rise, found):
    assert knees(curve([1, 1000], [rise, rise]))["cache_blocks"].tolist() == found


def test_a_smooth_curve_has_its_knee_where_a_thousandth_is_left_to_gain():
    """A curve that never bends must have its knee at its last thousandth, not where it is flat to the last digit."""
    sizes = np.arange(1, 20_001)
    assert knees(curve(sizes, 1 - np.exp(-sizes / 1000)))["cache_blocks"].tolist() == [6908]  # 1000 ln 1000 = 6907.8


def test_the_text_of_a_loop_and_a_scan():
    # A loop of 3 blocks, run 50 times, hits 147 times in a cache of 3; the other 26 blocks are used once.
    trace = Trace.from_blocks([1, 2, 3] * 50 + list(range(4, 30)))
    loop = "3 blocks 12 KB 10.34% hit ratio 83.52%"
    lines = [" ".join(line.split()) for line in text(trace, hit_ratio_curve(trace, "lru")).splitlines()]
    assert lines == [
        "Trace 'array' (array): 176 references (176 reads) to 29 blocks of 4096 bytes, footprint 116 KB",
        "lru: 176 requests, 29 cold misses, hit ratio at most 83.52%",
        "",
        "knees (beyond which the curve is at most half as steep)",
        loop,
        "",
        "smallest caches with 50%, 90%, 99% of the hits that any size can have",
        *[loop] * 3,
        "",
        "shares of the footprint",  # 2 % and 5 % of 29 blocks are 1 as well
        "1 blocks 4 KB 3.45% hit ratio 0.00%",
        loop,
        "6 blocks 24 KB 20.69% hit ratio 83.52%",
        "15 blocks 60 KB 51.72% hit ratio 83.52%",
        "29 blocks 116 KB 100.00% hit ratio 83.52%",
        "",
        "every size: --csv or --json; as a plot: --plot FILE",
    ]


def test_the_text_of_a_scan_has_no_knee():
    trace = Trace.from_blocks(range(9))
    lines = text(trace, hit_ratio_curve(trace, "lru")).splitlines()
    assert lines[3:5] == ["knees (beyond which the curve is at most half as steep)", "  none"]


def test_the_text_of_writes_has_no_hit_ratio():
    trace = Trace.from_blocks([1, 2, 1], write=[True] * 3)
    lines = text(trace, hit_ratio_curve(trace, "lru")).splitlines()
    assert lines[1] == "lru: 0 requests, 0 cold misses, hit ratio at most -"
    assert [line.rpartition("%  ")[2] for line in lines if "%  " in line] == ["hit ratio -"] * 5
