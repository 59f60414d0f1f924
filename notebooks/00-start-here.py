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
# trace, policy or disk. `make lab` opens these notebooks; running one changes no file of the repository.
#
# | notebook | what it shows |
# |---|---|
# | [your_trace](your_trace.ipynb) | open any trace, compare policies, see the cost of a miss, write your own policy |
# | [your_disk](your_disk.ipynb) | describe a drive, replay requests on it, compare with measurements |
# | [whatif](whatif.ipynb) | the five conclusions on machines from 1997 to 2025, with sliders |
# | [mq](mq.ipynb) | Multi-Queue: a cache behind a cache (USENIX 2001) |
# | [sarc](sarc.ipynb) | SARC: sequential and random data in one cache (USENIX 2005) |
# | [hac](hac.ipynb) | HAC: an object cache that keeps hot objects (SOSP 1997) |
# | [epcm](epcm.ipynb) | EPCM: which file comes next (USENIX 2001) |
# | [vlog](vlog.ipynb) | the virtual log: writing wherever the head is (OSDI 1999) |
# | [classics](classics.ipynb) | LIRS, ARC, CAR and CLOCK-Pro on their authors' traces |
# | [delayed_hits](delayed_hits.ipynb) | delayed hits: when a hit has to wait (SIGCOMM 2020) |
# | [kvcache](kvcache.ipynb) | the key-value cache of a chat service (FAST 2025) |
# | [dispute](dispute.ipynb) | S3-FIFO and SIEVE, from the published results of thousands of traces |
#
# ## One minute
#
# A trace, three policies, one picture:

# %%
# %matplotlib inline
import ipywidgets as widgets
import numpy as np
import pandas as pd

import misspenalty
from misspenalty_studies.common.notebook import counts, root
from misspenalty_studies.mq.figures import hit_ratio_curve

trace = misspenalty.open_trace(root() / "tests" / "data" / "tpcc_small.parquet")
POLICIES = ["lru", "arc", "mq", "opt"]


def curves(policies=POLICIES, most_pct=100.0):
    """Hit ratios of policies over twelve cache sizes, up to a share of the footprint."""
    sizes = np.unique(np.geomspace(trace.blocks / 200, max(trace.blocks * most_pct / 100, 2), 12).astype(int)).tolist()
    table = pd.concat([misspenalty.hit_ratio_curve(trace, policy, sizes) for policy in policies], ignore_index=True)
    table["cache_mb"] = table["cache_blocks"] * trace.block_bytes / 2**20
    table["hit_ratio_pct"] = 100 * table["hit_ratio"]
    return hit_ratio_curve(table)


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
# ## What came out
#
# The statements of the MQ paper, by verdict; the notebook of each study lists those that were not reproduced, and why.

# %%
counts("mq")
