"""Run the EPCM study: replay predictive file prefetching on recorded builds.

Paper: T. M. Kroeger, D. D. E. Long, "Design and implementation of a predictive file prefetching algorithm", USENIX ATC
2001. Recorded calls of four workloads like the paper's are replayed on `misspenalty_studies.epcm.file_client.client`:
with cold caches, with hot ones, and cold with a predictor that has learnt from the training runs.

The judged results follow a criterion, the choices listed below, whatever the outcome. It was reviewed on 2026-11-23,
and frozen again before any build was replayed with it. It follows what the papers state and, where they state nothing,
what is simplest. The supplement's section on EPCM has the table of readings with the sentences behind them;
`misspenalty_studies.epcm.sensitivity` tries the other readings.

- Models: last successor; PCM with partitions of 16, 32, 64 nodes and orders 2 and 4; EPCM with the same partitions and
  orders of 70 and 80 % of their size (64 with 45 is the paper's Figure 8). A claim about "EPCM" or "PCM" is about its
  best setting, as the paper compares bars.
- Events: every successful open and exec; the engine is called after each. A file is its device and inode: a new file
  takes the lowest free inode of its directory's group, so that temporary files repeat from run to run. In the paper a
  partition belongs to the directory entry; here it stays with the inode.
- Threshold: one for both context models, 0.75, the middle of the range in which "each level can predict at most one
  file". Likelihood: the 1996 estimator at every step. All live contexts predict, each on its own.
- Engine: it fetches whole files asynchronously, after the open or exec; its requests join the one queue of Linux 2.2,
  which has no priorities. Its processor time is charged for each file prefetched (revised below).
- Cold means that the page and buffer caches hold nothing but the shell, the C library and the dynamic linker, which
  running processes map. Names and inodes are kept, because the models are attached to the entries of the directory
  cache and would be lost with it. Programs have their recorded size.
- Runs: the capture's training runs teach the models and warm up the hot runs; its measured runs are measured. Models
  continue to learn during them.
- Only the following is fitted: the times to copy a KB to the reader and from a buffer to a page, which keep the same
  relative position in their ranges, are fitted to the hot read latency on Andrew; for each workload, the factor on
  recorded compute is fitted to the paper's compute time of the cold run.

The criterion was revised on 2026-11-26, in writing before any build was replayed with it, because of contradictions in
the results:

- Names and inodes stay in memory in every measured run, cold or hot, from start to end. Before, they were loaded
  only before a cold run, and data could evict them: a hot run of Glimpse read its inodes again and was slower than its
  cold run. Linux 2.2 keeps them in caches of their own, and the models, which are attached to them, would be lost with
  them.
- The engine's time is charged for each of its calls, after every open and exec, and not for each file prefetched.
  Charged for each file, it costs Glimpse 15 s. The printed numbers rule this out: 31 % of 89.3 s of wait and 16 % of
  172.0 s elapsed leave 0.2 s for it, to within 1.3 s. Its 0.05 s on Andrew, divided by our 1251 calls, are 40 us.
- Glimpse's documents lie on disk in the order in which the program walks them, because the paper says that it walks a
  directory that was static since installation in directory order, and on ext2 that is the order of creation. The
  recording machine's file system lists names by their hash, which made the reading order random on disk.

The drive's bus was corrected after the very first replay, because it contradicted the paper. The first description of
the drive had the bus on which the drive was measured, 3.8 MB/s; the Ultra Wide SCSI of the paper's machine has 40 MB/s.
`misspenalty_studies.epcm.sensitivity` keeps that drive as an alternative reading.
"""

from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty.prefetch.predictors.foresight import Foresight
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty_studies.epcm.file_client.client import CALL, CLASSES, Client
from misspenalty_studies.epcm.file_client.workload import FileWorkload

BASELINES = ("cold", "hot")
BUCKETS = 22  # buckets in the distribution of read calls; the last is for those above 2**20 us, about 1 s
KEYS = ["benchmark", "buffer_copy", "model", "partition_size", "model_order"]
WHOLE = {"partition_size": "Int64", "model_order": "Int64"}  # types of the keys that some models lack


