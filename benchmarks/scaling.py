"""Estimate how long a full run would take on more cores, by simulating its graph of jobs with measured times.

This reads the plan of a full run, `make supplement`, from Snakemake (a dry run of all jobs), and the cost of its jobs
from `results/benchmarks`, where a run writes it. A job takes its CPU time divided by the cores that it may use, plus
the time to start a process; the scheduler first picks the job with the longest path to the end. Jobs that were not
measured are listed and left out.

    python benchmarks/scaling.py --csv results/bench/scaling.csv --figure results/bench/scaling.png
    python benchmarks/scaling.py --jobs results/bench/jobs.csv            # time and memory of each rule
    python benchmarks/scaling.py --profile                                # write both into the SLURM profile
    python benchmarks/scaling.py --configfile config/config.yaml config/full.yaml --factor 'sarc_run=16'

`--factor RULE=NUMBER` multiplies the CPU time of a rule, for a configuration whose jobs were measured at another scale.
`--estimate RULE=SECONDS,MB` states the cost of each job that was not measured. In both, RULE is a pattern of rules or
of jobs (`mq_replay/128mb*`); if several match, the first is used.
"""

import argparse
import fnmatch
import heapq
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from misspenalty.io.files import write_csv
from misspenalty_studies.common.reporting.kept import SWITCH
from misspenalty_studies.common.reporting.provenance import read_benchmark

CORES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
EXCLUSIVE = 1000  # number of threads that marks a job that must run alone
START = 0.8  # seconds to start Snakemake's process for a job, measured on two cores with an empty job
PROFILE = Path("workflow/profiles/slurm/config.yaml")
LEAST_MB, LEAST_MINUTES, MARGIN = 2000, 30, 2  # the cluster's defaults; a job requests MARGIN times what was measured
FACTOR, ESTIMATE = "RULE=NUMBER", "RULE=SECONDS,MB"
RULE = re.compile(r"^(?:local)?rule (\w+):$")
FIELD = re.compile(r"^    (\w+): (.*)$")


@dataclass
class Job:
    """A job of the plan.

    Attributes
    ----------
    rule : str
    inputs, outputs : list of str
    benchmark : str or None
        File with the time and memory that the job took.
    threads : int
        Number of cores that the job can use; a job with `EXCLUSIVE` or more takes all cores, so that nothing else runs,
        and uses one.
    cpu_s, megabytes : float
        CPU time and memory; NaN where they were not measured.
    after : set of int
        Numbers of the jobs that this job waits for.
    """

    rule: str
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    benchmark: str | None = None
    threads: int = 1
    cpu_s: float = float("nan")
    megabytes: float = float("nan")
    after: set[int] = field(default_factory=set)

    def seconds(self, cores=CORES[-1]):
        """Return the seconds that the job takes on a machine with `cores` cores; 0 if its time was not measured."""
        used = 1 if self.threads >= EXCLUSIVE else min(self.threads, cores)
        return float(np.nan_to_num(self.cpu_s / used + START))


def read_plan(text):
    """Read the jobs from a dry run's output, each with the jobs that it waits for."""
    jobs = []
    for line in text.splitlines():
        if found := RULE.match(line):
            jobs.append(Job(found[1]))
        elif jobs and (found := FIELD.match(line)):
            name, value = found.groups()
            if name in ("input", "output"):
                setattr(jobs[-1], f"{name}s", value.split(", "))
            elif name == "benchmark":
                jobs[-1].benchmark = value
            elif name == "threads":
                jobs[-1].threads = int(value)
    makers = {path: number for number, job in enumerate(jobs) for path in job.outputs}
    for job in jobs:
        job.after = {makers[path] for path in job.inputs if path in makers}
    return jobs


def plan(folder=".", options=()):
    """Return all jobs of a full run, regardless of the results that already exist."""
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--dry-run",
        "--forceall",
        "--cores",
        "4096",
        *options,
        "--",
        "supplement",
    ]
    environment = os.environ | {SWITCH: "no"}  # plan the jobs that make the kept tables, too
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr or done.stdout)
    return read_plan(done.stdout)


def matches(job, pattern):
    """Tell whether a pattern matches the rule of a job, or its benchmark file's path without suffix."""
    return fnmatch.fnmatch(job.rule, pattern) or fnmatch.fnmatch(job.benchmark or "", f"*/{pattern}.tsv")


