"""Compare the virtual log with updates in place: random synchronous updates on the disks and flash drives of 1997
to 2025.

On disks both systems are simulated as in the study's Table 2, on the outermost cylinders of the year's drive, with the
paper's UltraSPARC-170 made as fast as the year's machine. Flash and remote memory have no locate time: an update in
place is a write, to which the virtual log adds the host's time to build a map sector. How much is written to flash is
read from `results/vlog/what_if.csv`. For a device that is known only by its time, this time replaces the locate time of
the year's disk for updates in place; for eager writing, it is multiplied by the ratio of the two locate times on that
disk.
"""

from functools import cache, partial

import pandas as pd

from misspenalty import disks
from misspenalty.disks.drive.slices import cut
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK
from misspenalty_studies.vlog.file_systems.hosts import load_hosts
from misspenalty_studies.vlog.runs import SYSTEMS, Platform, Updates, random_updates
from misspenalty_studies.whatif.machines import load
from misspenalty_studies.whatif.runs import tried

HOST, CYLINDERS = "ultra170", 11
FLASH = {"sata_ssd": "sata_ssd", "nvme": "nvme_ssd"}  # rows of results/vlog/what_if.csv
ROTATION = (3600, 7200, 15000)
SEEKS = (0.25, 1, 4)


class Conclusion:
    """The virtual log's gain in the latency of an update.

    Parameters
    ----------
    hosts : path-like
        ``vlog/machine.yaml``.
    what_if : DataFrame
        ``results/vlog/what_if.csv``, with the kilobytes that an update writes to flash.
    table2 : DataFrame
        ``results/vlog/table2.csv``, for `checks`.
    utilisation, updates, warm_up
        As in `Updates`.
    """

    name, study, threshold_pct = "Virtual log", "vlog", 1.0

    def __init__(self, hosts, what_if, table2, utilisation, updates, warm_up):
        self.host = load_hosts(hosts).hosts[HOST]
        self.written = what_if.set_index(["platform", "system"])["written_kb"].to_dict()
        self.workload = Updates(utilisation=utilisation, updates=updates, warm_up=warm_up, seed=1)
        self.archived = table2.set_index("platform")["speedup"].to_dict()
        self.cases = (f"{self.workload.utilisation:.0%} of the blocks live".replace("%", " %"),)
        self.simulated = cache(self._simulated)
        self.disk = cache(partial(disks.load, kind="disk"))  # laying out a large disk takes most of the job's time

    def _simulated(self, drive, factor, **changes):
        """Simulate both systems on a slice of a drive, with all host times multiplied by `factor`; return ms by
        component for each."""
        kind = cut(self.disk(drive), CYLINDERS, write_behind=False, **changes)
        platform = Platform(drive, self.host.scaled(factor), kind, drive, CYLINDERS)
        return {system: random_updates(platform, system, self.workload) for system in SYSTEMS}

    def measures(self, machines, era, device, case):
        """Return the times of an update.

        Returns
        -------
        dict
            ``gain_pct``, the percentage by which the virtual log shortens the update; ``in_place_us, virtual_log_us,
            speedup``; and ``written_ratio``, how many times as much the virtual log writes as updates in place do.
        """
        factor, written = 1 / machines.faster(self.study, era), 1.125  # one map sector per eight data sectors
        if device.drive is not None:
            ms = self.simulated(device.drive, factor)
            old, new = (1000 * ms[system]["total"] for system in SYSTEMS)
        elif device.name in FLASH or device.name == "remote_memory":
            host = self.host.scaled(factor)
            old = device.write_us + (host.write_ns(BLOCK) + host.request_ns(BLOCK)) / 1000
            new = old + host.record_ns / 1000
            flash = FLASH.get(device.name)
            written = self.written[flash, SYSTEMS[1]] / self.written[flash, SYSTEMS[0]] if flash else written
        else:
            old, new = self._positioned(machines, era, device.read_us, factor)
        return {
            "gain_pct": 100 * (1 - new / old),
            "in_place_us": old,
            "virtual_log_us": new,
            "speedup": old / new,
            "written_ratio": written,
        }

    def _positioned(self, machines, era, locate_us, factor):
        """Return the times of both systems' updates on the year's disk if locating takes `locate_us` for updates in
        place."""
        ms = self.simulated(machines.devices[era.year]["disk"].drive, factor)
        old, new = (ms[system] for system in SYSTEMS)
        share = new["locate"] / old["locate"]
        rest = [1000 * (each["total"] - each["locate"]) for each in (old, new)]
        return rest[0] + locate_us, rest[1] + share * locate_us

    def rotation(self, machines, year):
        """Compute the speed-up on the year's disk as rotation and seeks change.

        Returns
        -------
        list of dict
            ``rpm, seek_factor``, ``half_turn_over_seek`` (half a revolution divided by the seek across one cylinder),
            ``in_place_us, virtual_log_us, speedup``.
        """
        drive = machines.devices[year]["disk"].drive
        seek = self.disk(drive).mechanics.seek(1) / 1e6
        factor, rows = 1 / machines.faster(self.study, machines.eras[year]), []
        for rpm in ROTATION:
            for seeks in SEEKS:
                ms = self.simulated(drive, factor, rpm=rpm, seek_factor=seeks)
                old, new = (1000 * ms[system]["total"] for system in SYSTEMS)
                row = {"rpm": rpm, "seek_factor": seeks, "half_turn_over_seek": 30000 / rpm / (seek * seeks)}
                rows.append(row | {"in_place_us": old, "virtual_log_us": new, "speedup": old / new})
        return rows

    def checks(self):
        """Return triples of a quantity, its archived value and its computed value, on the paper's third platform."""
        ms = self.simulated("st19101", 1.0)
        old, new = (ms[system]["total"] for system in SYSTEMS)
        return [("speed-up, UltraSPARC-170 and Seagate", self.archived["ultra170_seagate"], old / new)]


def job(machines, hosts, what_if, table2, workload):
    """Evaluate the virtual log on all machines (a workflow job).

    Parameters
    ----------
    machines, hosts, what_if, table2 : path-like
        ``machine.yaml``, ``vlog/machine.yaml``, ``results/vlog/what_if.csv`` and ``table2.csv``.
    workload : dict
        ``utilisation, updates, warm_up`` of `Conclusion`.

    Returns
    -------
    dict of str to DataFrame
        See `misspenalty_studies.whatif.runs.tried`, and ``vlog_rotation``.
    """
    found = load(machines)
    conclusion = Conclusion(hosts, pd.read_csv(what_if), pd.read_csv(table2), **workload)
    rotation = pd.DataFrame(conclusion.rotation(found, max(found.eras)))
    return tried(conclusion, found) | {"vlog_rotation": rotation}
