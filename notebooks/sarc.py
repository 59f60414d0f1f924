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
# # SARC: sequential and random data in one cache
#
# A storage controller sees two kinds of reads. Some come at random, and a track read once may be read again. Others
# come in sequence: the next track is known and can be prefetched, and once read it is of no further use. Both compete
# for the same cache. **How much of it should sequential data get, and how can a controller know while the load
# changes?** Gill and Modha (USENIX 2005) answered with *SARC*.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt

from misspenalty_studies.common.notebook import counts, root
from misspenalty_studies.sarc.runs import Run, fitted_shark

ROOT = root()

# %% [markdown]
# ## 1. Prefetching, and what can go wrong with it
#
# When a stream misses, a group of tracks is fetched at once (*synchronous* prefetch). That leaves one miss per group,
# however large the cache. If a hit on one track of the group, the trigger, fetches the next group before it is
# requested (*asynchronous* prefetch), no misses need remain.
#
# **Predict**: with plain LRU the new group is placed ahead of the unread rest of the old one. Which of the two is
# evicted first, and which is needed first? The remedy is to move that rest up as well:
#
# ![Misses by cache size: synchronous and asynchronous prefetch, and the remedy](../results/sarc/anomaly.png)
#
# ## 2. How SARC divides the cache
#
# SARC keeps sequential tracks in one list (SEQ) and all others in another (RANDOM), and estimates the value of one more
# page in each. With *s* sequential misses since the last hit in the bottom ΔL pages of RANDOM, one more page is worth
# about 2*s*/*L* misses in SEQ, which has *L* pages, and 1/ΔL in RANDOM. The **ratio** 2*s*ΔL/*L* compares the two
# values: above 1, SEQ should grow; below 1, RANDOM should. *LRU Top* treats all tracks alike. *LRU Bottom* inserts
# sequential ones near the LRU end of its list.
#
# ## 3. See the lists adapt
#
# A model of one sixteenth of the controller runs live for twelve minutes; the load falls after six of them and rises
# after nine. **Predict**: under which of the three policies does SEQ take most of the cache, and under which does its
# share follow the load?

# %%
settings = {"divisor": 16, "values": {}}
shark, _ = fitted_shark(ROOT / "studies/sarc/machine.yaml", ROOT / "results/sarc/fit.csv", settings)
loads = {0: 18750, 6: 2500, 9: 22500}  # scaled IOPS, by the minute from which they apply
minutes = 12

figure, (sizes, response) = plt.subplots(1, 2, figsize=(7, 2.4), layout="constrained")
for policy in ("lru_top", "sarc", "lru_bottom"):
    run = Run(shark, "cache_sensitive", policy, seed=1, peak=max(loads.values()))
    share, ms = [], []
    for minute in range(minutes):
        if minute in loads:
            run.load(loads[minute])
        interval = run.minute()
        share.append(100 * interval.state["seq_pages"] / run.cache_pages)
        ms.append(interval.response_ms)
    sizes.plot(share, label=policy)
    response.plot(ms, label=policy)
sizes.set(xlabel="minute", ylabel="SEQ (% of the cache)")
response.set(xlabel="minute", ylabel="response (ms)", yscale="log")
sizes.legend()
plt.show()

# %% [markdown]
# ## The answer
#
# LRU Top gives sequential data most of the cache, because they come in large numbers, and LRU Bottom gives them little,
# whatever the load. SARC lets the worth of a page decide, and its share follows the load:
#
# ![Sizes of the lists and the ratio over time, by policy](../results/sarc/lists.png)
#
# Response times, next to the paper's Table II:
#
# ![Published and obtained response times by load and policy](../results/sarc/table2.png)
#
# The verdicts on the paper's statements:

# %%
counts("sarc")

# %% [markdown]
# ## Exercise
#
# Double the load of the last three minutes. Which policy's response time grows first, and does the share of SEQ explain
# this?