def numbers_by_rule(texts, form, jobs):
    """Return the pattern and the numbers in each text of this form, such as ``RULE=SECONDS,MB``; exit with a message if
    a text has another form or matches no job."""
    found = []
    for text in texts:
        pattern, _, numbers = text.rpartition("=")
        try:
            values = [float(number) for number in numbers.split(",")]
        except ValueError:
            values = []
        if not pattern or len(values) != form.count(",") + 1:
            sys.exit(f"{text}: expected {form}")
        if not any(matches(job, pattern) for job in jobs):
            sys.exit(f"{text}: no job matches {pattern}; `snakemake --list-rules` names the rules")
        found.append((pattern, *values))
    return found


def measure(jobs, folders, factors=(), estimates=()):
    """Fill in time and memory from `results/benchmarks` in these folders; use the first folder with a job's file.

    Parameters
    ----------
    jobs : list of Job
    folders : iterable of path-like
    factors : iterable of (str, float)
        The time of a job is multiplied by the first factor whose pattern matches the job.
    estimates : iterable of (str, float, float)
        A job without a file takes the seconds and megabytes of the first estimate whose pattern matches it.
    """
    for job in jobs:
        paths = [Path(folder, job.benchmark) for folder in folders if job.benchmark]
        path = next((path for path in paths if path.exists()), None)
        if path is not None:
            found = read_benchmark(path)
            factor = next((number for pattern, number in factors if matches(job, pattern)), 1.0)
            job.cpu_s = factor * (found["cpu_s"] or 0)
            job.megabytes = found["peak_rss_mb"] or 0
            continue
        for pattern, seconds, megabytes in estimates:
            if matches(job, pattern):
                job.cpu_s, job.megabytes = seconds, megabytes
                break


def lengths(jobs):
    """Return the seconds from each job's start to the end of the longest chain from it, and the jobs that follow it."""
    later = [[] for _ in jobs]
    for number, job in enumerate(jobs):
        for before in job.after:
            later[before].append(number)
    found = {}

    def length(number):
        if number not in found:
            rest = max((length(after) for after in later[number]), default=0.0)
            found[number] = jobs[number].seconds() + rest
        return found[number]

    return [length(number) for number in range(len(jobs))], later


def critical_path(jobs):
    """Return the jobs of the longest chain, in order."""
    left, later = lengths(jobs)
    path, candidates = [], [number for number, job in enumerate(jobs) if not job.after]
    while candidates:
        path.append(max(candidates, key=left.__getitem__))
        candidates = later[path[-1]]
    return [jobs[number] for number in path]


def simulate(jobs, cores):
    """Simulate the jobs on this many cores; return the wall time, s, and the peak of the memory in use, MB.

    >>> one, two = Job("a", cpu_s=2.2, megabytes=5), Job("b", cpu_s=3.2, megabytes=7)
    >>> simulate([one, two], 1), simulate([one, two], 2)
    ((7.0, 7.0), (4.0, 12.0))
    """
    left, later = lengths(jobs)
    waits = [len(job.after) for job in jobs]
    ready = [(-left[number], number) for number, count in enumerate(waits) if not count]
    heapq.heapify(ready)
    running, free, now, used, most = [], cores, 0.0, 0.0, 0.0
    while ready or running:
        put_back = []
        while ready and free:
            entry = heapq.heappop(ready)
            job = jobs[entry[1]]
            need = min(job.threads, cores)
            if need > free:
                put_back.append(entry)
                continue
            free, used = free - need, used + float(np.nan_to_num(job.megabytes))
            heapq.heappush(running, (now + job.seconds(cores), entry[1]))
        for entry in put_back:
            heapq.heappush(ready, entry)
        most = max(most, used)
        now, number = heapq.heappop(running)
        free, used = free + min(jobs[number].threads, cores), used - float(np.nan_to_num(jobs[number].megabytes))
        for after in later[number]:
            waits[after] -= 1
            if not waits[after]:
                heapq.heappush(ready, (-left[after], after))
    return now, most


def table(jobs):
    """Tabulate wall time, speed-up, efficiency and memory by cores."""
    rows, one = [], simulate(jobs, 1)[0]
    for cores in CORES:
        seconds, megabytes = simulate(jobs, cores)
        speed_up = one / seconds
        rows.append(
            {
                "cores": cores,
                "wall_min": seconds / 60,
                "core_hours": sum(np.nan_to_num(job.cpu_s + START) for job in jobs) / 3600,
                "speed_up": speed_up,
                "efficiency_pct": 100 * speed_up / cores,
                "memory_gb": megabytes / 1024,
            }
        )
    return pd.DataFrame(rows)