@dataclass(frozen=True)
class Setting:
    """One bar of Figure 7.

    Attributes
    ----------
    model : str
        ``cold``, ``hot``, ``last_successor``, ``pcm``, ``epcm``, or ``foresight`` (a ceiling, which sees the future).
    partition_size, model_order : int or None
        ps and mo, if the model has them; for ``foresight``, the order is the number of future events that it sees.
    parameters : dict
        Further parameters of the predictor.
    """

    model: str
    partition_size: int | None = None
    model_order: int | None = None
    parameters: dict = field(default_factory=dict)


def settings_of(partition_sizes, pcm_orders, epcm_shares, threshold):
    """Return the bars of Figure 7.

    Parameters
    ----------
    partition_sizes : sequence of int
    pcm_orders : sequence of int
    epcm_shares : sequence of float
        Orders of EPCM as shares of the partition size; shares that yield the same order give a single bar.
    threshold : float
        Smallest likelihood at which a file is prefetched.

    Returns
    -------
    list of Setting
    """
    listed = [Setting("cold"), Setting("hot"), Setting("last_successor")]
    listed += [Setting("pcm", ps, mo, {"threshold": threshold}) for ps in partition_sizes for mo in pcm_orders]
    orders = {ps: dict.fromkeys(round(share * ps) for share in epcm_shares) for ps in partition_sizes}
    return listed + [Setting("epcm", ps, mo, {"threshold": threshold}) for ps in partition_sizes for mo in orders[ps]]


def definition_of(setting):
    """Return the kernel of a bar's predictor, and all its parameters.

    Raises
    ------
    ParameterError
        The model or a parameter is unknown or invalid.
    """
    definition = find_predictor(setting.model)
    named = {"partition": setting.partition_size, "order": setting.model_order}
    given = {name: value for name, value in named.items() if value is not None} | setting.parameters
    return definition.kernel, definition.check(given)


class Study(NamedTuple):
    """One workload on one machine.

    Attributes
    ----------
    benchmark : str
    workload : FileWorkload
    machine : ClientMachine
    kind : Description or None
        Description of the drive.
    training, measured : sequence of int
        Runs of the workload, from 0, in replay order.
    scale : float
        Factor on recorded compute.
    resident : sequence of int
        Paths that are in memory even when the caches are cold.
    named : sequence of int
        Paths whose directories and inodes are in memory in every measured run, cold or hot.
    seed : int
        Seed of the phase of the drive's rotation at the start of each run.
    head_start : float
        Time between the last command before a run, which the predictor sees as an event, and the start of the clock, s.
        0 = there is no such command.
    apart : bool
        Whether the predictor of each measured run has learnt from the training runs alone, rather than also from the
        measured runs before it.
    """

    benchmark: str
    workload: object
    machine: object
    kind: object
    training: tuple
    measured: tuple
    scale: float
    seed: int
    resident: tuple = ()
    named: tuple = ()
    head_start: float = 0.0
    apart: bool = False

    def starts(self):
        """Return the time at which each run begins, in ns: a phase of the drive's rotation, the same for every
        setting."""
        turn = 60e9 / (self.kind.data["mechanics"]["rpm"] if self.kind else 7200)
        number = len(self.workload.records)
        return np.random.default_rng(self.seed).integers(0, int(turn), number).tolist()

    def led(self):
        """Return the study with the last command and the head start added before each run, or the study itself if it
        has no head start."""
        if not self.head_start or isinstance(self.workload, Led):
            return self
        return self._replace(workload=Led.of(self.workload, round(self.head_start * 1e9 / self.scale)))


