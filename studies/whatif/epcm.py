"""Compare EPCM with no prefetching: replay the recorded builds on the machines of 1997 to 2025.

Calls are replayed on `misspenalty_studies.epcm.file_client` with the processor times of the paper's client, divided by
the speed-up of a year's machine. From 2005 on, the page cache is today's (`epcm/machine_today.yaml`: one cache for
reads and writes, longer read-ahead). The builds were recorded on a machine of the last year. Recorded processor time is
multiplied by 1 on that machine, by the study's fitted factor at the speed of the paper's client, and by an interpolated
factor in between.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd

from misspenalty.traces import builds
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.epcm import runs, setup
from misspenalty_studies.epcm.file_client.client import ClientMachine
from misspenalty_studies.whatif.machines import load
from misspenalty_studies.whatif.runs import DEVICE_US, tried

TIMES = ("read_call_us", "copy_us_per_kb", "buffer_copy_us_per_kb", "engine_us", "host_us")
MODERN = 2005  # the first year with one cache for reads and writes
MB_PER_S = {"disk": 100, "sata_ssd": 500, "nvme": 3000}  # orders of magnitude, for devices without a drive description


class Conclusion:
    """EPCM's gain in elapsed time.

    Parameters
    ----------
    captures : dict of str to path-like
        Recorded calls of each build.
    machine, today : path-like
        ``epcm/machine.yaml`` and ``epcm/machine_today.yaml``.
    fit : DataFrame
        ``results/epcm/fit.csv``.
    archived : DataFrame
        ``results/epcm/today.csv``, for `checks`.
    settings : dict
        Block ``epcm`` of the configuration.
    measured : int
        Number of runs of each build that are replayed.
    """

    name, study, threshold_pct = "EPCM", "epcm", 1.0

    def __init__(self, captures, machine, today, fit, archived, settings, measured):
        fitted = fit.set_index(["parameter", "benchmark"])["value"]
        own, new = (load_machine(path, ClientMachine).testbed for path in (machine, today))
        copies = {name: float(fitted[name].item()) for name in ("copy_us_per_kb", "buffer_copy_us_per_kb")}
        self.own, self.today = replace(own, **copies), new
        self.scale = {build: float(fitted["compute_scale", build]) for build in captures}
        self.settings, self.measured, self.captures = settings, measured, captures
        self.cases, self.archived = tuple(captures), archived
        self.bars = [bar for bar in setup.varied(settings) if bar.model in ("cold", "epcm")]
        self.recorded = cache(lambda build: builds.read(captures[build]))
        self.workload = cache(self._workload)
        self.played = cache(self._played)

    def _workload(self, build, drive, modern):
        """Set up the replay of a build on a drive, in a form that does not depend on the machine's times."""
        machine = replace(self.today if modern else self.own, drive=drive)
        study, _ = setup.set_up(build, self.recorded(build), machine, **setup.options(self.settings))
        return study._replace(measured=study.measured[: self.measured])

    def _played(self, build, machine, scale, modern):
        """Replay a build without prefetching and with EPCM; for each, return the means over runs of the elapsed time,
        the I/O wait and the prefetch engine's time, in s."""
        study = self.workload(build, machine.drive, modern)._replace(machine=machine, scale=scale)
        found = []
        for bar in self.bars:
            played = runs.play(study, bar)
            parts = [(run.compute_s + run.io_wait_s, run.io_wait_s, run.components["engine"] / 1e9) for run in played]
            found.append(np.mean(parts, axis=0))
        return found

    def machine(self, machines, era, device):
        """Return the year's client with a given device."""
        faster, modern = machines.faster(self.study, era), era.year >= MODERN
        base = self.today if modern else self.own
        times = {name: getattr(self.own, name) / faster for name in TIMES}
        mb_per_s = era.network_mbit_per_s / 8 if device.name == "remote_memory" else MB_PER_S.get(device.name)
        if mb_per_s is None:  # only its time is known: assume a disk's rate or 8 KB in that time, whichever is higher
            mb_per_s = max(MB_PER_S["disk"], 8192 / device.read_us)
        # The model adds a request's transfer time, so subtract that of 8 KB from the device's time for 8 KB.
        access = max(device.read_us - 8192 / mb_per_s, 0.0)
        depth = int(min(max(device.parallel, 1), 32))
        return replace(
            base, **times, drive=device.drive or "none", device_access_us=access, device_mb_per_s=mb_per_s,
            device_depth=depth,
        )  # fmt: skip

    def compute_scale(self, machines, era, build):
        """Return the factor by which recorded processor time is multiplied on a year's machine."""
        last = machines.eras[max(machines.eras)]
        share = np.log(machines.faster(self.study, era)) / np.log(machines.faster(self.study, last))
        return float(self.scale[build] ** (1 - share))

    def measures(self, machines, era, device, case):
        """Replay a build without and with EPCM and return its times.

        Returns
        -------
        dict
            ``gain_pct``, the percentage by which EPCM shortens the build; ``cold_s, epcm_s, cold_wait_s,
            wait_removed_pct`` and ``engine_s``.
        """
        machine = self.machine(machines, era, device)
        cold, epcm = self.played(case, machine, self.compute_scale(machines, era, case), era.year >= MODERN)
        return {
            "gain_pct": 100 * (1 - epcm[0] / cold[0]),
            "cold_s": cold[0],
            "epcm_s": epcm[0],
            "cold_wait_s": cold[1],
            "wait_removed_pct": 100 * (1 - epcm[1] / cold[1]) if cold[1] else np.nan,
            "engine_s": epcm[2],
        }

    def checks(self):
        """Return triples of a quantity, its archived mean over the study's runs and its value computed here, both on
        the machine of ``epcm/machine_today.yaml``."""
        rows, play = [], partial(self.played, modern=True)
        for build in self.cases:
            cold, epcm = play(build, self.today, 1.0)
            archived = self.archived[self.archived["benchmark"] == build].set_index("model")
            rows.append((f"{build}, cold wait today, s", archived.io_wait_s["cold"], cold[1]))
            removed = [
                100 * (1 - epcm / cold)
                for cold, epcm in ((archived.io_wait_s["cold"], archived.io_wait_s["epcm"]), (cold[1], epcm[1]))
            ]
            rows.append((f"{build}, wait that EPCM removes today, %", *removed))
        return rows


def job(machines, machine, today, fit, archived, captures, settings, measured):
    """Evaluate EPCM on all machines; see `Conclusion` (a workflow job).

    Returns
    -------
    dict of str to DataFrame
        See `misspenalty_studies.whatif.runs.tried`.
    """
    tables = (pd.read_csv(fit), pd.read_csv(archived))
    conclusion = Conclusion(captures, machine, today, *tables, settings, measured)
    return tried(conclusion, load(machines), DEVICE_US[::3])
