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
# HAC, MQ, EPCM, the virtual log and SARC were right on the machines of their time. Operations are counted once and
# then converted to time: with other processors, networks and devices, which conclusions still hold, and where do
# they reverse? The parameters, with sources and ranges, are in `studies/whatif/machine.yaml`, which says which of
# them are assumed.

# %%
# %matplotlib inline
from dataclasses import replace

import ipywidgets as widgets
import pandas as pd

from misspenalty_studies.common.notebook import read, root
from misspenalty_studies.whatif import figures, hac, machines, mq, sarc

pd.options.display.precision = 3

# %% [markdown]
# ## 1. What holds
#
# The lowest and the highest gain over the cases of each conclusion, in per cent, by machine and device. A dashed
# edge means that the answer changes with parameters within their ranges. *Saturated* means that the load of a case
# keeps the device busy at least 95 % of the time; no gain is given for it.

# %%
figures.verdicts(read("results/whatif/summary.csv"))

# %% [markdown]
# ## 2. Where they reverse
#
# The device time for 8 KB from which each conclusion holds, in µs, for the machines of five years.

# %%
turns = read("results/whatif/crossovers.csv")
turns = turns[turns["threshold"].isin(["gain of 1 %", "gain of 5 %"])]
turns["from"] = turns["device_us"].map("{:.3g}".format).where(turns["device_us"].notna(), turns["pays"])
turns.pivot(index=["conclusion", "case"], columns="year", values="from")

# %%
curve = read("results/whatif/curves.csv")


def of(study):
    """A conclusion's curve and cells."""
    return curve[curve["conclusion"] == study], read(f"results/whatif/{study}.csv")


figures.hac_gain(*of("hac"))

# %%
figures.mq_gain(*of("mq"))

# %%
figures.epcm_gain(*of("epcm"))

# %%
figures.vlog_gain(*of("vlog"), read("results/whatif/rotation.csv"))

# %%
figures.sarc_gain(*of("sarc"))

# %% [markdown]
# ## 3. A machine of your own
#
# Three of the conclusions are formulas over counts, so that trying a machine costs nothing. Speed is that of one
# thread, in multiples of a PC of 1997; the device serves `parallel` requests at a time.

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
    "SARC over LRU, 20,000 requests/s": (
        sarc.conclusion_of(
            *(root() / "results" / "sarc" / f"{name}.csv" for name in ("components", "internals", "fig6")),
            {"one": {"config": "cache_sensitive", "iops": 20000, "load": sarc.SAME}},
        ),
        "cache_sensitive, 20000 requests/s, same requests",
    ),
}


def gains(speed=130.0, network_mbit_per_s=200_000.0, device_us=65.0, parallel=64):
    """The gain of each conclusion on a machine, %."""
    era = replace(known.eras[2025], speed=speed, network_mbit_per_s=network_mbit_per_s)
    device = machines.Device("any", device_us, device_us, parallel)
    rows = {name: found.measures(known, era, device, case)["gain_pct"] for name, (found, case) in conclusions.items()}
    return pd.Series(rows, name="gain, %").map("{:.3g}".format).replace("nan", "saturated").to_frame()


gains()

# %%
_ = widgets.interact(
    gains,
    speed=widgets.FloatLogSlider(value=130, min=-1, max=3, description="speed"),
    network_mbit_per_s=widgets.FloatLogSlider(value=200_000, min=1, max=5.6, description="Mb/s"),
    device_us=widgets.FloatLogSlider(value=65, min=0, max=4.7, description="device, µs"),
    parallel=widgets.IntSlider(value=64, min=1, max=128, description="parallel"),
)
