"""Define and validate the settings of the EPCM study."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from misspenalty.errors import InputError, did_you_mean
from misspenalty.io.documents import read_yaml
from misspenalty_studies.common import settings
from misspenalty_studies.common.settings import Distinct, Number, SettingError, Settings, at, setting
from misspenalty_studies.common.settings.types import Share, Unique
from misspenalty_studies.epcm.runs import BASELINES, definition_of, settings_of


def _recorded(path):
    if not path.endswith(".parquet"):
        raise ValueError(f"{path!r} is not a recorded build; expected NAME.parquet")
    return path


Build = Annotated[settings.Path, AfterValidator(_recorded)]
Count = Annotated[int, Field(ge=1, le=1_048_576)]
Order = Annotated[int, Field(ge=1, le=1024)]
PositiveShare = Annotated[Number, Field(gt=0, le=1)]
Switch = list[Literal[0, 1]]
Temporaries = Literal["inode", "recorded", "normal", "dropped"]
Resident = Literal["mapped", "none", "names", "programs"]
OnDisk = Literal["names", "opened"]
Run = Annotated[int, Field(ge=0)]


class Builds(Settings):
    """Recorded builds."""

    andrew: Build = setting(what="Phase 5 of the Andrew benchmark: a C program of 17 files, 2 libraries, 1 executable.")
    ld: Build | None = setting(None, "The link of a Linux kernel.")
    glimpse: Build | None = setting(None, "The index of a tree of documents larger than memory.")
    ssh: Build | None = setting(None, "A C program that is patched through eight versions, each of which is built.")


class Figure8(Settings):
    """The partition size and order of one bar of Figure 7."""

    partition_size: Count = setting(what="Nodes per partition.")
    model_order: Order = setting(what="Order of the model.")


class ModelReadings(Settings):
    """Parameters of the predictors."""

    threshold: list[Share] | None = setting(None, "Smallest likelihood at which a file is prefetched.")
    most: Distinct[Count] | None = setting(None, "Maximum number of files predicted after an event.")
    partition: Distinct[Count] | None = setting(None, "Nodes per partition, with the order unchanged.")
    corrected: Switch | None = setting(None, "Whether the chain's likelihoods use whole counts.")
    product: Switch | None = setting(None, "Whether likelihoods are multiplied along the chain.")
    longest: Switch | None = setting(None, "Whether only the longest context predicts.")


class WorkloadReadings(Settings):
    """How the recorded calls are interpreted."""

    temporaries: list[Temporaries] | None = setting(None, "How the model identifies a file.")
    programs: list[PositiveShare] | None = setting(
        None, "Size of programs and libraries, as a share of the recorded size."
    )
    seed: list[Annotated[int, Field(ge=0)]] | None = setting(None, "Seeds of the placement on disk.")
    order: list[OnDisk] | None = setting(None, "Order of a directory's files on disk.")
    passes: list[Literal["last"]] | None = setting(
        None,
        "Openings that are kept of a file that a run opens exactly twice. `last`: only the second one. Applies only to "
        "workloads that are walked.",
        "The paper's indexer reads most files once; the one recorded reads a part of each, then each of them whole.",
    )


class ProtocolReadings(Settings):
    """How the runs are made."""

    training: list[Run] | None = setting(
        None,
        "Number of training runs: those recorded before the measured ones, repeated from the first if more are needed.",
    )
    head_start: list[Annotated[Number, Field(gt=0, le=60)]] | None = setting(
        None,
        "Time between the last command before a run, which the models see, and the start of its clock, s.",
        "The paper does not say what ran before.",
    )
    resident: list[Resident] | None = setting(None, "What is in memory when a run begins cold.")


class Everywhere(Settings):
    """Parameters of the machine that may explain why one predictor does worse than another."""

    memory_mb: list[Annotated[Number, Field(ge=1, le=1_048_576)]] | None = setting(None, "Memory of the caches, MB.")
    engine_us: list[Annotated[Number, Field(ge=0, le=1e6)]] | None = setting(
        None, "Processor time of a call of the engine, us."
    )


class Readings(Settings):
    """Other readings of the paper."""

    runs: Count = setting(what="Measured runs per workload.")
    machine: Unique[Literal["andrew", "ld", "glimpse", "ssh"]] = setting(
        what="Workloads on which the machine's parameters vary as listed in its file."
    )
    everywhere: Everywhere = setting(what="Parameters of the machine that vary on the other workloads.")
    model: ModelReadings = setting(what="Parameters of the predictors.", block=True)
    workload: WorkloadReadings = setting(what="How the recorded calls are interpreted.", block=True)
    protocol: ProtocolReadings = setting(what="How the runs are made.", block=True)


class Surface(Settings):
    """The axes of the surface."""

    training: Distinct[Run] = setting(what="Numbers of training runs.")
    head_start: Distinct[Annotated[Number, Field(ge=0, le=60)]] = setting(
        what="Times from the last command before a run until its clock starts, s."
    )


class Limits(Settings):
    """Numbers of future events and head starts for perfect foresight."""

    ahead: Distinct[Count] = setting(what="Numbers of future opens and execs that are known in advance.")
    head_start: Distinct[Annotated[Number, Field(ge=0, le=60)]] = setting(
        what="Times from the last command before a run until its clock starts, s."
    )


class EpcmSettings(Settings):
    """EPCM, USENIX 2001. The docstring of misspenalty_studies.epcm.runs explains each choice left open by the paper."""

    captures: Builds = setting(
        {
            "andrew": "data/raw/builds/andrew_gnu.parquet",
            "ld": "data/raw/builds/ld.parquet",
            "glimpse": "data/raw/builds/glimpse.parquet",
            "ssh": "data/raw/builds/ssh.parquet",
        },
        "Recorded builds by the names of the paper's workloads; Figure 7 is judged on andrew. Next to each are the "
        "tables of its files and processes, and captures.yaml.",
        block=True,
    )
    recordings: Distinct[Build] = setting(
        ["data/raw/builds/andrew.parquet"],
        "Other recordings of andrew, compared with it by the facts that the paper prints about its workload.",
    )
    partition_sizes: Distinct[Count] = setting([16, 32, 64], "Partitions of PCM and EPCM, nodes.", "The paper's three.")
    pcm_orders: Distinct[Order] = setting(
        [2, 4],
        "Orders of PCM.",
        "The paper does not say; its 1996 predecessor finds that 2 is good and 4 adds nothing.",
    )
    epcm_shares: Distinct[PositiveShare] = setting(
        [0.7, 0.8],
        "Orders of EPCM as shares of the partition size.",
        "The text says 75 to 85 %, whereas the caption of Figure 8 has 45 of 64.",
    )
    threshold: Share = setting(
        0.75,
        "Smallest likelihood at which PCM and EPCM prefetch a file.",
        "The paper speaks of one threshold for the context models, and of no wrong prefetches; above 0.5 a level "
        "predicts at most one file. No value is stated; this is the middle of that range.",
    )
    temporaries: Temporaries = setting(
        "inode",
        "How the model identifies a file. `inode`: by its inode, which a new file may take over from a deleted one; "
        "`recorded`: by its path; `normal`: by its path, with a random name replaced by one that is the same in every "
        "run; `dropped`: by its path, and files with random names are left out.",
        "The paper's models store a device and an inode number.",
    )
    resident: Resident = setting(
        "mapped",
        "What is in memory when a run begins cold. `none`: nothing; `names`: directories and inodes; `mapped`: these, "
        "the shell, the C library and the dynamic linker; `programs`: directories, inodes, and all programs and "
        "libraries.",
        "The paper's models are attached to entries of the directory cache and lost if it is cleared; Linux 2.2 cannot "
        "drop the pages that running processes map.",
    )
    training_runs: Count = setting(
        3,
        "Training runs per workload, the first that were recorded; they teach the models and warm up the hot runs.",
        "The paper's.",
    )
    measured_runs: Count = setting(
        20,
        "Maximum number of runs measured per workload; these are the last that were recorded.",
        "The paper's; of glimpse and ssh, only 5 runs were recorded after the training runs.",
    )
    fig8: Figure8 = setting(
        {"partition_size": 64, "model_order": 45},
        "Partition size and order of the EPCM run of Figure 8; both are among those of Figure 7.",
        'The caption: "ps 64 or 45".',
    )
    walked: Unique[Literal["andrew", "ld", "glimpse", "ssh"]] = setting(
        ["glimpse"],
        "Workloads whose files lie on disk in the order in which they are first opened; those of the others lie in the "
        "order of their names.",
        "The paper says that Glimpse walks in directory order what has been static since it was installed; on ext2 "
        "that is the order of creation. The recording machine's file system lists names by their hash.",
    )
    seed: int = setting(1, "Seed of the placement of directories on disk and of the disk's rotational phases.", ge=0)
    sensitivity: Readings = setting(
        {
            "runs": 3,
            "machine": ["andrew"],
            "everywhere": {"memory_mb": [1024], "engine_us": [0]},
            "model": {
                "threshold": [0.05, 0.1, 0.25, 0.5, 0.6, 0.9, 0.95],
                "most": [1, 2, 4, 8, 16],
                "partition": [256, 4096],
                "corrected": [0],
                "product": [1],
                "longest": [1],
            },
            "workload": {
                "temporaries": ["recorded", "normal", "dropped"],
                "programs": [0.25, 0.5],
                "seed": [2, 3],
                "order": ["names", "opened"],
                "passes": ["last"],
            },
            "protocol": {
                "training": [0, 1, 2, 5, 10, 20, 40, 60],
                "head_start": [0.25, 0.5, 1],
                "resident": ["none", "names", "programs"],
            },
        },
        "Other readings of the paper, one at a time, on fewer measured runs. The machine's parameters vary as listed "
        "in its file on the workloads under `machine`, and as listed under `everywhere` on the others; model, workload "
        "and protocol vary on all workloads, as far as runs were recorded.",
        block=True,
    )

    surface: Surface = setting(
        {"training": [*range(11), 15, 20, 40, 60], "head_start": [0, 0.1, 0.25, 0.5, 1]},
        "Training runs and head starts for which the wait removed and the read latency are shown, on andrew.",
        block=True,
    )
    limits: Limits = setting(
        {"ahead": [1, 16, 32, 64, 96, 128, 1024], "head_start": [0, 0.5, 1]},
        "Perfect foresight on every workload, with and without priority for demand reads on the disk.",
        block=True,
    )

    @model_validator(mode="after")
    def check(self):
        """Check that runs are left to measure, that Figure 8 is a bar of Figure 7, and the names in `sensitivity`."""
        builds = self.captures.plain()
        for name, path in builds.items():
            _check_training(name, Path(path), self.training_runs)
        self._check_bars()
        for name in self.sensitivity.machine:
            if name not in builds:
                raise SettingError(
                    f"{name!r} is not one of epcm.captures{did_you_mean(name, builds)}; name one of them",
                    "sensitivity",
                    "machine",
                )
        return self

    def _check_bars(self):
        bars = settings_of(self.partition_sizes, self.pcm_orders, self.epcm_shares, self.threshold)
        for bar in bars:
            if bar.model == "epcm" and bar.model_order < 1:
                raise SettingError(
                    f"the order, a share of a partition's {bar.partition_size} nodes, rounds to 0; use a larger share",
                    "epcm_shares",
                )
            if bar.model not in BASELINES:
                with at("epcm_shares"):  # the other parameters have been checked already
                    definition_of(bar)
        wanted = (self.fig8.partition_size, self.fig8.model_order)
        known = [(bar.partition_size, bar.model_order) for bar in bars if bar.model == "epcm"]
        if wanted not in known:
            listed = ", ".join(f"{size}/{order}" for size, order in known)
            raise SettingError(f"{wanted[0]}/{wanted[1]} is not a bar of Figure 7 ({listed}); name one of them", "fig8")


def _check_training(name, path, training):
    """Check that a capture has a run left to measure, if the capture program's facts are next to it."""
    with at("captures", name):
        runs = _recorded_runs(path.with_name("captures.yaml"), path.stem)
    recorded = sum(map(len, runs.values()))
    if runs and recorded <= training:
        raise SettingError(
            f"{training}, but {name} has only {recorded} run{'s' * (recorded != 1)}; leave at least one to measure",
            "training_runs",
        )


def _recorded_runs(facts, capture):
    """Return the numbers of a capture's runs by their purpose; an empty dict if the facts do not describe it."""
    described = read_yaml(facts) if facts.is_file() else {}
    entry = described.get(capture, {}) if isinstance(described, dict) else None
    runs = entry.get("runs", {}) if isinstance(entry, dict) else None
    if not isinstance(runs, dict) or not all(isinstance(numbers, list) for numbers in runs.values()):
        raise InputError(
            f"does not say which runs {capture} has",
            path=facts,
            expected=f"{capture}: {{runs: {{training: [1, 2, 3], measured: [4, 5]}}}}",
            remedy="restore the file that data/capture/builds/builds.py wrote, or remove it",
        )
    return runs
