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
# A synchronous write of 4 KB costs a disk a few hundred microseconds of transfer and overhead, and several
# milliseconds of waiting for the right place. What if any free place were right?
#
# Wang, Anderson and Patterson (OSDI 1999) let the disk choose, and keep the map of where everything went in a
# log that has no fixed location. This notebook reads the results of our reproduction, and has three live parts: a
# few eager writes, a crash with its recovery, and a disk of your own at the end.
#
# The results are made by `make reproduce`.

# %%
# %matplotlib inline
# %config InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "dpi": 110}
from dataclasses import replace

import numpy as np
import pandas as pd
import yaml

from misspenalty import disks
from misspenalty.disks.drive.slices import cut
from misspenalty_studies.common.notebook import counts, read, root, statements
from misspenalty_studies.vlog import figures as draw
from misspenalty_studies.vlog import runs as vlog
from misspenalty_studies.vlog.file_systems.hosts import load_hosts
from misspenalty_studies.vlog.virtual_log.log import physical_blocks, recovered, spread, virtual_log
from misspenalty_studies.vlog.virtual_log.recovery import recover

ROOT = root()
pd.options.display.precision = 2

config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["vlog"]

# %% [markdown]
# ## 1. How long until a free sector passes?
#
# On a track with $n$ sectors of which a share $p$ is free, $(1-p)n/(1+pn)$ sectors pass before a free one. A head
# switch makes all other tracks of the cylinder available. Lines are these models, marks a simulation of the disk's
# mechanics. The triangles show what the virtual log actually needs: a free, aligned block of eight sectors.

# %%
draw.fig1(read("results/vlog/fig1.csv"))

# %% [markdown]
# ## 2. Eager writes, live
#
# A small disk, four fifths of which are in use. Each row is one write of 4 KB to a random block; the block's old place
# becomes free, and so does that of the older map sector.

# %%
small = cut(disks.load("st19101"), 2)
blocks = int(0.8 * physical_blocks(small))
rng = np.random.default_rng(1)


def filled(**parameters):
    """A virtual log with all its blocks written once."""
    disk = virtual_log(small, blocks, **parameters)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, physical_blocks(small)))
    return disk


disk, rows = filled(), []
for block in rng.integers(0, blocks, 6):
    before = disk.mapping()[block]
    end, parts = disk.request(disk.now, True, int(block) * 8, 8)
    rows.append({"block": block, "from": before, "to": disk.mapping()[block], "locate_us": parts["locate"] / 1000,
                 "of_it_map_us": parts["map_locate"] / 1000, "transfer_us": parts["transfer"] / 1000})  # fmt: skip
pd.DataFrame(rows).style.hide().format(precision=0)

# %% [markdown]
# ## 3. A crash, live
#
# This disk stores real bytes. It writes at random until the power fails after 5000 more sectors, in the middle of
# whatever it is doing. What remains is the media and, thanks to residual power, the location of the log's tail.

# %%
media = np.zeros(small.blocks * 512, np.uint8)
disk = filled(media=media)
disk.fail_after(5000)
acknowledged = 0
while not disk.dead:
    last = disk.mapping()
    disk.request(disk.now, True, int(rng.integers(0, blocks)) * 8, 8)
    acknowledged += not disk.dead
disk.power_down()
damaged = media.copy()
damaged[:512] = 0  # the same, with the tail's place lost

disk, found = recovered(small, blocks, media)
scanned = recover(damaged, blocks)
print(
    f"{acknowledged} writes were acknowledged; blocks of the map that differ from the last acknowledged state: "
    f"{int((found.map != last).sum())}"
)
print(
    f"from the tail: {found.sectors_read} sectors read; by a scan: {scanned.sectors_read}, "
    f"same map: {bool((scanned.map == found.map).all())}"
)

# %% [markdown]
# ## 4. Three platforms: Table 2 and Figure 9
#
# The paper gives an ordering and "almost an order of magnitude", but no numbers.

# %%
read("results/vlog/table2.csv").style.hide()

# %%
draw.fig9(read("results/vlog/fig9.csv"))

# %% [markdown]
# ## 5. Why not ten?
#
# Conditions of our own, one by one and together. Those with a star are prepared beforehand and used up by updates, so
# they are measured over the first updates. None of this is judged.

# %%
draw.speedup_conditions(read("results/vlog/speedup_conditions.csv"))

# %%
draw.host_range(read("results/vlog/host_range.csv"))

# %% [markdown]
# ## 6. Filling tracks, files, load, idle time
#
# The paper's other figures.

# %%
draw.fig2(read("results/vlog/fig2.csv"))

# %%
draw.fig6(read("results/vlog/fig6.csv"))

# %%
draw.fig7(read("results/vlog/fig7.csv"))

# %%
draw.fig8(read("results/vlog/fig8.csv"))

# %%
draw.fig10(read("results/vlog/fig10.csv"), read("results/vlog/fig11.csv"))

# %% [markdown]
# What the text says about them, compared with our tables:

# %%
read("results/vlog/statements.csv").style.hide()

# %% [markdown]
# ## 7. What if the disk were one of 2015, or flash?
#
# The same updates on a 7200 rpm SATA disk and on SATA and NVMe flash, with a host of 2015. Flash maps its blocks
# anyway, so the virtual log's map sector is additional work. The last column shows what is written, in KB per update.

# %%
later = read("results/vlog/what_if.csv")
later[["platform", "system", "total_us", "written_kb"]].style.hide().format(precision=1)

# %%
draw.what_if(later)

# %% [markdown]
# ## 8. The verdicts

# %%
counts("vlog")

# %%
statements("vlog")

# %% [markdown]
# ## 9. Your turn
#
# Change the cell below, then run it and the next one. `misspenalty.disks.names()` lists the drives; you can change
# `head_switch_ms`, `overhead_ms`, `rpm`, `seek_factor` and the skews.
#
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
PLATFORM = "ultra170_seagate"
CHANGES = {"head_switch_ms": 0.3}
WORKLOAD = {"utilisation": 0.6, "prepared": "steady"}  # or "emptied", "fresh"; try log_map=False, reserve=6

# %%
hosts = load_hosts(ROOT / "studies" / "vlog" / "machine.yaml")
platform = vlog.make_platforms(config["platforms"], hosts)[PLATFORM]
workload = vlog.Workload(**config["workload"])
mine = {f"{PLATFORM}": (platform, workload), "changed": (platform.changed(**CHANGES), replace(workload, **WORKLOAD))}
table = pd.concat(vlog.fig9({label: place}, load).assign(platform=label) for label, (place, load) in mine.items())
print(vlog.table2(table).to_string(index=False))
draw.fig9(table)
