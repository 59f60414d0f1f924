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
# Open any block trace, look at it, draw hit-ratio curves, and try a policy of your own in a few lines of
# Python.

# %%
# %matplotlib inline
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pandas as pd

import misspenalty
from misspenalty.policies.registry import Reference
from misspenalty.studies.mq import figures as mq
from misspenalty.studies.mq.tables import distance_histogram
from misspenalty.traces import formats

ROOT = next(folder for folder in [Path.cwd(), *Path.cwd().parents] if (folder / "data" / "published").is_dir())
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
# Twelve sizes from a hundredth of the footprint to all of it, every size in its own thread. Hit ratios are
# over reads; writes touch the cache unless you say `writes="ignore"`.

# %%
POLICIES = ["lru", "mq", "2q", "opt"]
sizes = np.unique(np.geomspace(max(trace.blocks / 100, 1), trace.blocks, 12).astype(int)).tolist()
curve = pd.concat([misspenalty.hit_ratio_curve(trace, policy, sizes) for policy in POLICIES], ignore_index=True)
curve["cache_mb"] = curve["cache_blocks"] * trace.block_bytes / 2**20
curve["hit_ratio_pct"] = 100 * curve["hit_ratio"]
mq.hit_ratio_curve(curve)

# %% [markdown]
# ## 3. A policy of your own
#
# A policy is a class with one method: `access(block)` says whether the block was in the cache, and makes
# room if it was not. This one is CLOCK: blocks are arranged in a ring, a hit sets a mark, and the hand clears
# the mark of each marked block that it passes and evicts the first block without one.


# %%
class Clock(Reference):
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
# Replayed in Python on the first part of the trace, compared with policies of the package:

# %%
HEAD = 50_000
ids = trace.ids[:HEAD].tolist()
read = np.ones(len(ids), bool) if trace.write is None else ~trace.write[:HEAD]
cache_blocks = max(len(set(ids)) // 8, 1)


def outcome(policy):
    """Whether each reference of the first part hits, according to the kernel of a known policy."""
    hits = np.zeros(len(trace), bool)
    misspenalty.simulate(trace, policy, cache_blocks, hits=hits)
    return hits[:HEAD]


yours = Clock(cache_blocks)
outcomes = {"CLOCK (yours)": np.array([yours.access(block) for block in ids])}
outcomes |= {policy.upper(): outcome(policy) for policy in ("lru", "mq", "opt")}
ratios = {name: 100 * hits[read].mean() for name, hits in outcomes.items()}
pd.Series(ratios, name=f"hit ratio of reads, %, {cache_blocks} blocks").to_frame()

# %% [markdown]
# OPT knows the future and hits most over all references, writes included; a policy above it has a bug.
#
# To make it part of the package, so that the command line, the curves and the workflow know it by name, put the
# class into `src/misspenalty/policies/clock.py` and a kernel next to it; `docs/how-to/policy.md` has the three
# steps. The tests then compare kernel and reference on random traces without further work.
