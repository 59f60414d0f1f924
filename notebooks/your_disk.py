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
# # Your disk: what does a request wait for?
#
# A disk moves its arm, waits for the platter to come around, and transfers data; flash has neither arm nor platter.
# **What does a random request of 4 KB wait for, and what would a faster spindle or flash change?** Change one cell, and
# the notebook answers for your drive.

# %%
# %matplotlib inline
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.disks.requests import Requests, read_requests, replay

pd.options.display.precision = 2

# %% [markdown]
# `misspenalty disk list` lists the drives. A description of your own is a YAML file in the same format; with
# `like: hp97560`, everything that it leaves out, except its name, is taken from that drive. DiskSim's parameter files
# are imported with `misspenalty disk import mine.parv mine.yaml`.
#
# <div style="border-left: 4px solid #e8702a; padding-left: 1em"><b>Change these</b></div>

# %% tags=["parameters"]
DRIVE = "cheetah9lp"  # name of a drive of kind disk, or path of its description
CHANGES = {"mechanics.rpm": 15000}  # values to change in its description
TRACE = None  # file of lines `R|W action lbn blocks service_us delay_us`; None for random requests
FLASH = "dc_s3700"  # flash drive to compare with

# %% [markdown]
# ## 1. The drive
#
# The seek curve shows how long the arm takes for each distance; outer zones hold more sectors and deliver more per
# revolution. **Predict**: how much longer does a seek over all cylinders take than one to the next?

# %%
drive = disks.load(DRIVE, "disk")
distance = np.unique(np.geomspace(1, drive.mechanics.cylinders - 1, 300).astype(int))
seek = np.array([drive.mechanics.seek(int(one)) / 1e6 for one in distance])
sectors = drive.data["geometry"]["sector_bytes"] * drive.data["mechanics"]["rpm"] / 60e6
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
left.plot(distance, seek, color="#004c8c")
left.set(xlabel="Distance (cylinders)", ylabel="Seek (ms)", ylim=(0, None))
for zone in drive.data["geometry"]["zones"]:
    ends = [zone["first_cylinder"], zone["last_cylinder"] + 1]
    right.plot(ends, [zone["sectors"] * sectors] * 2, color="#004c8c", linewidth=2)
right.set(xlabel="Cylinder", ylabel="Media rate (10⁶ bytes/s)", ylim=(0, None))
plt.show()

# %% [markdown]
# ## 2. Where the time goes
#
# Each request is issued after a given delay from the completion of the previous one. **Predict**: which part is the
# largest for random requests of 4 KB? Which parts does a spindle of 15,000 revolutions per minute shorten, and by how
# much does the mean fall?

# %%
if TRACE is None:
    rng, count = np.random.default_rng(1), 5000
    asked = Requests(
        lbn=rng.integers(0, drive.blocks - 8, count),
        count=np.full(count, 8, np.int32),
        write=(rng.random(count) < 1 / 3).astype(np.uint8),
        delay=np.zeros(count, np.int64),
    )
else:
    asked = read_requests(TRACE)
outcome = replay(drive, asked)
changed = replay(drive.replace(CHANGES), asked)
parts = {name: pd.DataFrame(one.records)[list(disks.COMPONENTS)].mean() / 1e6
         for name, one in (("as it is", outcome), ("changed", changed))}  # fmt: skip
pd.DataFrame(parts).T.assign(total=lambda table: table.sum(axis=1)).rename_axis(columns="mean, ms")

# %% [markdown]
# ## 3. The same requests on flash
#
# Addresses are taken modulo the size of the flash drive, which starts out empty. **Predict**: by which factor is its
# median shorter?

# %%
flash = disks.load(FLASH, "flash")
later = replay(flash, Requests(asked.lbn % (flash.blocks - asked.count), asked.count, asked.write, asked.delay))
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
looks = {"as it is": (outcome, "-"), "changed": (changed, "--"), flash.name: (later, ":")}
for name, (one, dashes) in looks.items():
    axes.ecdf(one.simulated, linestyle=dashes, label=name)
if outcome.measured is not None:
    axes.ecdf(outcome.measured, color="black", linewidth=0.8, label="measured")
axes.set(xlabel="Service time (ms)", ylabel="Share of the requests", xscale="log")
axes.legend(loc="upper left")
plt.show()

# %% [markdown]
# ## The answer

# %%
largest = parts["as it is"].idxmax()
print(f"{drive.model}: the largest part is {largest}, {parts['as it is'][largest] / parts['as it is'].sum():.0%}")
print(f"{CHANGES}: the mean falls from {parts['as it is'].sum():.2f} to {parts['changed'].sum():.2f} ms")
print(f"{flash.model}: the median is {np.median(outcome.simulated) / np.median(later.simulated):.0f} times shorter")
if outcome.measured is not None:
    print(outcome.row())  # includes the demerit figure of Ruemmler and Wilkes

# %% [markdown]
# With a file of measured times as `TRACE`, the last line has the demerit figure: the root mean square of the horizontal
# distance between the simulated and the measured curve.
#
# ## Exercise
#
# Sort the requests by address (`asked.lbn.sort()` before the replay). Which part shrinks, and which one does not? What
# does that say about a scheduler?
