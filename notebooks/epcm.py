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
# # EPCM: fetching a file before it is opened
#
# Files are used in patterns. Kroeger and Long (USENIX 2001) made a Linux 2.2 kernel remember the patterns and fetch the
# files that are likely to be needed next. This notebook reads the results of our reproduction on recorded builds.
#
# The results are made by `make reproduce`; only small examples are computed here.

# %%
# %matplotlib inline

import pandas as pd

from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty_studies.common.notebook import counts, read, root, statements
from misspenalty_studies.epcm import curves
from misspenalty_studies.epcm import figures as epcm

ROOT = root()
pd.options.display.precision = 2

# %% [markdown]
# ## 1. How the model learns
#
# The readable definition of each predictor is a Python class, its *reference*. EPCM grows by one node each time a
# sequence recurs, so after k runs of the sequence ABCDE it predicts k files after A:

# %%
reference = find_predictor("epcm").reference(partition=16, order=12)
steps = []
for run in range(5):
    for file in "ABCDE":
        predicted = reference.access(file)
        if file == "A":
            steps.append({"run": run + 1, "after A": " ".join(predicted)})
pd.DataFrame(steps).set_index("run")

# %% [markdown]
# ## 2. The recorded workloads
#
# What a run consists of, next to what the paper states about its own runs; then how well opens and execs can be
# predicted, in per cent of the events (the paper gives 72 for last successor and 82 for PCM, over a month of use):

# %%
works = read("results/epcm/workloads.csv").pivot(index="quantity", columns="benchmark", values=["value", "published"])
works.dropna(axis=1, how="all").round(1).astype(object).fillna("")

# %%
read("results/epcm/accuracy.csv")

# %% [markdown]
# Andrew was recorded twice, with two preprocessors. We chose the recording that is replayed on the basis of facts
# that no fit reads: its read calls, their misses, and the lead times of correct predictions.

# %%
read("results/epcm/recordings.csv").pivot(index=["quantity", "published"], columns="recording", values="value")

# %% [markdown]
# ## 3. Figure 7: elapsed time and read latency

# %%
epcm.fig7(
    read("results/epcm/fig7.csv"),
    read("studies/epcm/published/baselines.csv"),
    read("studies/epcm/published/reductions.csv"),
)

# %% [markdown]
# Most of the waiting is for page faults and for file look-ups, and a prefetch in the disk's only queue delays other
# reads:

# %%
epcm.components(read("results/epcm/components.csv"))

# %% [markdown]
# ## 4. Figure 8: read calls by time

# %%
epcm.fig8(read("results/epcm/fig8.csv"))

# %% [markdown]
# ## 5. What the result depends on
#
# The paper leaves many choices open. They were fixed in writing before the first replay; here each is changed, one at a
# time. *Perfect foresight* knows the coming events.

# %%
epcm.sensitivity(read("results/epcm/sensitivity.csv"))

# %% [markdown]
# How much more do the models learn in more than the paper's three runs? Each recorded run in turn, with training on the
# runs before it:

# %%
curves.learning(read("results/epcm/learning.csv"))

# %% [markdown]
# Perfect foresight with and without a head start: the further it sees, the more it asks for at once, and requests wait
# for each other in the disk's only queue:

# %%
curves.limits(
    read("results/epcm/limits.csv"), read("results/epcm/fig7.csv"), read("studies/epcm/published/reductions.csv")
)

# %% [markdown]
# ## 6. On today's hardware
#
# The same recorded calls on flash, with their recorded compute time:

# %%
epcm.today(read("results/epcm/today.csv"))

# %% [markdown]
# ## The verdicts
#
# How many statements of the paper's section are reproduced, and those that are not, with their notes:

# %%
counts("epcm")

# %%
statements("epcm")
