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
# # Your trace: which policy, how large, how many milliseconds?
#
# A cache is bought for a purpose: that requests wait less. **Which policy should it have, how large should it be, and
# how many milliseconds does a request then wait?** This notebook answers for the sample trace; change one cell, and it
# answers for yours.

# %%
# %matplotlib inline
from collections import OrderedDict

import numpy as np
import pandas as pd

import misspenalty
from misspenalty.characterize.figures import profile
from misspenalty.plotting.curve import hit_ratio, response_time
from misspenalty.replay import characteristics
from misspenalty.replay.cache_size import block_bytes_of
from misspenalty.traces.trace import format_bytes
from misspenalty_studies.common.notebook import root

pd.options.display.precision = 2

# %% [markdown]
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
TRACE = root() / "tests" / "data" / "tpcc_small.parquet"  # a path to your trace, raw or compiled
FORMAT = None  # such as "spc", if the content is ambiguous; `misspenalty trace formats` lists them
BLOCK_BYTES = None  # such as 4096; None for the format's own size
DEVICE = "cheetah9lp"  # a drive that `misspenalty disk list` names, or a fixed time such as "5ms"
CLIENTS = 1  # number of requests under way; None: they arrive at the trace's times, which may overload the drive
POLICIES = ["lru", "arc", "mq", "lirs", "s3fifo"]
SHARES = ["1%", "2%", "5%", "10%", "20%", "50%", "100%"]  # shares of the footprint, or sizes such as "64MB"
ENOUGH = 0.8  # share of the largest possible saving that is enough for you

# %% [markdown]
# ## 1. What the trace is like
#
# A raw trace is compiled when it is opened, which takes most of the time for a large one;
# `misspenalty trace convert mine.spc.gz mine.trace` does it once and for all.

# %%
trace = misspenalty.open_trace(TRACE, FORMAT, BLOCK_BYTES)
block = block_bytes_of(trace)  # None for objects of different sizes, as the sizes of their caches are in bytes
trace

# %% [markdown]
# LRU hits those references whose reuse distance is at most its size. **Predict** from the bars of *Reuse distances*:
# from which size on does LRU hit half of the references?

# %%
profile(
    characteristics.over_time(trace),
    characteristics.request_sizes(trace),
    characteristics.runs(trace),
    characteristics.reuse_distances(trace),
    characteristics.frequencies(trace),
    block or trace.block_bytes,
    objects=block is None,
)

# %% [markdown]
# ## 2. Which policy?
#
# Hit ratios are over reads; writes affect the cache unless you say `writes="ignore"`. OPT knows the future.
# **Predict**: which policy is closest to it, and is it the same one at all sizes?

# %%
curve = misspenalty.hit_ratio_curve(trace, [*POLICIES, "opt"], SHARES)
hit_ratio(curve, block)

# %% [markdown]
# ## 3. How many milliseconds?
#
# The same trace in front of a device. **Predict**: does a cache with half of the misses halve the mean wait?

# %%
times = misspenalty.penalty(trace, POLICIES, SHARES, DEVICE, clients=CLIENTS)
response_time(times, block)


# %% [markdown]
# ## 4. A policy of your own
#
# A policy is a class with one method: `access(block)` says whether the block was in the cache, and makes room if it was
# not. This one is CLOCK: blocks are arranged in a ring, a hit sets a mark, and the hand clears the mark of each marked
# block that it passes and evicts the first block without one.

# %%
class Clock:
    """CLOCK, as a ring with one mark per block."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.marked = OrderedDict()  # mark of each block, in the order in which the hand passes

    def access(self, block):
        if block in self.marked:
            self.marked[block] = True
            return True
        while len(self.marked) >= self.capacity:
            candidate, mark = self.marked.popitem(last=False)
            if mark:
                self.marked[candidate] = False  # spare the block once, and move it behind the hand
        self.marked[block] = False
        return False


# %% [markdown]
# A class can be used wherever a policy is named. It runs in Python, so the first part of the trace is enough:

# %%
head = trace.ids[:50_000]
part = max(len(np.unique(head)) // 8, 1)
rows = [misspenalty.simulate(head, policy, part) for policy in (Clock, "clock", "lru", "opt")]
pd.DataFrame({"policy": ["yours", "CLOCK", "LRU", "OPT"], "hit ratio, %": [100 * row.hit_ratio for row in rows]})

# %% [markdown]
# On the command line it is named by file and class: `--policy ./mine.py:Clock`. `misspenalty new policy second_chance`
# starts a package of your own with a readable reference, a kernel as fast as the others, and tests that compare them.
#
# ## The answer
#
# A saving is the difference from the longest mean wait of any policy and size; the shortest mean wait saves the most.
# The answer is the smallest cache that reaches the share `ENOUGH` of that saving, with the policy that is best there:

# %%
unit = "cache_blocks" if block else "cache_bytes"
means = times.pivot(index=unit, columns="policy", values="mean_us") / 1000
none = times["mean_us"].max() / 1000  # the longest wait, usually of the worst policy in the smallest cache
target = none - ENOUGH * (none - means.min(axis=None))
size = means.index[means.min(axis=1) <= target][0]
policy = means.loc[size].idxmin()
chosen = times[(times["policy"] == policy) & (times[unit] == size)].iloc[0]
space = size * (block or 1)
print(f"Policy: {policy.upper()}")
print(f"Size: {format_bytes(space)}, {space / trace.footprint_bytes:.0%} of the footprint")
print(f"Mean wait of a read: {means.loc[size, policy]:.2f} ms on {DEVICE}, where 99 % wait at most "
      f"{chosen['p99_us'] / 1000:.1f} ms")  # fmt: skip
print(f"LRU of the same size: {means.loc[size].get('lru', np.nan):.2f} ms; a cache of {SHARES[0]}: up to {none:.2f} ms")

# %% [markdown]
# ## Exercise
#
# Set `DEVICE = "dc_p3700"`, a flash drive, and run the notebook again. Does the answer name the same policy and size?
# By how many milliseconds does the choice of policy still matter?