@dataclass
class Led(FileWorkload):
    """A workload with one command before each run: an event on a file of its own, and compute until the clock starts.

    Its runs are those of the workload passed to `of`; the command is added when a run is replayed.

    Attributes
    ----------
    lead : int
        Recorded compute after the command, ns.
    made : dict
        Runs with the command added, cached.
    """

    lead: int = 0
    made: dict = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, workload, lead):
        """Return the workload with the command before each run."""
        parts = {part.name: getattr(workload, part.name) for part in fields(workload)}
        known = [np.append(paths, -1).astype(np.int32) for paths in workload.known]
        return cls(**parts | {"files": workload.files + 1, "known": known}, lead=lead)

    def run(self, number):
        """Return the calls of a run, starting with the command."""
        if number not in self.made:
            command = np.zeros(1, CALL)
            command["path"], command["file"] = -1, self.files - 1
            calls = np.concatenate([command, self.records[number]])
            calls["gap"][1:2] += self.lead
            self.made[number] = calls
        return self.made[number]


def predictor_of(study, setting):
    """Return a predictor that has learnt from the training runs or foresees the measured ones; None for the baselines.

    Raises
    ------
    ParameterError
        The model or a parameter is unknown or invalid.
    """
    workload = study.workload
    if setting.model in BASELINES:
        return None
    if setting.model == "foresight":
        events = np.concatenate([workload.events(run) for run in study.measured])
        return Foresight(workload.files, events, setting.model_order)
    kernel, parameters = definition_of(setting)
    kernel = kernel(workload.files, **parameters)
    for run in study.training:
        events = workload.events(run)
        kernel.feed(events, np.empty_like(events), np.empty_like(events))
    return kernel


def play(study, setting):
    """Replay the measured runs with one setting.

    Parameters
    ----------
    study : Study
    setting : Setting

    Returns
    -------
    list of ClientRun
        One per measured run, as in `Client.run`, in the order of ``study.measured``.
    """
    study = study.led()
    if study.apart and len(study.measured) > 1:
        return [run for number in study.measured for run in play(study._replace(measured=(number,)), setting)]
    client = Client(study.workload, study.machine, study.kind)
    predictor, starts = predictor_of(study, setting), study.starts()
    cold = setting.model != "hot"
    if not cold:
        for run in dict.fromkeys(study.training):
            client.run(run, cold=False, scale=study.scale, start=starts[run])
    runs = [
        client.run(
            run, cold=cold, scale=study.scale, predictor=predictor, start=starts[run], resident=study.resident,
            named=study.named,
        )
        for run in study.measured
    ]  # fmt: skip
    for run in runs:
        run.components["compute"] -= round(study.head_start * 1e9 / study.scale * study.scale)
    return runs


