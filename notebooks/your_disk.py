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
# # Your disk
#
# Describe a drive or import one, look at its seek curve and zones, replay requests on it, and compare its service
# times with measured ones.

# %%
# %matplotlib inline

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.disks.requests import Requests, read_requests, replay
from misspenalty_studies.common.notebook import root

ROOT = root()
pd.options.display.precision = 3

# %% [markdown]
# ## 1. A drive
#
# These come with the package. A description of your own is a YAML file in the same format:
# `data/drives/drive.schema.yaml` explains each key for disks, `flash.schema.yaml` for flash. With `like: hp97560`,
# everything that your file leaves out is taken from that drive. DiskSim's parameter files are imported with
#
# ```
# misspenalty disk import mine.parv mine.yaml
# ```

# %%
pd.DataFrame({"disk": pd.Series(disks.names("disk")), "flash": pd.Series(disks.names("flash"))}).fillna("").style.hide()

# %% [markdown]
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
DRIVE = "cheetah9lp"  # a name from above, or the path of a description; of kind disk
CHANGES = {}  # values to try, such as {"mechanics.rpm": 15000}
TRACE = None  # a file of lines `R|W action lbn blocks service_us delay_us`; None = random requests
FLASH = "dc_s3700"  # to compare with

# %%
kind = disks.load(DRIVE, "disk").replace(CHANGES)
pd.Series(
    {
        "model": kind.model,
        "GB": f"{kind.gigabytes:.1f}",
        "revolution, ms": f"{kind.mechanics.revolution_ns / 1e6:.2f}",
        "where its values come from": ", ".join(sorted({entry["status"] for entry in kind.data["sources"].values()})),
    },
    name=kind.name,
).to_frame()

# %% [markdown]
# ## 2. Seek curve and zones

# %%
distance = np.unique(np.geomspace(1, kind.mechanics.cylinders - 1, 300).astype(int))
figure, axis = plt.subplots(figsize=(6, 3))
axis.plot(distance, [kind.mechanics.seek(int(d)) / 1e6 for d in distance], color="#004c8c")
axis.set(xlabel="Distance (cylinders)", ylabel="Seek (ms)", ylim=(0, None))
axis.grid(alpha=0.3)

# %%
zones = kind.data["geometry"]["zones"]
rate = kind.data["geometry"]["sector_bytes"] * kind.data["mechanics"]["rpm"] / 60e6
figure, axis = plt.subplots(figsize=(6, 3))
for zone in zones:
    ends = [zone["first_cylinder"], zone["last_cylinder"] + 1]
    axis.plot(ends, [zone["sectors"] * rate] * 2, color="#004c8c", linewidth=2)
axis.set(xlabel="Cylinder", ylabel="Media rate (MB/s)", ylim=(0, None))
axis.grid(alpha=0.3)

# %% [markdown]
# ## 3. Replay
#
# Each request is issued after a given delay from the completion of the previous one. `read_requests` reads a file of
# your own; its service times are taken to be measured ones.

# %%
if TRACE is None:
    rng = np.random.default_rng(1)
    count = 5000
    asked = Requests(
        lbn=rng.integers(0, kind.blocks - 8, count),
        count=np.full(count, 8, np.int32),
        write=(rng.random(count) < 1 / 3).astype(np.uint8),
        delay=np.zeros(count, np.int64),
    )
else:
    asked = read_requests(TRACE)
outcome = replay(kind, asked)
records = pd.DataFrame(outcome.records)
(records[list(disks.COMPONENTS)].mean() / 1e6).rename("mean, ms").to_frame().transpose()

# %%
figure, axis = plt.subplots(figsize=(6, 3))
axis.ecdf(outcome.simulated, color="#004c8c", label="simulated")
if outcome.measured is not None:
    axis.ecdf(outcome.measured, color="#e8702a", linestyle="--", label="measured")
axis.set(xlabel="Service time (ms)", ylabel="Share of the requests", xlim=(0, None))
axis.legend(loc="lower right")
axis.grid(alpha=0.3)

# %% [markdown]
# The demerit figure of Ruemmler and Wilkes is the root mean square of the horizontal distance between the two
# curves. It needs measured times.

# %%
pd.Series(outcome.row()).rename(kind.name).to_frame().transpose()

# %% [markdown]
# ## 4. The same requests on flash
#
# Addresses are taken modulo the size of the flash drive, which starts out empty.

# %%
flash = disks.load(FLASH, "flash")
moved = Requests(asked.lbn % (flash.blocks - asked.count), asked.count, asked.write, asked.delay)
later = replay(flash, moved)
figure, axis = plt.subplots(figsize=(6, 3))
for name, times, colour in ((kind.name, outcome.simulated, "#004c8c"), (flash.name, later.simulated, "#009e73")):
    axis.ecdf(times, color=colour, label=name)
axis.set(xlabel="Service time (ms)", ylabel="Share of the requests", xscale="log")
axis.legend(loc="lower right")
axis.grid(alpha=0.3)
