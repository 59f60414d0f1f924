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
# # HAC: pages where locality is good, objects where it is poor
#
# A client of an object store fetches pages of 8 KB and has memory for only a part of them. Caching pages wastes that
# memory where a program uses only some objects of each page; caching objects costs work for every object. Castro, Adya,
# Liskov and Myers (SOSP 1997) do both: *hybrid adaptive caching* fetches pages, and when it needs a frame, it keeps the
# hot objects of a victim and discards the rest. **For which programs is that better than caching pages?**

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty_studies.common.notebook import counts
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import COUNTS, FPC, HAC
from misspenalty_studies.hac.objects.traversals import Program

pd.options.display.precision = 1

# %% [markdown]
# ## 1. A database, as bytes
#
# OO7 is a tree of assemblies over composite parts, each a graph of atomic parts and connections. Its *small* database,
# generated as pages:

# %%
database = oo7.generate(oo7.SMALL, np.random.default_rng(1))
print(f"{database.objects:,} objects on {len(database.pages)} pages of 8 KB")

# %% [markdown]
# ## 2. Two visits
#
# Traversal T6 reads the root part of each composite part: a few objects of nearly every page. A cache of 200 KB has
# room for about 25 of the pages. **Predict**: how many pages does HAC fetch in a second visit? And FPC, which caches
# pages?

# %%
KB = 1024


def visits(kind, traversal, size, times=2, **parameters):
    """Return the cache, and the number of pages that each of several visits fetched."""
    cache = kind(database, size, **parameters)
    program, fetched = Program(cache, database), []
    for _ in range(times):
        program.run(traversal)
        fetched.append(int(np.count_nonzero(cache.log()[0])))
    return cache, fetched


hac, by_hac = visits(HAC, "T6", 200 * KB)
fpc, by_fpc = visits(FPC, "T6", 200 * KB)
pd.DataFrame({"HAC": by_hac, "FPC": by_fpc}, index=["first visit", "second visit"]).T

# %% [markdown]
# Each bar is a frame of the cache. HAC has packed objects that were used, from many pages, into the frames that it
# compacted; the frames of FPC are pages as they were fetched, with few objects that were used.

# %%
figure, panels = plt.subplots(1, 2, figsize=(7, 2.4), sharey=True, layout="constrained")
for axes, (name, cache) in zip(panels, {"HAC": hac, "FPC": fpc}.items(), strict=True):
    frames = [frame for frame in cache.contents() if frame["things"]]
    held = np.array([len(frame["things"]) for frame in frames])
    used = np.array([sum(usage > 0 for _, usage, _, _ in frame["things"]) for frame in frames])
    axes.bar(range(len(frames)), used, color="#004c8c", label="used")
    axes.bar(range(len(frames)), held - used, bottom=used, color="#e4e4e4", hatch="///", label="not used")
    axes.set(title=name, xlabel="Frame", ylabel="Objects")
panels[1].legend()
plt.show()

# %% [markdown]
# ## 3. Four programs
#
# T6 reads a few objects of a page, T1- about a fifth of them, T1 about half, and T1+ nearly all. **Predict**: for which
# of them does HAC keep the smallest part of a page, and where does it work most like a page cache?

# %%
rows = {}
for name, kilobytes in (("T6", 160), ("T1-", 500), ("T1", 900), ("T1+", 1500)):
    cache = HAC(database, kilobytes * KB)
    Program(cache, database).run(name)
    counted = pd.Series(cache.log()[1][-1], COUNTS)
    rows[name] = {
        "objects of a page that survive, %": 100 * counted["page_survivors"] / counted["page_objects"],
        "victims evicted whole, %": 100 * counted["whole_evictions"] / counted["frames_compacted"],
    }
pd.DataFrame(rows).T

# %% [markdown]
# ## 4. Misses against size
#
# **Predict**: how much more memory does FPC need than HAC to repeat T6 without a miss? And T1?

# %%
SIZES = np.array([100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 4000, 5000])
misses = {
    (traversal, kind.__name__): np.array([visits(kind, traversal, int(size) * KB)[1][1] for size in SIZES])
    for traversal in ("T6", "T1")
    for kind in (HAC, FPC)
}
figure, panels = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True, layout="constrained")
for axes, traversal in zip(panels, ("T6", "T1"), strict=True):
    axes.plot(SIZES, misses[traversal, "HAC"], "o-", label="HAC")
    axes.plot(SIZES, misses[traversal, "FPC"], "s--", label="FPC")
    axes.set(title=traversal, xlabel="Cache (KB)", ylabel="Pages fetched by the second visit")
panels[1].legend()
plt.show()

# %% [markdown]
# ## The answer

# %%
for traversal in ("T6", "T1"):
    enough = {kind: SIZES[misses[traversal, kind] == 0].min(initial=99_999) for kind in ("HAC", "FPC")}
    print(f"{traversal}: without a miss from {enough['HAC']} KB with HAC, from {enough['FPC']} KB with FPC")

# %% [markdown]
# HAC needs much less memory than FPC where a program uses few objects of a page (T6), and somewhat less where it uses
# half of them (T1). The cost at each miss on the paper's machine, next to the values that the paper prints on its
# Figure 9:
#
# ![Published and reproduced shares of the miss penalty, by traversal](../results/hac/fig9.png)
#
# The verdicts on the paper's statements:

# %%
counts("hac")

# %% [markdown]
# ## Exercise
#
# HAC looks at `scan=3` frames per fetch to find victims. Try `visits(HAC, "T1", 900 * KB, 3, scan=1)` and `scan=10`.
# What does scanning more frames gain, and what does it cost in `frames_scanned`?
