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
# A database keeps its hottest blocks in memory. The storage server behind it has a cache of its own, which
# sees only what misses in the database's cache. Which blocks should that second cache keep?
#
# Zhou, Philbin and Li (USENIX 2001) answered with **Multi-Queue** (MQ) and measured it under TPC-C. This
# notebook reads the results of our reproduction, step by step, and ends with a cell in which you can replay
# the trace yourself.
#
# The results are made by `make reproduce`; only the replay at the end is computed here.

# %%
# %matplotlib inline

import pandas as pd
import yaml

import misspenalty
from misspenalty_studies.common.notebook import read, root, statements
from misspenalty_studies.mq import figures as mq

ROOT = root()
pd.options.display.precision = 2

config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
server, variant = config["mq"]["server"], "calibrated"
print(f"server: {mq.capture_name(server)} of database cache; variant: {mq.capture_name(variant)} of the first level")

# %% [markdown]
# ## 1. Why recency is not enough
#
# The **temporal distance** of an access is how many accesses ago the same block was accessed last. LRU with
# room for C blocks hits roughly those re-accesses whose distance is below C.
#
# On the client's side, re-accesses come at all distances, near ones included:

# %%
mq.distances(read("results/mq/fig2.csv"))

# %% [markdown]
# The database's cache absorbs the near ones. Blocks that miss there are accessed again late, beyond the dashed
# line, which marks the size of the first level in blocks:

# %%
mq.distances(read("results/mq/fig3.csv"))

# %% [markdown]
# But some blocks are still accessed much more often than others. The left panel counts blocks, the right one
# accesses: a few blocks receive a large share. A policy that remembers *how often* a block was accessed can find
# them, even if each re-access comes late.

# %%
mq.fig4(read("results/mq/fig4.csv"))

# %% [markdown]
# ## 2. How MQ works
#
# MQ keeps several LRU queues. A block with f accesses is in queue log2(f), so that every doubling raises it
# by one. A block that is not used for a *lifetime* moves down one queue; the victim is the oldest block
# of the lowest queue. A history of evicted blocks remembers their counts, so that a block that is accessed
# again does not start from zero.
#
# The readable definition is a Python class, its *reference*; the compiled kernel gives the same outcome for every
# access. Here the reference runs on a handful of accesses to a cache of three blocks. Note that A, which was used
# three times, survives the scan D E F G that would have emptied an LRU cache:

# %%
definition = misspenalty.policies()["mq"]
reference = definition.reference(3, life_time=6)
steps = []
for block in "AABADEFGA":
    hit = reference.access(block)
    queues = {f"Q{k}": " ".join(queue) for k, queue in enumerate(reference.queues[:3])}
    steps.append({"access": block, "": "hit" if hit else "miss", **queues, "history": " ".join(reference.history)})
pd.DataFrame(steps)

# %% [markdown]
# ## 3. Hit ratios: Table 4
#
# Published and reproduced values, in per cent of the reads. The *variant* is a second stream, behind an LRU first level
# whose size is calibrated on the distances of the paper's Table 3. Verdicts on it are counted separately.

# %%
printed4 = read("studies/mq/published/table4.csv").rename(columns={"storage_cache_mb": "cache_mb"})
tables4 = {server: read("results/mq/table4.csv"), variant: read("results/mq/table4_calibrated.csv")}
sides = {"published": printed4, **{mq.capture_name(label): table for label, table in tables4.items()}}
pd.concat({name: side.set_index(["policy", "cache_mb"])["hit_ratio_pct"] for name, side in sides.items()}, axis=1)

# %%
mq.table4(tables4, printed4)

# %% [markdown]
# All policies of the paper, on every trace and at more cache sizes. OPT knows the future; no policy can do
# better.

# %%
mq.table2(read("results/mq/table2.csv"))

# %% [markdown]
# Where the hits come from: blue bars are hits, orange bars are misses; plain blue and cross-hatched orange are
# re-accesses at distances below the cache size. MQ loses some of the near ones and gains far more of the
# distant ones.

# %%
mq.table3(read("results/mq/table3.csv"), read("studies/mq/published/table3.csv"))

# %% [markdown]
# ## 4. What it is worth: Figure 7
#
# A hit saves a disk access; whether the database notices depends on everything else a transaction waits for.
# A model of the paper's machines replays the trace in a closed loop. One of its parameters is stated nowhere
# and was fitted to one published bar, which is marked; the other bars are predictions.

# %%
fitted = [
    (target["where"]["cache_mb"], target["where"]["policy"])
    for fit in yaml.safe_load((ROOT / "data" / "calibration.yaml").read_text())
    for target in fit["published"]
    if target["table"] == "mq_fig7"
]
tables7 = {server: read("results/mq/fig7.csv"), variant: read("results/mq/fig7_calibrated.csv")}
mq.fig7(tables7, read("studies/mq/published/fig7.csv"), fitted)

# %%
mq.fig7_components(read("results/mq/fig7_components.csv"))

# %% [markdown]
# ## 5. The verdicts
#
# A ledger lists every statement of the paper's section that can be tested. How many are reproduced?

# %%
claims = {server: read("results/claims.csv"), variant: read("results/claims_calibrated.csv")}
pd.DataFrame(
    {mq.capture_name(label): table[table["study"] == "mq"]["verdict"].value_counts() for label, table in claims.items()}
).fillna(0).astype(int)

# %% [markdown]
# Those that are not, with their notes:

# %%
statements("mq")

# %% [markdown]
# ## 6. Your turn
#
# Change the cell below, then run it and the next two. Sizes are in MB; `misspenalty policies` on the command
# line lists the policies with their parameters. Replaying a capture with one policy at one size takes about a
# second.
#
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
POLICIES = ["lru", "mq"]  # try "2q", "lfu", "fbr", "lru2", "lfru", "mru", "opt"
CACHE_MB = config["mq"]["cache_mb"]  # try [64, 100, 200, 800]
WRITES = "count"  # "ignore": writes do not touch the cache
PARAMETERS = {"mq": {}}  # try {"mq": {"queues": 2, "history": 0}}

# %%
compiled = ROOT / "results" / "traces" / f"{server}.trace"
small = ROOT / "tests" / "data" / "tpcc_small.parquet"
if compiled.is_dir():
    trace, sizes = misspenalty.open_trace(compiled), CACHE_MB
else:
    trace, sizes = misspenalty.open_trace(small), [mb / 16 for mb in CACHE_MB]
    print(
        f"{compiled.relative_to(ROOT)} is not there (`make reproduce` compiles it): replaying the small sample "
        f"{small.relative_to(ROOT)} instead, with caches a sixteenth of the size"
    )
print(trace)

# %%
blocks = [max(int(mb * 2**20) // trace.block_bytes, 1) for mb in sizes]
curves = [
    misspenalty.hit_ratio_curve(trace, policy, blocks, writes=WRITES, **PARAMETERS.get(policy, {}))
    for policy in POLICIES
]
curve = pd.concat(curves, ignore_index=True)
curve["cache_mb"] = curve["cache_blocks"] * trace.block_bytes / 2**20
curve["hit_ratio_pct"] = 100 * curve["hit_ratio"]
curve.pivot(index="cache_mb", columns="policy", values="hit_ratio_pct")

# %%
mq.hit_ratio_curve(curve)

# %% [markdown]
# For your own trace or your own policy, see [your_trace.ipynb](your_trace.ipynb).
