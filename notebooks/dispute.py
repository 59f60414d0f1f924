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
# # S3-FIFO and SIEVE: a dispute over simple policies
#
# Like FIFO, S3-FIFO (SOSP 2023) and SIEVE (NSDI 2024) do not move a block on a hit; they are said to miss less often
# than W-TinyLFU, ARC, LIRS and 2Q. **Are they better than older, more complex policies, and on what does the answer
# depend?**

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import misspenalty
from misspenalty_studies.common.notebook import counts, root, zipf

POLICIES = ["lru", "arc", "lirs", "wtinylfu", "s3fifo", "sieve"]
pd.options.display.precision = 1

# %% [markdown]
# ## 1. Four workloads
#
# - *stable*: some blocks are popular, and stay so;
# - *one-time*: the same, but three in ten requests are for a block that is never requested again;
# - *drifting*: every 20,000 requests, all popular blocks are replaced by new ones;
# - *TPC-C*: a recording of a database behind its own cache.
#
# The measure: by how many per cent a policy has fewer misses than FIFO, in a cache of a tenth of the blocks. (The
# script of S3-FIFO's authors divides a loss by the policy's own misses, so that it counts for less.) **Predict**: on
# which of the four is S3-FIFO worse than FIFO?

# %%
rng = np.random.default_rng(1)
stable = zipf(200_000, blocks=20_000, exponent=1.0)
once = stable.copy()
once[rng.random(len(once)) < 0.3] = -1
once[once < 0] = 20_000 + np.arange((once < 0).sum())
drifting = np.concatenate([zipf(20_000, 20_000, 1.0, seed) + 20_000 * seed for seed in range(10)])
recorded = misspenalty.open_trace(root() / "tests" / "data" / "tpcc_small.parquet")
workloads = {"stable": stable, "one-time": once, "drifting": drifting, "TPC-C": recorded}


def reductions(share="10%"):
    """Return the percentage of FIFO's misses that each policy saves, by workload."""
    rows = {}
    for name, trace in workloads.items():
        misses = misspenalty.simulate(trace, ["fifo", *POLICIES], share).set_index("policy")["misses"]
        rows[name] = 100 * (1 - misses.drop("fifo") / misses["fifo"])
    return pd.DataFrame(rows)


tenth = reductions()
tenth.round(1)

# %% [markdown]
# ## 2. The mean over workloads
#
# To give each policy a single number, one averages over traces. **Predict**: does the order of the policies stay the
# same if one of the four workloads is left out?

# %%
means = {"all four": tenth.mean(axis=1)}
means |= {f"without {name}": tenth.drop(columns=name).mean(axis=1) for name in tenth.columns}
means = pd.DataFrame(means)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for place, policy in enumerate(POLICIES):
    axes.plot(means.loc[policy], range(len(means.columns)), marker="osD^vP"[place], linestyle="", label=policy)
axes.set_yticks(range(len(means.columns)), means.columns)
axes.axvline(0, color="black", linewidth=0.8)
axes.set_xlabel("Mean reduction of misses from FIFO (%)")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %% [markdown]
# ## The answer

# %%
for name, column in means.items():
    best = column.sort_values(ascending=False)
    print(f"{name:18} first {best.index[0]}, then {best.index[1]}; S3-FIFO {best['s3fifo']:.1f} %")
print(f"On {tenth.loc['s3fifo'].idxmin()}, S3-FIFO has {-tenth.loc['s3fifo'].min():.0f} % more misses than FIFO.")

# %% [markdown]
# It depends on which traces are averaged. Policies that keep proven blocks win while popularity lasts, and lose when
# it moves on. So the dispute is about which traces count. These are means over the authors' published results, with
# intervals from resampling traces and from resampling whole data sets:
#
# ![Mean reductions of misses from FIFO with intervals, by policy and selection of traces](../results/dispute/means.png)
#
# The verdicts on the papers' statements:

# %%
counts("dispute")

# %% [markdown]
# ## Exercise
#
# Run `reductions("1%")`. Which policy loses most in a small cache, and on which workload? The first queue of S3-FIFO
# has a tenth of the cache: how many blocks is that here?
