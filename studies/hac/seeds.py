"""Repeat the HAC study over several databases: OO7 draws its graphs at random, so every number is a mean over seeds.

A seed determines the database, the operations of the dynamic traversal, and the random parts of the server's model.
Everything is done separately for each seed; the tables are then averaged row by row, with the half width of a 95 %
confidence interval of each mean (Student's t).
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from misspenalty_studies.common.statistics import half_widths
from misspenalty_studies.hac.objects.traversals import STATIC
from misspenalty_studies.hac.prices import Costs
from misspenalty_studies.hac.runs import database


class Sample(NamedTuple):
    """Runs of one seed, and the database and costs with which they are priced.

    Attributes
    ----------
    seed : int
    data : Database
    sweeps : dict of str to DataFrame
        HAC's runs by traversal.
    costs : Costs
    """

    seed: int
    data: object
    sweeps: dict
    costs: Costs


def samples(paths, testbed, sizes):
    """Yield a sample for every seed of stored sweeps, one after another.

    Parameters
    ----------
    paths : sequence of path-like
        HAC's sweeps, in the order of `STATIC`.
    testbed : ObjectServerTestbed
    sizes : dict
        Sizes of the database.

    Yields
    ------
    Sample
    """
    for seed, sweeps in read_sweeps(paths).items():
        data = database(seed, **sizes)
        yield Sample(seed, data, sweeps, Costs(testbed, len(data.pages), seed))


def read_sweeps(paths):
    """Return a mapping of seed to sweeps by traversal, from files in the order of `STATIC`."""
    return BySeed(dict(zip(STATIC, paths, strict=True)))


class BySeed(Mapping):
    """Maps each seed to its sweeps by traversal, taken from one table per traversal with a column ``seed``.

    Parameters
    ----------
    sweeps : dict of str to DataFrame or path-like
        The sweeps of each traversal, or a Parquet file with them. To save memory, the rows of a seed are copied or read
        only when they are requested.

    Examples
    --------
    >>> sweeps = BySeed({"T1": pd.DataFrame({"seed": [1, 2, 2], "fetches": [5, 6, 7]})})
    >>> list(sweeps), sweeps[2]["T1"]["fetches"].tolist()
    ([1, 2], [6, 7])
    """

    def __init__(self, sweeps):
        self.sweeps = sweeps
        first = next(iter(sweeps.values()))
        table = first if isinstance(first, pd.DataFrame) else pd.read_parquet(first, columns=["seed"])
        self.seeds = [int(seed) for seed in table["seed"].unique()]

    def __getitem__(self, seed):
        return {name: self._of_seed(runs, seed).drop(columns="seed") for name, runs in self.sweeps.items()}

    @staticmethod
    def _of_seed(runs, seed):
        if isinstance(runs, pd.DataFrame):
            return runs[runs["seed"] == seed]
        return pd.read_parquet(runs, filters=[("seed", "==", seed)])

    def __iter__(self):
        return iter(self.seeds)

    def __len__(self):
        return len(self.seeds)


def averages(tables, keys, seeds=(), by_seed=()):
    """Average tables over seeds.

    Parameters
    ----------
    tables : sequence of dict of str to DataFrame
        The tables of each seed, by name.
    keys : dict of str to sequence of str
        Name -> columns that identify a row, as in `mean_over_seeds`.
    seeds : sequence of int
    by_seed : sequence of str
        Tables that are also returned as ``<name>_by_seed``: not averaged, with a column ``seed``.

    Returns
    -------
    dict of str to DataFrame
    """
    made = {name: mean_over_seeds([each[name] for each in tables], keys[name]) for name in tables[0]}
    for name in by_seed:
        numbered = [each[name].assign(seed=seed) for seed, each in zip(seeds, tables, strict=True)]
        made[f"{name}_by_seed"] = pd.concat(numbered, ignore_index=True)
    return made


def mean_over_seeds(tables, keys):
    """Average the tables of several seeds row by row.

    Parameters
    ----------
    tables : sequence of DataFrame
        One per seed, with the same columns.
    keys : sequence of str
        Columns that identify a row; all others are averaged.

    Returns
    -------
    DataFrame
        The columns of the tables, and for each averaged column ``<column>_ci95``, half the width of the mean's 95 %
        interval (missing if there is only one seed). A row that any seed lacks is left out; if a seed lacks only a
        value, the mean is that of the other seeds.

    Examples
    --------
    >>> tables = [pd.DataFrame({"size": [1, 2], "us": [3.0, 5.0]}), pd.DataFrame({"size": [1], "us": [4.0]})]
    >>> mean_over_seeds(tables, ["size"]).round(2)
       size   us  us_ci95
    0     1  3.5     6.35
    """
    together = pd.concat(tables, ignore_index=True)
    values = [name for name in together.columns if name not in keys]
    together[values] = together[values].astype(float)
    groups = together.groupby(list(keys), sort=False, dropna=False)
    mean, number = groups[values].mean(), groups.size()
    return mean.join(half_widths(groups, values))[number == len(tables)].reset_index()
