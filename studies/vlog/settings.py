"""Define and validate the settings of the virtual-log study."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, model_validator

from misspenalty.errors import did_you_mean
from misspenalty_studies.common.settings import Distinct, Number, SettingError, Settings, at, setting
from misspenalty_studies.common.settings.types import Count, InnerShare, Label, Seed
from misspenalty_studies.vlog import what_if
from misspenalty_studies.vlog.conditions import WORKLOADS, short_switch_ms
from misspenalty_studies.vlog.file_system_runs import fits
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK
from misspenalty_studies.vlog.file_systems.hosts import load_hosts
from misspenalty_studies.vlog.file_systems.lfs import DATA, RESERVE, SEGMENT, blocks_of_files
from misspenalty_studies.vlog.file_systems.ufs import GROUP_INODES
from misspenalty_studies.vlog.runs import DF_RESERVE, SYSTEMS, Updates, make_platforms
from misspenalty_studies.vlog.virtual_log.log import capacity, physical_blocks

DriveName = Annotated[
    str, Field(pattern="^[a-z0-9][a-z0-9_-]*$", json_schema_extra={"expected": "a drive of data/drives"})
]


def _with_no_pause(pauses):
    if 0 not in pauses:
        raise ValueError("0 is missing; add it, because Figures 10 and 11 start with no pause between bursts")
    return pauses


class PlatformSettings(Settings):
    """A host with the first cylinders of a disk."""

    host: str = setting(what="A host of studies/vlog/machine.yaml.")
    drive: DriveName = setting(what="A disk of data/drives.")
    cylinders: int = setting(what="Cylinders of the slice, from the first of the outermost zone.", ge=2, le=100_000)


class Platforms(Settings):
    """The three platforms of Table 2 and Figure 9."""

    one_row: ClassVar[bool] = True
    sparc10_hp: PlatformSettings = setting(what="SPARCstation-10 with the HP disk.")
    sparc10_seagate: PlatformSettings = setting(what="SPARCstation-10 with the Seagate disk.")
    ultra170_seagate: PlatformSettings = setting(what="UltraSPARC-170 with the Seagate disk.")


class LaterPlatform(Settings):
    """A host with a slice of a later drive."""

    host: str = setting(what="A host of studies/vlog/machine.yaml.")
    drive: DriveName = setting(what="A disk or flash drive of data/drives.")
    cylinders: int | None = setting(None, "Cylinders of a disk's slice.", ge=2, le=100_000)
    blocks: int | None = setting(None, "Erase blocks per plane of a flash drive's slice.", ge=8)
    write_units: int | None = setting(
        None, "Blocks of 4 KB that the drive's power-safe buffer holds, instead of the drive's own number.", ge=0
    )

    @model_validator(mode="after")
    def check_size(self):
        """Check that either cylinders or erase blocks are given."""
        if (self.cylinders is None) == (self.blocks is None):
            raise SettingError("expected either cylinders (of a disk) or blocks (of a flash drive)")
        return self


class UpdateSettings(Settings):
    """Random synchronous updates of one file."""

    utilisation: InnerShare = setting(0.68, "Share of the disk's 4 KB blocks that the file occupies.")
    updates: Count = setting(10_000, "Updates that are measured.")
    warm_up: Number = setting(
        5, "Updates of the virtual log before the measured ones, in multiples of the disk's blocks.", ge=0, le=1000
    )
    seed: Seed = setting(1, "Seed of the random choice of blocks, and of tracks by the compactor.")


class WhatIf(Settings):
    """Later machines."""

    platforms: Annotated[dict[Label, LaterPlatform], Field(min_length=1)] = setting(
        what="Label -> `host`, `drive`, and the slice: `cylinders` of a disk, erase `blocks` per plane of a flash "
        "drive; `write_units` replaces the size of the drive's power-safe buffer, blocks of 4 KB.",
        why="Unbuffered: a write is complete when it is on the flash, not when it is in a buffer that survives power "
        "failures.",
        block=True,
    )
    workload: UpdateSettings = setting(
        {"utilisation": 0.8, "updates": 10000, "warm_up": 3, "seed": 1},
        "Updates like those of Table 2, but of a file that takes more of the blocks and after a shorter warm-up; on "
        "flash, warm_up is in addition to the first writing of the file.",
    )


class VlogSettings(Settings):
    """Virtual log, OSDI 1999."""

    platforms: Platforms = setting(
        {
            "sparc10_hp": {"host": "sparc10", "drive": "hp97560", "cylinders": 36},
            "sparc10_seagate": {"host": "sparc10", "drive": "st19101", "cylinders": 11},
            "ultra170_seagate": {"host": "ultra170", "drive": "st19101", "cylinders": 11},
        },
        "The platforms of Table 2 and Figure 9: `host` (of studies/vlog/machine.yaml), `drive` (of data/drives) "
        "and how many of its first `cylinders` are simulated.",
        "The paper's simulated disks had 36 and 11 cylinders, for 24 MB of memory.",
        block=True,
    )
    workload: UpdateSettings = setting(
        {"utilisation": 0.68, "updates": 10000, "warm_up": 5, "seed": 1},
        "Random synchronous updates. `utilisation`: share of the disk's blocks that the file takes; `updates`: number "
        "of updates measured; `warm_up`: updates before these, in multiples of the disk's blocks; `seed`: of the "
        "random choice of blocks, and of tracks by the compactor.",
        "The paper's 80 % is what df shows, including the reserve of 12 %. Steady state needs a warm_up of five.",
    )
    gap_seeds: int = setting(5, "Number of runs averaged for each point of the exploration of Table 2.", ge=1, le=1000)
    host_factors: Distinct[Annotated[Number, Field(ge=0, le=1000)]] = setting(
        [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4],
        "Factors on all host times.",
        "They show over which range the orders hold.",
    )
    fig1_utilisations: Distinct[InnerShare] = setting(
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98], "Shares of the disk in use, Figure 1."
    )
    fig2_reserves: Annotated[Distinct[Annotated[Number, Field(ge=0, lt=1)]], Field(min_length=3)] = setting(
        [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
        "Shares of a track left free before the next one is filled, Figure 2.",
    )
    locate_trials: Count = setting(
        10000, "Arm positions per point of Figure 1; a point of Figure 2 fills a hundredth as many tracks."
    )
    files_on: Distinct[str] = setting(["sparc10_hp", "sparc10_seagate"], "Platforms of Figures 6, 7 and 8.")
    small_files: Count = setting(1500, "Number of files in Figure 6.")
    large_file_mb: Number = setting(10, "Size of Figure 7's file, MB.", ge=0.25, le=1000)
    fig8_utilisations: Distinct[InnerShare] = setting(
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93], "Shares of the disk that the file takes, Figure 8."
    )
    bursts_on: Distinct[str] = setting(["sparc10_seagate"], "Platforms of Figures 10 and 11.")
    burst_kb: Distinct[Annotated[int, Field(ge=4, le=1_000_000)]] = setting(
        [128, 256, 504, 1008, 2016, 4032], "Lengths of bursts, KB."
    )
    idle_ms: Annotated[
        Distinct[Annotated[Number, Field(ge=0, le=1_000_000)]], Field(min_length=2), AfterValidator(_with_no_pause)
    ] = setting([0, 50, 100, 200, 400, 700, 1000, 1500, 2000, 3000, 4000], "Pauses between bursts, ms; must include 0.")
    burst_updates: Count = setting(6000, "Updates measured per point of Figures 10 and 11.")
    what_if: WhatIf = setting(
        {
            "platforms": {
                "disk_2015": {"host": "server_2015", "drive": "constellation_es3", "cylinders": 11},
                "sata_ssd": {"host": "server_2015", "drive": "dc_s3700", "blocks": 32},
                "sata_ssd_unbuffered": {"host": "server_2015", "drive": "dc_s3700", "blocks": 32, "write_units": 0},
                "nvme_ssd": {"host": "server_2015", "drive": "dc_p3700", "blocks": 32},
                "nvme_ssd_unbuffered": {"host": "server_2015", "drive": "dc_p3700", "blocks": 32, "write_units": 0},
            },
            "workload": {"utilisation": 0.8, "updates": 10000, "warm_up": 3, "seed": 1},
        },
        "What if: updates like those of Table 2, but of a larger share of the blocks, on a disk and on flash drives "
        "that were sold in 2015, with a host of that time. No claim is judged on the results.",
        block=True,
    )

    @model_validator(mode="after")
    def check(self, info):
        """Check that the platforms exist and that the files fit on them."""
        for key in ("files_on", "bursts_on"):
            for name in getattr(self, key):
                if name not in Platforms.model_fields:
                    known = list(Platforms.model_fields)
                    raise SettingError(
                        f"no platform called {name}{did_you_mean(name, known)}; expected {', '.join(known)}", key
                    )
        root = (info.context or {}).get("root")
        if root is not None:
            self._check_platforms(load_hosts(Path(root) / "studies" / "vlog" / "machine.yaml"))
        return self

    def _check_platforms(self, hosts):
        settings = self.plain()
        for label, entry in settings["platforms"].items():
            with at("platforms", label):
                (platform,) = make_platforms({label: entry}, hosts).values()
                short_switch_ms(platform.kind)
            self._check_room(label, platform)
        for label, entry in settings["what_if"]["platforms"].items():
            with at("what_if", "platforms", label):
                (platform,) = what_if.make_platforms({label: entry}, hosts).values()
                self._check_what_if(platform)

    def _check_room(self, label, platform):
        blocks, most = physical_blocks(platform.kind), capacity(platform.kind)
        load = Updates(**self.workload.plain())
        live, more = int(load.utilisation * blocks), load.utilisation + DF_RESERVE
        if live > most:
            raise SettingError(
                f"{live} blocks do not fit; the virtual log on {label} has room for {most}", "workload", "utilisation"
            )
        if more >= 1 or not all(fits(platform, system, replace(load, utilisation=more)) for system in SYSTEMS):
            raise SettingError(
                f"{load.utilisation:g}; a condition adds {DF_RESERVE:g}, and the file then does not fit on {label};"
                " choose a lower utilisation",
                "workload",
                "utilisation",
            )
        if label in self.bursts_on and live > (room := (blocks // SEGMENT - RESERVE) * DATA):
            raise SettingError(
                f"{live} blocks do not fit; the log-structured disk on {label} has room for {room}",
                "workload",
                "utilisation",
            )
        if label in self.files_on:
            self._check_small_files(label, most)
            if (least := min(self.fig8_utilisations)) * blocks < 1:
                raise SettingError(
                    f"{least:g} of the {blocks} blocks of {label} is less than one block; choose a larger share",
                    "fig8_utilisations",
                )
        if label in self.files_on and self.large_file_mb * 2**20 // BLOCK > 0.8 * most:
            raise SettingError(
                f"the file takes more than 80 % of the room on {label}; choose a smaller one", "large_file_mb"
            )
        if label in {*self.files_on, *self.bursts_on} and blocks < (RESERVE + 4) * SEGMENT:
            raise SettingError("too few cylinders for a log-structured disk", "platforms", label)
        for name, value in WORKLOADS:
            varied = replace(load, **{name: value})
            if not all(fits(platform, system, varied) for system in SYSTEMS):
                raise SettingError(
                    f"too few cylinders: the sensitivity varies {name}, and at {value:g} the file does not fit",
                    "platforms",
                    label,
                )

    def _check_what_if(self, platform):
        load = Updates(**self.what_if.workload.plain())
        if isinstance(platform, what_if.FlashPlatform):
            what_if.flash_blocks(platform, load)
        elif not all(fits(platform, system, load) for system in SYSTEMS):
            raise SettingError(
                f"at a utilisation of {load.utilisation:g} the file does not fit; choose a lower one or more cylinders",
                "what_if",
                "platforms",
                platform.label,
            )

    def _check_small_files(self, label, blocks):
        """Check that a cylinder group has an inode for every small file, and a log-structured disk has room for them
        all."""
        inodes = GROUP_INODES - 1  # without the directory's inode
        room = (blocks // SEGMENT - RESERVE) * DATA
        if self.small_files > inodes or blocks_of_files(self.small_files) > room:
            fewer = max((n for n in range(inodes + 1) if blocks_of_files(n) <= room), default=0)
            raise SettingError(f"{self.small_files}; {label} has room for {fewer} files", "small_files")
