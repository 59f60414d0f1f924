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
# A build opens the same files in nearly the same order each time. Kroeger and Long (USENIX 2001) made a Linux kernel
# learn such sequences and fetch files before they are opened. **How many runs does it take to learn a sequence, and how
# far ahead does a predictor then see?**

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty.prefetch.predictors.accuracy import measure_accuracy
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty_studies.common.notebook import counts

pd.options.display.precision = 1

# %% [markdown]
# ## 1. One sequence, five runs
#
# A predictor is defined by a Python class, its *reference*; `access(file)` returns the files that it expects next.
# **Predict**: after how many runs of A B C D E does EPCM expect all of B C D E after A?

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
# The model grows by one file each time the sequence recurs.
#
# ## 2. A build with noise
#
# The build consists of forty compilations. Each opens a source, four headers that others open as well, and eight files
# of its own. Before one open in twenty, another program opens a file. **Predict**: the last-successor model
# expects the file that followed last time. What share of the next files does it predict, and how much better does a
# model with more context do?

# %%
rng = np.random.default_rng(1)
units = [[*rng.choice(20, 4, replace=False), *range(20 + 9 * unit, 29 + 9 * unit)] for unit in range(40)]
for opens in units:
    opens.insert(0, opens.pop(4))  # put the source first


def build(noise=0.05):
    """Return the files that one run of the build opens."""
    opened = []
    for file in (file for unit in units for file in unit):
        opened += [380 + rng.integers(300)] * (rng.random() < noise)
        opened.append(file)
    return opened


def accuracy(runs, noise=0.05):
    """Return the percentage of the next files that each predictor names, over several runs of the build."""
    events = np.concatenate([build(noise) for _ in range(runs)])
    rows = {}
    for name in ("last_successor", "pcm", "epcm"):
        found = measure_accuracy(events, name)
        rows[name] = {
            "first of those named": 100 * found.first / found.events,
            "among those named": 100 * found.among / found.events,
            "files named": found.files,
        }
    return pd.DataFrame(rows).T


accuracy(runs=5)

# %% [markdown]
# ## 3. Learning
#
# **Predict**: which of the three needs the most runs?

# %%
runs = [1, 2, 3, 5, 8, 12]
learnt = pd.DataFrame({count: accuracy(count)["first of those named"] for count in runs}).T
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, look in zip(learnt.columns, ("s--", "^:", "o-"), strict=True):
    axes.plot(runs, learnt[name], look, label=name)
axes.set(xlabel="Runs of the build", ylabel="Next file named first (%)", ylim=(0, 100))
axes.legend()
plt.show()

# %% [markdown]
# ## The answer

# %%
last = accuracy(runs=12)
print("After twelve runs:")
for name, row in last.iterrows():
    print(f"  {name}: {row['first of those named']:.0f} % of the next files, {row['files named']:.1f} files at a time")

# %% [markdown]
# EPCM learns one file of a sequence per run, so after k runs it sees at most k files ahead. This gives the disk a head
# start that a model of the next file alone cannot give. Whether the computer then waits less is another matter, because
# prefetches and other reads share one disk. Our Figure 7, on four recorded workloads, with the values that the paper
# prints:
#
# ![Published and reproduced savings of each predictor on four workloads](../results/epcm/fig7.png)
#
# The verdicts on the paper's statements:

# %%
counts("epcm")

# %% [markdown]
# ## Exercise
#
# Raise the noise to a quarter (`accuracy(5, noise=0.25)`). Which predictor suffers most, and which parameter of EPCM
# (`misspenalty.prefetch.predictors.epcm` lists them) would you change to prevent that?