def by_rule(jobs):
    """Tabulate time and memory of each rule, which determine the requests in the profile."""
    rows = [
        {
            "rule": j.rule,
            "jobs": 1,
            "cpu_s": j.cpu_s,
            "longest_s": np.nan if np.isnan(j.cpu_s) else j.seconds(2),
            "memory_mb": j.megabytes,
        }
        for j in jobs
    ]
    how = {"jobs": "sum", "cpu_s": "sum", "longest_s": "max", "memory_mb": "max"}
    return pd.DataFrame(rows).groupby("rule").agg(how).sort_values("cpu_s", ascending=False).reset_index()


def request(row):
    """Return the resources that a rule's job requests: twice the measured values, if this exceeds the default."""
    asked = {}
    if (megabytes := int(-(-MARGIN * row.memory_mb // 100) * 100)) > LEAST_MB:
        asked["mem_mb"] = megabytes
    if (minutes := int(-(-MARGIN * row.longest_s // 60))) > LEAST_MINUTES:
        asked["runtime"] = minutes
    return asked


def write_profile(rules, path=PROFILE):
    """Write the resource requests of all measured rules into the SLURM profile."""
    asked = {row.rule: request(row) for row in rules.dropna().sort_values("rule").itertuples()}
    lines = "".join(f"  {rule}: {yaml.safe_dump(a, default_flow_style=True)}" for rule, a in asked.items() if a)
    head = path.read_text().split("set-resources:")[0]
    path.write_text(head + (f"set-resources:\n{lines}" if lines else ""))  # no empty list, which Snakemake rejects


def draw(found, path, title):
    """Draw wall time by number of cores, and perfect scaling for comparison."""
    from matplotlib.figure import Figure

    figure = Figure((5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(found["cores"], found["wall_min"], "o-", label="simulated from the graph of jobs")
    axes.loglog(found["cores"], found["wall_min"][0] / found["cores"], "--", color="gray", label="perfect")
    axes.axhline(found["wall_min"].iloc[-1], linewidth=0.7, color="gray", label="critical path")
    axes.set(xlabel="cores", ylabel="wall time (min)", xticks=CORES, xticklabels=CORES, title=title)
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main():
    """Print the table and the critical path, and write any other output that was requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", nargs="+", default=[], help="configuration of the run")
    parser.add_argument("--measured", nargs="+", default=["."], help="folders of runs with results/benchmarks")
    parser.add_argument("--factor", nargs="*", default=[], metavar=FACTOR, help="factor on CPU time")
    parser.add_argument("--estimate", nargs="*", default=[], metavar=ESTIMATE, help="cost of unmeasured jobs")
    parser.add_argument("--csv", help="table by cores")
    parser.add_argument("--jobs", help="table by rule")
    parser.add_argument("--figure", help="wall time by cores")
    parser.add_argument("--profile", action="store_true", help="write the SLURM profile's resources")
    options = parser.parse_args()
    jobs = plan(options=["--configfile", *options.configfile] if options.configfile else [])
    factors = numbers_by_rule(options.factor, FACTOR, jobs)
    measure(jobs, options.measured, factors, numbers_by_rule(options.estimate, ESTIMATE, jobs))
    missing = sorted(
        {job.rule for job in jobs if np.isnan(job.cpu_s)} - {"manifest", "supplement", "supplement_manifest"}
    )
    if missing:
        print(f"not measured, and left out: {', '.join(missing)}", file=sys.stderr)
    rules, found = by_rule(jobs), table(jobs)
    print(rules.head(20).round(1).to_string(index=False), found.round(2).to_string(index=False), sep="\n\n")
    print("\ncritical path:", " > ".join(f"{j.rule} {j.seconds():.0f} s" for j in critical_path(jobs)))
    for result, path in ((found, options.csv), (rules, options.jobs)):
        if path:
            write_csv(result, path)
    if options.figure:
        draw(found, options.figure, " ".join(Path(name).stem for name in options.configfile) or "config")
    if options.profile:
        write_profile(rules)


if __name__ == "__main__":
    main()
