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
# # Delayed hits: when a hit has to wait
#
# A request for a block that is being fetched is neither a hit nor a miss: it waits for the rest of that fetch. Atre and
# others (SIGCOMM 2020) call it a *delayed hit*. **Does the policy with the most hits still give the shortest waits once
# delayed hits count?**

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import misspenalty
from misspenalty_studies.common.notebook import counts

# %% [markdown]
# ## 1. Four requests by hand
#
# Block 7 is requested in four steps in a row, and a fetch takes three steps. **Predict**: how many misses, delayed hits
# and hits, and how many steps of waiting in all? Decide before you run the cell.

# %%
misspenalty.delayed_hits([7, 7, 7, 7], "lru", 1, 3)


# %% [markdown]
# The first request waits for the whole fetch, the next two for what is left of it, and the last one finds the block.
#
# ## 2. Bursty and steady blocks
#
# One group of blocks is requested in bursts, the other one request at a time, and both equally often. If a fetch takes
# as long as a burst, a miss on a bursty block makes every request of its burst wait; a miss on a steady block rarely
# delays more than one request. **Predict**: which blocks should a cache keep to minimise waiting, and does LRU keep
# them?

# %%
def workload(bursty, even, length, burst, seed=1):
    """Return requests to `bursty` blocks, `burst` at a time, and as many to `even` blocks, one at a time."""
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < length:
        made += [int(rng.integers(bursty))] * burst
        made += (bursty + rng.integers(even, size=burst)).tolist()
    return np.array(made[:length])


requests = workload(bursty=40, even=40, length=20_000, burst=8)
POLICIES = ("lru", "lru_mad", "arc", "arc_mad", "opt", "opt_mad")


def compare(fetch_steps, cache_blocks=20):
    """Return the hits, delayed hits and mean wait of each policy at one latency."""
    rows = []
    for policy in POLICIES:
        result = misspenalty.delayed_hits(requests, policy, cache_blocks, fetch_steps)
        mean = result.total_latency / len(requests)
        rows.append({"policy": policy, "hits": result.hits, "delayed hits": result.delayed_hits, "mean wait": mean})
    return pd.DataFrame(rows).set_index("policy")


compare(fetch_steps=8)

# %% [markdown]
# The variants called `_mad` weigh a block by the *aggregate delay* that its misses have caused, as the paper proposes.
#
# ## 3. The latency decides
#
# **Predict**: for which latencies does it not matter whether you count hits or waiting?

# %%
latencies = [1, 2, 4, 8, 16, 32, 64]
waits = pd.DataFrame({steps: compare(steps)["mean wait"] for steps in latencies}).T
gain = 100 * (1 - waits["lru_mad"] / waits["lru"])
figure, axes = plt.subplots(figsize=(6, 3.2))
axes.plot(latencies, gain, marker="o")
axes.axhline(0, color="black", linewidth=0.8)
axes.set(xscale="log", xlabel="Latency of a fetch (steps)", ylabel="Waiting saved by LRU-MAD (%)")
figure.tight_layout()

# %% [markdown]
# ## The answer

# %%
lru, mad = compare(fetch_steps=8).loc["lru"], compare(fetch_steps=8).loc["lru_mad"]
print(f"Fetches of 8 steps: LRU-MAD has {mad['hits']:.0f} hits, LRU {lru['hits']:.0f};")
print(f"but a request waits {mad['mean wait']:.2f} steps under LRU-MAD and {lru['mean wait']:.2f} under LRU.")
print(f"Latency changes the order: LRU-MAD saves {gain.min():.1f} % to {gain.max():.1f} % of LRU's waiting.")

# %% [markdown]
# No: here LRU-MAD has more hits than LRU, and yet its requests wait longer. The orders by hits and by waiting are
# certain to agree only where a fetch takes one step, because then there are no delayed hits. The verdicts on the
# paper's statements:

# %%
counts("delayed_hits")

# %% [markdown]
# ## Exercise
#
# Make the bursts longer (`burst=32`) and the cache smaller (`cache_blocks=10`). At which latency does the gain of
# LRU-MAD peak now, and why does it move?