def histogram(latency):
    """Count read calls by time in powers of two: up to 1 us, 2, 3 to 4, 5 to 8 us and so on; the last bucket is
    open-ended.

    Parameters
    ----------
    latency : int64 array
        Times of the read calls, ns.

    Returns
    -------
    list of int
    """
    us = np.maximum(-(-np.asarray(latency) // 1000), 1)
    place = np.minimum(np.ceil(np.log2(us)).astype(int), BUCKETS - 1)
    return np.bincount(place, minlength=BUCKETS).tolist()


def rows_of(study, setting, runs):
    """Return runs as rows: key, run, ``read_calls, read_ns``, components, read calls by class, counts, distribution."""
    rows = []
    for number, run in zip(study.measured, runs, strict=True):
        classes = np.bincount(run.outcome, minlength=len(CLASSES)).tolist()
        rows.append(
            {
                "benchmark": study.benchmark,
                "buffer_copy": study.machine.separate_buffers,
                "model": setting.model,
                "partition_size": setting.partition_size,
                "model_order": setting.model_order,
                "run": number + 1,
                "read_calls": len(run.latency),
                "read_ns": int(run.latency.sum()),
                **{f"{name}_ns": time for name, time in run.components.items()},
                **dict(zip(CLASSES, classes, strict=True)),
                **run.counts,
                **{f"us_{1 << place}": number for place, number in enumerate(histogram(run.latency))},
            }
        )
    return rows


def simulate(study, settings, threads=1):
    """Replay every setting, several in parallel.

    Returns
    -------
    DataFrame
        One row per setting and measured run; see `rows_of`.
    """
    study = study.led()
    found = map_in_threads(lambda setting: rows_of(study, setting, play(study, setting)), settings, threads)
    return pd.DataFrame([row for rows in found for row in rows]).astype(WHOLE)


def waited_early(study, shares):
    """Return how much of the cold run's I/O wait falls at the run's beginning, when there is hardly any compute that
    could hide the wait.

    Parameters
    ----------
    study : Study
    shares : sequence of float
        Shares of the run's compute, above 0 and up to 1.

    Returns
    -------
    list of float
        Shares of the first measured run's wait that fall before these shares of its compute; NaN if the run never
        waits.
    """
    run = study.measured[0]
    calls = study.workload.records[run]
    spent = np.cumsum(calls["gap"])
    waits = []
    for share in (*shares, 1):
        records = list(study.workload.records)
        records[run] = calls[: np.searchsorted(spent, share * spent[-1], side="right")]
        part = study._replace(workload=replace(study.workload, records=records), measured=(run,))
        waits.append(play(part, Setting("cold"))[0].io_wait_s)
    return [wait / waits[-1] if waits[-1] else np.nan for wait in waits[:-1]]


def fit_copy(study, target_us, ranges):
    """Fit the copy times so that the mean read call of the hot runs takes the published time, as far as the ranges
    allow.

    Every copy time is at the same relative position in its range. The hot read has no I/O wait on a workload that fits
    into memory, so its time is linear in that position; the line is computed from the ends of the ranges.

    Parameters
    ----------
    study : Study
        The study on the machine without copy times.
    target_us : float
        Published mean.
    ranges : mapping of str to (float, float)
        By parameter of the machine, its lowest and highest value, us/KB.

    Returns
    -------
    dict of str to float
        By parameter, us/KB, to 0.01, within the range.

    Raises
    ------
    ParameterError
        A range is empty, or the read calls move no data.
    """
    for name, (low, high) in ranges.items():
        if not 0 <= low < high:
            raise ParameterError(f"the range of {name} is {low} to {high} us/KB; expected 0 <= low < high")
    ends = [hot_read_us(study, {name: span[end] for name, span in ranges.items()}) for end in (0, 1)]
    if not ends[1] > ends[0]:
        raise ParameterError("the read calls move no data, so the copy times cannot be fitted")
    place = min(max((target_us - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    return {name: round(low + place * (high - low), 2) for name, (low, high) in ranges.items()}


def hot_read_us(study, copying):
    """Return the mean read latency, in us, of the hot runs with copy times given by parameter of the machine."""
    runs = play(study._replace(machine=replace(study.machine, **copying)), Setting("hot"))
    return float(np.mean([run.read_latency_us for run in runs]))


def cold_compute_s(study):
    """Return the mean compute of the cold runs, in s."""
    return float(np.mean([run.compute_s for run in play(study, Setting("cold"))]))


def fit_scale(study, target_s, low, high):
    """Fit the factor on recorded compute at which the cold runs' compute time equals the published one.

    Parameters
    ----------
    study : Study
        The study with its copy times; its own `scale` is ignored.
    target_s : float
        Published compute of the cold run, s.
    low, high : float
        Range of the factor.

    Returns
    -------
    float
        To six significant digits.

    Raises
    ------
    ParameterError
        No factor in the range yields the published compute, or no compute was recorded.
    """
    runs = play(study._replace(scale=1.0), Setting("cold"))
    recorded = np.mean([run.components["compute"] for run in runs]) / 1e9
    charged = np.mean([run.compute_s for run in runs]) - recorded
    if not low * recorded <= target_s - charged <= high * recorded or recorded <= 0:
        raise ParameterError(
            f"{study.benchmark}: {recorded:.3f} s of recorded compute cannot be scaled by a factor of {low:g} to "
            f"{high:g} to reach {target_s:g} s together with {charged:.3f} s of read calls"
        )
    return float(f"{(target_s - charged) / recorded:.6g}")
