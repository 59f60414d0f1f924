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
# # Your trace, your policy
#
# Open any block trace, look at it, draw hit-ratio curves, and try your own policy in a few lines of Python.

# %%
# %matplotlib inline
from collections import OrderedDict

import ipywidgets as widgets
import numpy as np
import pandas as pd

import misspenalty
from misspenalty.traces import formats
from misspenalty_studies.common.notebook import root
from misspenalty_studies.mq import figures as mq
from misspenalty_studies.mq.runs import distance_histogram

ROOT = root()
pd.options.display.precision = 2

# %% [markdown]
# ## 1. Open a trace
#
# These formats are known; `.gz`, `.xz`, `.bz2` and `.zst` are read as they are. The format is usually recognised
# from the file; if it is not, name it with `format=`.

# %%
pd.DataFrame([{"format": form.name, "grammar": form.summary} for form in formats().values()]).style.hide()

# %% [markdown]
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
TRACE = ROOT / "tests" / "data" / "tpcc_small.parquet"  # a path to your trace, raw or compiled
FORMAT = None  # such as "spc", where the file doesn't tell
BLOCK_BYTES = None  # such as 4096; None = the format's own

# %%
trace = misspenalty.open_trace(TRACE, FORMAT, BLOCK_BYTES)
pd.Series(
    {
        "references": f"{len(trace):,}",
        "reads": f"{trace.reads:,}",
        "blocks": f"{trace.blocks:,}",
        "block size": f"{trace.block_bytes} bytes",
        "footprint": f"{trace.blocks * trace.block_bytes / 2**20:,.0f} MB",
    },
    name=trace.name,
).to_frame()

# %% [markdown]
# A raw trace is compiled when it is opened, which takes most of the time for a large trace. Do it once and open
# the result:
#
# ```
# misspenalty trace convert mine.spc.gz mine.trace
# ```
#
# How far apart are the re-accesses? LRU will hit those to the left of the cache size in blocks.

# %%
mq.distances(distance_histogram(trace).assign(capture=trace.name))

# %% [markdown]
# ## 2. Hit-ratio curves
#
# Twelve sizes, from a hundredth of the footprint to all of it, each in its own thread. Hit ratios are
# over reads; writes affect the cache unless you say `writes="ignore"`.

# %%
POLICIES = ["lru", "mq", "2q", "opt"]
sizes = np.unique(np.geomspace(max(trace.blocks / 100, 1), trace.blocks, 12).astype(int)).tolist()
curve = pd.concat([misspenalty.hit_ratio_curve(trace, policy, sizes) for policy in POLICIES], ignore_index=True)
curve["cache_mb"] = curve["cache_blocks"] * trace.block_bytes / 2**20
curve["hit_ratio_pct"] = 100 * curve["hit_ratio"]
mq.hit_ratio_curve(curve)


# %% [markdown]
# ### What a miss costs
#
# The same trace in front of a device: mean and 99th percentile of the response time. Move the sliders; each answer
# replays the trace.

# %%
def responses(policies=("lru", "arc", "mq"), share_pct=5.0, device="5ms"):
    """Response times of policies with a cache of `share_pct` per cent of the footprint."""
    size = max(int(trace.blocks * share_pct / 100), 1)
    table = misspenalty.penalty(trace, list(policies), size, device)
    return table[["policy", "device", "hits", "misses", "mean_us", "p99_us"]]


responses()

# %%
choices = ["200us", "5ms", "50ms", "dc_p3700", "cheetah9lp"]
_ = widgets.interact(
    responses,
    policies=widgets.SelectMultiple(options=["lru", "arc", "mq", "2q", "lirs", "s3fifo"], value=["lru", "arc", "mq"]),
    share_pct=widgets.FloatLogSlider(value=5, base=10, min=-1, max=2, step=0.1, description="cache, %"),
    device=widgets.Dropdown(options=choices, value="5ms"),
)


# %% [markdown]
# ## 3. A policy of your own
#
# A policy is a class with one method: `access(block)` says whether the block was in the cache, and makes
# room if it was not. This one is CLOCK: blocks are arranged in a ring, a hit sets a mark, and the hand clears
# the mark of each marked block that it passes and evicts the first block without one.

# %%
class Clock:
    """CLOCK: a ring with one mark per block."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.marked = OrderedDict()  # block -> mark, in the order the hand will come by

    def access(self, block):
        if block in self.marked:
            self.marked[block] = True
            return True
        while len(self.marked) >= self.capacity:
            candidate, mark = self.marked.popitem(last=False)
            if mark:
                self.marked[candidate] = False  # spared once: behind the hand again
        self.marked[block] = False
        return False


# %% [markdown]
# A class can be used wherever a policy is named. It runs in Python, so the first part of the trace is enough:

# %%
HEAD = 50_000
head = trace.ids[:HEAD]
part = max(len(np.unique(head)) // 8, 1)
rows = [misspenalty.simulate(head, policy, part) for policy in (Clock, "clock", "lru", "mq", "opt")]
ratios = pd.DataFrame({"policy": ["CLOCK (yours)", "CLOCK", "LRU", "MQ", "OPT"]})
ratios.assign(hit_ratio_pct=[100 * row.hit_ratio for row in rows])

# %% [markdown]
# OPT knows the future and has the most hits over all references, writes included, of all caches that load every block
# they miss, as yours does; one that may leave blocks out is compared with `opt_bypass`. Your CLOCK and the package's
# are the same policy, and their results agree.
#
# On the command line, a class in a file of your own is named by file and class: `--policy ./mine.py:Clock`. For the
# speed of the others, start a package of your own, outside of this one:
#
# ```
# misspenalty new policy second_chance
# ```
#
# It contains a readable reference, a kernel, and tests that compare the two; once it is installed, every command knows
# its name.
