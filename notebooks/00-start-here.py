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
# # Start here
#
# **Miss Penalty** reproduces classic papers on storage caching from raw traces, and lets you try the same with your own
# trace, policy or disk. `make lab` opens these notebooks; running one changes no file of the repository. Each begins
# with a question, asks you to predict, computes the answer while you watch, and ends with an exercise.
#
# | notebook | its question |
# |---|---|
# | [your_trace](your_trace.ipynb) | Which policy, how large, and how many milliseconds, for your trace? |
# | [your_disk](your_disk.ipynb) | What does a request wait for, and what would another drive change? |
# | [mq](mq.ipynb) | MQ (USENIX 2001): which blocks should a cache behind a cache keep? |
# | [sarc](sarc.ipynb) | SARC (USENIX 2005): how much of the cache should sequential data get? |
# | [hac](hac.ipynb) | HAC (SOSP 1997): when is caching objects better than caching pages? |
# | [epcm](epcm.ipynb) | EPCM (USENIX 2001): how soon can a system foresee which file comes next? |
# | [vlog](vlog.ipynb) | The virtual log (OSDI 1999): how much faster is a write that may go anywhere? |
# | [classics](classics.ipynb) | LIRS, ARC, CAR, CLOCK-Pro (2002 to 2005): do they all cope with a loop? |
# | [delayed_hits](delayed_hits.ipynb) | Delayed hits (SIGCOMM 2020): do more hits mean less waiting? |
# | [kvcache](kvcache.ipynb) | The key-value cache of a chat service (FAST 2025): how many seconds does it save? |
# | [dispute](dispute.ipynb) | S3-FIFO, SIEVE (2023, 2024): are simple policies better, and on which traces? |
# | [whatif](whatif.ipynb) | Which of the older conclusions still hold on today's machines? |
#
# ## One minute
#
# A short stretch of TPC-C, three policies and OPT, which knows the future. **Predict**: is the gap between LRU and OPT
# larger in a small cache or in a large one?

# %%
# %matplotlib inline
import ipywidgets as widgets
import numpy as np

import misspenalty
from misspenalty.plotting.curve import hit_ratio
from misspenalty_studies.common.notebook import counts, root

trace = misspenalty.open_trace(root() / "tests" / "data" / "tpcc_small.parquet")
POLICIES = ["lru", "arc", "mq", "opt"]


def curves(policies=POLICIES, most_pct=100.0):
    """Plot hit ratios of policies over twelve cache sizes, up to a share of the footprint."""
    sizes = np.unique(np.geomspace(trace.blocks / 200, max(trace.blocks * most_pct / 100, 2), 12).astype(int)).tolist()
    return hit_ratio(misspenalty.hit_ratio_curve(trace, list(policies), sizes), trace.block_bytes)


curves()

# %% [markdown]
# Choose policies and sizes; the result is computed at once:

# %%
_ = widgets.interact(
    curves,
    policies=widgets.SelectMultiple(options=[*POLICIES, "2q", "lirs", "s3fifo", "fifo"], value=POLICIES),
    most_pct=widgets.FloatLogSlider(value=100, base=10, min=0, max=2, step=0.1, description="up to, %"),
)

# %% [markdown]
# ## The answer

# %%
sizes = ["2%", "10%", "50%"]
table = misspenalty.hit_ratio_curve(trace, ["lru", "opt"], sizes).pivot(index="cache_blocks", columns="policy")
for share, (_, row) in zip(sizes, table["hit_ratio"].iterrows(), strict=True):
    print(f"cache of {share} of the footprint: LRU hits {row['lru']:.0%}, OPT {row['opt']:.0%} of the reads")

# %% [markdown]
# The gap is what a better policy could gain; the papers on replacement each close a part of it, for some traces and
# sizes. The numbers of printed statements by verdict, for each study:

# %%
counts()

# %% [markdown]
# ## Exercise
#
# Which of the policies above comes closest to OPT at a tenth of the footprint? Is it the same one at half of it?
