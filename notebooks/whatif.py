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
# # What if: the five conclusions on machines from 1997 to 2025
#
# The papers on HAC, MQ, EPCM, the virtual log and SARC drew their conclusions on the machines of their time. For HAC,
# MQ and SARC, operations are counted once and converted to time, so that processors, networks and devices can be
# exchanged here; EPCM is replayed on every machine, and the virtual log is simulated on every disk. **Which conclusions
# still hold today, and with which device do they fail?** The parameters, with sources and ranges, are in
# `studies/whatif/machine.yaml`.

# %%
# %matplotlib inline
from dataclasses import replace

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from misspenalty_studies.common.notebook import read, root
from misspenalty_studies.whatif import hac, machines, mq, sarc

pd.options.display.precision = 3

# %% [markdown]
# ## 1. Three conclusions as formulas
#
# HAC saves the client page fetches, MQ saves the storage server disk reads, and SARC shortens a controller's response
# time. A machine has a processor (in multiples of a PC of 1997), a network, and a device that serves some requests at a
# time. **Predict**: which of the three gains still exceed 5 % with a device time of 65 µs, about that of a flash drive
# of 2025?

# %%
known = machines.load(root() / "studies" / "whatif" / "machine.yaml")
conclusions = {
    "HAC over FPC, T1": (
        hac.Conclusion(read("results/hac/elapsed.csv"), read("results/hac/fig11.csv")),
        "T1",
    ),
    "MQ over LRU, 256 MB": (
        mq.Conclusion({"calibrated": read("results/mq/fig7_calibrated.csv")}),
        "calibrated, 256 MB",
    ),
    "SARC over LRU, 20,000 scaled IOPS": (
        sarc.conclusion_of(
            *(root() / "results" / "sarc" / f"{name}.csv" for name in ("components", "internals", "fig6")),
            {"one": {"config": "cache_sensitive", "iops": 20000, "load": sarc.SAME}},
        ),
        "cache_sensitive, 20000 scaled IOPS, same requests",
    ),
}


def numbers(speed=130.0, network_mbit_per_s=200_000.0, device_us=65.0, parallel=64):
    """Return the gain of each conclusion on a machine, %; NaN where the device is saturated."""
    era = replace(known.eras[2025], speed=speed, network_mbit_per_s=network_mbit_per_s)
    device = machines.Device("any", device_us, device_us, parallel)
    return {name: found.measures(known, era, device, case)["gain_pct"] for name, (found, case) in conclusions.items()}


def gains(**machine):
    """Return the gains as a table."""
    return pd.Series(numbers(**machine), name="gain, %").map("{:.3g}".format).replace("nan", "saturated").to_frame()


gains()

# %% [markdown]
# ## 2. The device
#
# The same processor and network, from a fast flash drive (10 µs) to a disk (10 ms). **Predict**: which curve falls
# first as the device becomes faster?

# %%
device_us = np.geomspace(10, 10_000, 25)
lines = pd.DataFrame([numbers(device_us=float(us)) for us in device_us], index=device_us)
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, look in zip(lines.columns, ("o-", "s--", "^:"), strict=True):
    axes.plot(lines.index, lines[name], look, markersize=3, label=name)
axes.axhline(0, color="black", linewidth=0.8)
axes.set(xscale="log", xlabel="Device time for 8 KB (µs)", ylabel="Gain (%)")
axes.legend()
plt.show()

# %% [markdown]
# SARC's line would end where the load keeps the device busy at least 95 % of the time; no gain is given there. Try a
# machine of your own:

# %%
_ = widgets.interact(
    gains,
    speed=widgets.FloatLogSlider(value=130, min=-1, max=3, description="speed"),
    network_mbit_per_s=widgets.FloatLogSlider(value=200_000, min=1, max=5.6, description="Mb/s"),
    device_us=widgets.FloatLogSlider(value=65, min=0, max=4.7, description="device, µs"),
    parallel=widgets.IntSlider(value=64, min=1, max=128, description="parallel"),
)

# %% [markdown]
# ## The answer

# %%
for name, line in lines.items():
    worth = line[line >= 5]
    said = f"at least 5 % from {worth.index[0]:.0f} µs on" if len(worth) else "less than 5 % at any of these devices"
    print(f"{name}: {said}")

# %% [markdown]
# With a fast device a miss costs little, so saving misses gains little, unless a miss costs more than the device's
# time: HAC also saves the network and the client's processor the work of a fetch. All five conclusions, on every
# machine and device:
#
# ![Gains of the five conclusions by machine and device](../results/whatif/summary.png)

# %% [markdown]
# ## Exercise
#
# How much of HAC's gain at 65 µs is due to the network? Compare `gains(network_mbit_per_s=100)` and
# `gains(network_mbit_per_s=1_000_000)`, and then a processor of 1997 (`speed=1`).
