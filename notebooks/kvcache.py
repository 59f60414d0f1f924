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
# # Key-value caches: MQ's question, twenty-five years on
#
# A server of a language model computes keys and values for every token of a prompt, and can keep them for the next
# prompt that begins in the same way. **How many seconds does a cache of them save, and does its policy matter?** The
# trace is an hour of a production service (Mooncake, FAST 2025).

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import pandas as pd

import misspenalty
from misspenalty.latency.prefill import time_to_first_token
from misspenalty.plotting.style import policy_line
from misspenalty.traces.prompts import read_prompts
from misspenalty_studies.common.notebook import counts, root

pd.options.display.precision = 2
prompts = read_prompts(root() / "data" / "raw" / "kvcache" / "conversation.jsonl.xz")
print(f"{len(prompts):,} prompts of {prompts.input_tokens.mean():,.0f} tokens on average, blocks of 512 tokens")

# %% [markdown]
# ## 1. A hit that is worth nothing
#
# Keys and values depend on all tokens before them. A block of a prompt saves work only if every block before it is in
# the cache, too. **Predict**: of the blocks that are found in the cache, what share counts under LRU, and under a
# policy that decides for each block by itself whether to keep it, such as W-TinyLFU? Under random replacement?

# %%
sizes = [1000, 5000, 20_000, 50_000]
POLICIES = ["lru", "s3fifo", "wtinylfu", "random", "opt"]
hits = misspenalty.prefix_hit_ratio_curve(prompts, POLICIES, sizes)
share = 100 * hits["hits"] / hits["block_hits"]
hits.assign(counts_pct=share).pivot(index="cache_blocks", columns="policy", values="counts_pct")[POLICIES]

# %% [markdown]
# ## 2. Which policy?
#
# **Predict**: LRU is a poor policy for a second-level cache (see the notebook on MQ). Is it the worst here?

# %%
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for policy, rows in hits.groupby("policy"):
    axes.plot(rows["cache_blocks"], 100 * rows["token_hit_ratio"], **policy_line(policy))
axes.set(xscale="log", xlabel="Cache size (blocks of 512 tokens)", ylabel="Tokens not computed again (%)")
axes.legend()
plt.show()

# %% [markdown]
# ## 3. Seconds
#
# The time to the first token is the time to load the reused prefix and to compute the rest. **Predict**: a flash drive
# loads 6.5 GB/s, the server's own memory 128 GB/s. Is loading from flash still faster than computing again?

# %%
times = time_to_first_token(prompts, ["lru", "s3fifo", "opt"], sizes[1:], ["dram", "ssd"])
times["mean_s"] = times["mean_us"] / 1e6
times.pivot(index=["device", "policy"], columns="cache_blocks", values="mean_s")

# %% [markdown]
# ## The answer

# %%
largest = times[times["cache_blocks"] == sizes[-1]].set_index(["device", "policy"])
without = largest["mean_s"] / (1 - largest["saved_ratio"])
print(f"Without a cache a prompt waits {without.iloc[0]:.2f} s for its first token.")
for place in ("dram", "ssd"):
    lru, opt = largest.loc[(place, "lru")], largest.loc[(place, "opt")]
    print(f"{sizes[-1]:,} blocks in {place}: LRU saves {lru['saved_ratio']:.0%}, OPT {opt['saved_ratio']:.0%}.")

# %% [markdown]
# A large cache in memory saves a third of the waiting; from flash it saves much less, because loading then takes nearly
# as long as computing. At the largest size LRU is close to OPT. In a smaller cache the policy matters, and it has to
# keep whole prefixes: a hit behind a gap saves nothing. The hit rates of the paper's Figure 9, next to ours:
#
# ![Published hit rates by cache size, and three ways to count LRU's](../results/kvcache/capacity.png)
#
# The verdicts on the paper's statements:

# %%
counts("kvcache")

# %% [markdown]
# ## Exercise
#
# Change the model: with `time_to_first_token(…, server=Server(shared_heads=1))` (`Server` is in
# `misspenalty.latency.prefill`), keys and values are eight times as large. From what bandwidth on does the cache pay
# off again? A bandwidth such as `"25GB/s"` can take the place of `"dram"`.
