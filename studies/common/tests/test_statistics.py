"""Test computations that several studies share: confidence intervals, and tables as read back from a file."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from misspenalty_studies.common.points import as_written
from misspenalty_studies.common.statistics import half_width


@pytest.mark.parametrize("number", [2, 3, 30])
def test_half_width_is_that_of_students_interval(number):
    sample = np.random.default_rng(number).normal(size=number)
    low, high = stats.t.interval(0.95, number - 1, sample.mean(), stats.sem(sample))
    assert half_width(sample.std(ddof=1), number) == pytest.approx((high - low) / 2)


def test_a_single_value_has_no_half_width():
    assert np.isnan(half_width(pd.Series([1.0]).std(), 1))


def test_a_table_reads_as_it_was_written():
    table = pd.DataFrame({"x": [1 / 3, 2.0], "name": ["a", ""]}, index=[5, 7])
    read = as_written(table, keep_default_na=False)
    assert list(read.columns) == ["x", "name"] and read["name"].tolist() == ["a", ""]
    assert read["x"].tolist() == [0.3333333333, 2.0]
    assert as_written(table)["name"].isna().tolist() == [False, True]
