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
# A language-model server keeps the keys and values of prompts in the memory of its GPUs and in a second level below.
# Does the policy of that second level matter, and by how many seconds? The trace is an hour of a production service
# (Mooncake, FAST 2025). This notebook reads the archived results; nothing is replayed.

# %%
# %matplotlib inline

import pandas as pd

from misspenalty_studies.common.notebook import counts, read, root, statements
from misspenalty_studies.kvcache import figures

ROOT = root()
pd.options.display.precision = 2

# %% [markdown]
# ## 1. The trace, and what a token costs
#
# The costs follow from the paper's formulas; `studies/kvcache/machine.yaml` has every parameter with its source.

# %%
read("results/kvcache/table2.csv").transpose()

# %%
read("results/kvcache/costs.csv")

# %% [markdown]
# ## 2. One cache, next to the paper's Figure 9
#
# The paper does not define its hit rate. Three ways to count LRU's hits are drawn next to the published values.

# %%
hits = read("results/kvcache/hits.csv")
figures.capacity(hits, read("studies/kvcache/published/fig9.csv"))

# %%
whole = hits[hits["part"] == "all"]
whole.pivot(index="policy", columns="cache_tokens", values="share_of_possible_pct")

# %% [markdown]
# ## 3. Block hits and contiguous prefixes
#
# Only the blocks before a prompt's first miss save prefill work. Policies that evict blocks from the middle of a prompt
# have hits that are worth nothing.

# %%
figures.prefixes(hits)

# %% [markdown]
# ## 4. The second level
#
# It sees what an LRU first level misses.

# %%
second = read("results/kvcache/second_level.csv")
figures.second_level(second)

# %% [markdown]
# ## 5. Seconds
#
# The mean time to first token of requests served one at a time: prefill of what is not reused, and loading from the
# server's own memory, another server's memory, or a flash drive.

# %%
figures.ttft(read("results/kvcache/ttft.csv"))

# %%
varied = read("results/kvcache/sensitivity.csv")
varied.pivot_table(index=["parameter", "value"], columns=["kind", "policy"], values="saved_pct", dropna=True)

# %% [markdown]
# ## 6. A cluster: local caches or a shared one
#
# `aware` routing sends a request to the server with the lowest predicted time to first token, `balanced` routing to the
# one with the shortest queue.

# %%
read("results/kvcache/fig10.csv").pivot(index="cache", columns="routing", values=["hit_pct", "ttft_s"])

# %% [markdown]
# ## 7. The verdicts
#
# Statements of the paper are judged on the whole trace. The forecasts of this project were made from the first half and
# are judged on the second. One hour of one service does not establish a law, and neither would two.

# %%
counts("kvcache")

# %%
statements("kvcache")

# %%
read("results/forecasts.csv").query("study == 'kvcache'")[["statement", "forecast", "obtained", "unit", "verdict"]]
