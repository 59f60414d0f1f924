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

import pandas as pd

from misspenalty_studies.classics import figures
from misspenalty_studies.common.notebook import counts, read, root, statements

ROOT = root()
pd.options.display.precision = 2

# %% [markdown]
# ## 1. ARC's Table 1, next to ours
#
# The ARC authors tuned LRU-2, 2Q and LRFU for each size, and so do we, taking the best of a grid by our own hit ratio.

# %%
comparison = read("results/classics/comparison.csv")
table1 = comparison[comparison["source"] == "ARC Table 1"]
table1.pivot(index="policy", columns="cache_blocks", values="difference_points")

# %%
published = read("studies/classics/published/hit_ratios.csv")
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
# The misses of the LIRS2 authors' program next to ours: LRU and OPT are equal at every size, and so are LIRS, LIRS2 and
# ARC under the program's conventions. Its ARC sets the target to zero at every hit in B2, where the paper's figure
# subtracts δ; on sprite that causes up to 7 % more misses.

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
# ## The verdicts
#
# How many statements of the papers are reproduced, and those that are not, with their notes:

# %%
counts("classics")

# %%
statements("classics")

# %% [markdown]
# ## Conditions under which others are reproduced
#
# The size of MQ's history, the splits that the authors tried and what LRU-2 remembered are not printed; each
# condition is a different choice for one of these.

# %%
conditions = read("results/classics/conditions.csv")
conditions[conditions["verdict"] == "reproduced"]
