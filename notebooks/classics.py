# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Classics: the papers whose own traces survive
#
# LIRS (2002), ARC (2003), CAR (2004) and CLOCK-Pro (2005) were evaluated on traces that can still be obtained. With the
# same references in, the same hit ratios have to come out. This notebook reads the archived results; nothing is
# replayed.

# %%
# %matplotlib inline
from pathlib import Path

import pandas as pd

from misspenalty.errors import InputError
from misspenalty.studies.classics import figures

ROOT = next(folder for folder in [Path.cwd(), *Path.cwd().parents] if (folder / "data" / "published").is_dir())
pd.options.display.precision = 2


def read(name):
    """A table of results/ or data/published/, or what to do where it is not there."""
    path = ROOT / name
    if not path.is_file():
        raise InputError("is not there yet", path=name, remedy="run `make reproduce` first, then this cell again")
    return pd.read_csv(path)


# %% [markdown]
# ## 1. ARC's Table 1, next to ours
#
# LRU-2, 2Q and LRFU were tuned for each size by the ARC authors, and are here: the best of a grid by our own hit ratio.

# %%
comparison = read("results/classics/comparison.csv")
table1 = comparison[comparison["source"] == "ARC Table 1"]
table1.pivot(index="policy", columns="cache_blocks", values="difference_points")

# %%
published = read("data/published/classics_hit_ratios.csv")
figures.oltp(read("results/classics/hit_ratios.csv"), published)

# %% [markdown]
# ## 2. Loops: where LRU finds nothing
#
# `cs` and `gli` loop over more blocks than the cache holds. LIRS and CLOCK-Pro keep part of the loop.

# %%
figures.looping(read("results/classics/hit_ratios.csv"), published)

# %% [markdown]
# ## 3. The authors' program
#
# Misses of the LIRS2 authors' program next to ours: LRU and OPT are equal at every size, and so is LIRS once two of the
# program's conventions are followed.

# %%
program = read("results/classics/program.csv")
program.assign(equal=program["difference"] == 0).groupby(["policy", "reading"])["equal"].agg(["sum", "count"])

# %%
figures.program(program)

# %% [markdown]
# ## 4. Which parameters won

# %%
ratios = read("results/classics/hit_ratios.csv")
ratios.loc[ratios["combinations"] > 1, ["trace", "cache_blocks", "policy", "hit_ratio_pct", "parameters"]]

# %% [markdown]
# ## 5. Claims, and conditions under which others come out
#
# MQ's history, the splits that the authors tried and what LRU-2 remembered are not printed; each condition is another
# value of these.

# %%
claims = read("results/claims.csv")
verdicts = claims.loc[claims["study"] == "classics", ["id", "published", "reproduced", "tolerance", "verdict"]]
verdicts["verdict"].value_counts()

# %%
verdicts[verdicts["verdict"] != "reproduced"]

# %%
conditions = read("results/classics/conditions.csv")
conditions[conditions["verdict"] == "reproduced"]
