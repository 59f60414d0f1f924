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
# # The virtual log: writing wherever the head is
#
# A synchronous write of 4 KB costs a disk of 1998 a few hundred microseconds of transfer and overhead, and several
# milliseconds of waiting for the right place. Wang, Anderson and Patterson (OSDI 1999) let the disk choose the place,
# and keep the map of where everything went in a log without a fixed location. **How much faster is a write if any free
# place will do, up to which utilisation of the disk, and what is lost in a crash?**

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.disks.drive.slices import cut
from misspenalty_studies.common.notebook import counts
from misspenalty_studies.vlog.virtual_log.log import physical_blocks, recovered, spread, update_in_place, virtual_log

pd.options.display.precision = 2
small = cut(disks.load("st19101"), 2)  # two cylinders of a disk of 1998
places = physical_blocks(small)
print(f"{places:,} places of 4 KB; one revolution takes {small.mechanics.revolution_ns / 1e6:.1f} ms")

# %% [markdown]
# ## 1. Six writes
#
# Four fifths of the disk are in use. Each row is a write to a random block. The block moves to a free place, and its
# old place becomes free, as does that of the older map sector. **Predict**: update in place waits half a revolution on
# average. How long does the virtual log wait for the block and the map sector together?

# %%
rng = np.random.default_rng(1)


def filled(share, **parameters):
    """Return a virtual log in which a given share of the places is in use, and its number of blocks."""
    blocks = int(share * places)
    disk = virtual_log(small, blocks, **parameters)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, places))
    return disk, blocks


disk, blocks = filled(0.8)
rows = []
for block in rng.integers(0, blocks, 6):
    before = disk.mapping()[block]
    _, parts = disk.request(disk.now, True, int(block) * 8, 8)
    rows.append({"block": block, "from": before, "to": disk.mapping()[block], "waited, ms": parts["locate"] / 1e6})
pd.DataFrame(rows).style.hide().format(precision=2)

# %% [markdown]
# ## 2. A full disk
#
# **Predict**: at which utilisation does eager writing cost as much as update in place?

# %%
SHARES = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.94]


def mean_ms(disk, blocks, writes=400, **_):
    """Return the mean time, ms, of random writes of 4 KB, one after another."""
    rng, start, now = np.random.default_rng(2), 0, 0
    total = 0
    for block in rng.integers(0, blocks, writes):
        start = now
        now, _ = disk.request(start, True, int(block) * 8, 8)
        total += now - start
    return total / writes / 1e6


in_place = mean_ms(update_in_place(small), int(0.8 * places))
eager = [mean_ms(*filled(share)) for share in SHARES]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(SHARES, eager, "o-", label="virtual log")
axes.axhline(in_place, color="#e8702a", linestyle="--", label="update in place")
axes.set(xlabel="Share of the disk in use", ylabel="Mean time of a write (ms)", ylim=(0, None))
axes.legend()
plt.show()

# %% [markdown]
# ## 3. A crash
#
# This disk stores real bytes. It writes at random until the power fails after 5000 more sectors, in the middle of
# whatever it is doing. **Predict**: how many blocks of the map differ afterwards from the last acknowledged state? What
# if the place of the log's tail is lost, too?

# %%
media = np.zeros(small.blocks * 512, np.uint8)
disk, blocks = filled(0.8, media=media)
disk.fail_after(5000)
acknowledged = 0
while not disk.dead:
    last = disk.mapping()
    disk.request(disk.now, True, int(rng.integers(0, blocks)) * 8, 8)
    acknowledged += not disk.dead
disk.power_down()
damaged = media.copy()
damaged[:512] = 0  # lose the place of the tail as well
rows = {}
for name, bytes_ in {"from the tail": media, "by a scan": damaged}.items():
    _, found = recovered(small, blocks, bytes_)
    rows[name] = {"sectors read": found.sectors_read, "blocks that differ": int((found.map != last).sum())}
print(f"{acknowledged} writes were acknowledged")
pd.DataFrame(rows).T

# %% [markdown]
# ## The answer

# %%
for share in (0.5, 0.8, 0.94):
    print(f"{share:.0%} in use: a write is {in_place / eager[SHARES.index(share)]:.1f} times as fast as in place")

# %% [markdown]
# A write that may go anywhere is faster at each of these utilisations, but less so as free places become rare. The
# crash lost nothing that was acknowledged. The paper reports a speed-up of almost an order of magnitude on the newest
# of three platforms (its Table 2). Our times on these platforms:
#
# ![Time of an update in place and on the virtual log, by platform](../results/vlog/fig9.png)
#
# The verdicts on the paper's statements:

# %%
counts("vlog")

# %% [markdown]
# ## Exercise
#
# `cut(disks.load("st19101"), 2, head_switch_ms=0.3)` is the same disk with a faster head switch, and `rpm=15000` one
# that turns faster. Which of the two brings the virtual log closer to an order of magnitude, and why?
