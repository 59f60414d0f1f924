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
# # Multi-Queue: a cache behind a cache
#
# A database keeps its hottest blocks in memory. The storage server behind it has a cache of its own, which sees only
# what misses in the database's cache. **Which blocks should that second cache keep?** Zhou, Philbin and Li (USENIX
# 2001) answered with *Multi-Queue* (MQ).

# %%
# %matplotlib inline
import numpy as np
import pandas as pd

import misspenalty
from misspenalty.plotting.curve import hit_ratio
from misspenalty_studies.common.notebook import counts, root, zipf

pd.options.display.precision = 1

# %% [markdown]
# ## 1. What the second cache sees
#
# 200,000 requests, in which a few blocks are wanted much more often than others, go through a first cache of 2000
# blocks under LRU. The second cache gets what misses there.
#
# **Predict**: the first cache serves more than half of the requests. The second one is as large and uses LRU as well.
# What share of *its* requests will it serve?

# %%
requests = zipf(200_000, blocks=20_000, exponent=0.9)
served = np.zeros(len(requests), bool)
first = misspenalty.simulate(requests, "lru", 2000, hits=served)
second = requests[~served]
same = misspenalty.simulate(second, "lru", 2000)
print(f"first cache: {first.hit_ratio:.0%} of {len(requests):,}; second: {same.hit_ratio:.0%} of {len(second):,}")

# %% [markdown]
# Why so few? A block that misses in the first cache was last used long ago, if ever, and after this miss the first
# cache keeps it. The second cache sees the block again only after the first one has evicted it. The number of distinct
# blocks from one use of a block to the next, in the stream that each cache sees:

# %%
rows = {}
for name, stream in {"first cache": requests, "second cache": second}.items():
    distance = misspenalty.stack_distances(stream)
    again = distance[distance > 0]  # 0 marks the first use of a block
    rows[name] = {f"up to {size}": 100 * (again <= size).mean() for size in (500, 1000, 2000, 4000, 8000)}
pd.DataFrame(rows).T.rename_axis(columns="% of re-uses, by blocks in between")

# %% [markdown]
# ## 2. How MQ works
#
# Near re-uses are gone, but some blocks are still wanted more often than others. MQ keeps several LRU queues. The f-th
# access to a block puts it into queue log2(f), rounded down. A block that is not used for a *lifetime* moves down one
# queue; the victim is the least recently used block of the lowest queue that is not empty. A history remembers the
# counts of evicted blocks.
#
# Its definition is a Python class. **Predict**: in a cache of three blocks, A is used three times and B once, and then
# D, E, F and G once each. Is A still there when it is requested again? Would it be under LRU?

# %%
reference = misspenalty.policies()["mq"].reference(3, life_time=6)
steps = []
for block in "AABADEFGA":
    hit = reference.access(block)
    queues = {f"Q{k}": " ".join(queue) for k, queue in enumerate(reference.queues[:3])}
    steps.append({"access": block, "": "hit" if hit else "miss", **queues, "history": " ".join(reference.history)})
pd.DataFrame(steps)

# %% [markdown]
# ## 3. The second cache under four policies
#
# OPT knows the future; no policy that loads what it misses can do better. **Predict**: at which sizes is MQ's lead over
# LRU largest, below the size of the first cache (2000 blocks) or above it?

# %%
sizes = [500, 1000, 2000, 4000, 8000, 12_000]
curve = misspenalty.hit_ratio_curve(second, ["lru", "2q", "mq", "opt"], sizes)
hit_ratio(curve, title="Behind a first cache of 2000 blocks")

# %% [markdown]
# On a recorded stream, TPC-C behind a database's cache, MQ leads as well:

# %%
recorded = misspenalty.open_trace(root() / "tests" / "data" / "tpcc_small.parquet")
behind = misspenalty.hit_ratio_curve(recorded, ["lru", "2q", "mq", "opt"], ["5%", "10%", "20%", "40%"])
hit_ratio(behind, recorded.block_bytes, "TPC-C, a short stretch")

# %% [markdown]
# ## The answer

# %%
ratio = curve.pivot(index="cache_blocks", columns="policy", values="hit_ratio")
lead = 100 * (ratio["mq"] - ratio["lru"])
print(f"MQ's lead over LRU is largest at {lead.idxmax()} blocks, {lead.max():.0f} points,")
print(f"and at {lead.index[-1]} blocks it is {lead.iloc[-1]:.0f} points.")

# %% [markdown]
# The second cache should keep the blocks that are used *often*, because recently used ones are in the first cache. In
# this example, MQ's lead is largest where both caches are equally large. The paper's hit ratios under TPC-C behind a
# first level of 128 MB (its Table 4), next to ours:
#
# ![Published and reproduced hit ratios of MQ and LRU at 128, 256 and 512 MB](../results/mq/table4.png)
#
# The verdicts on the paper's statements:

# %%
counts("mq")

# %% [markdown]
# ## Exercise
#
# Let the first cache use MQ as well (`misspenalty.simulate(requests, "mq", 2000, hits=served)`). Is MQ still the better
# choice for the second cache? Explain with the distances of section 1.
