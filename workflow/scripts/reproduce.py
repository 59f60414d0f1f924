"""Do the work of `make reproduce`, `make supplement` and `make smoke` from where the last run stopped; show progress.

Without an option it makes the papers' tables and figures, the claims and the paper; tables of what else was tried are
taken from the archive if they fit (`misspenalty_studies.common.reporting.kept`). With ``--supplement`` it makes these,
too, and the sensitivities, scales and supplement. With ``--first`` it makes only the first results of `make reproduce`,
and compares them with the archived tables.

A killed run leaves Snakemake's lock and unfinished files. Both are handled here, so that the same command always
resumes: the lock is removed if no other run uses the folder, and unfinished outputs are made again. Snakemake's own log
is in ``.snakemake/log``; if a job fails, its output is shown.

Snakemake decides by the time stamps of files what to make. Therefore, files are compared with the digests in the
manifests of the last complete run, both before and after Snakemake runs. An output that someone changed is made again.
If the content of an input changed but not its time stamp, everything that depends on it is made again. A run that is
stopped leaves no manifest; the digests are then in its journal (`misspenalty_studies.common.reporting.journal`).
"""

import argparse
import collections
import contextlib
import csv
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from misspenalty.errors import InputError, MissPenaltyError
from misspenalty.io.documents import read_yaml
from misspenalty.io.external import MIRROR, fetch_all, open_register
from misspenalty.io.threads import processors
from misspenalty_studies.common.reporting.archive.compare import compare_contents
from misspenalty_studies.common.reporting.journal import Journal
from misspenalty_studies.common.reporting.kept import SWITCH, TABLE
from misspenalty_studies.common.reporting.provenance import read_benchmark
from misspenalty_studies.common.reporting.recorded import changed_files, read_manifest

FINISHED = re.compile(r"^Finished jobid: (\d+) \(Rule: (\w+)\)")
STEPS = re.compile(r"^(\d+) of (\d+) steps")
COUNT = re.compile(r"^(\w+) +(\d+)$")
OUTPUT = re.compile(r"^    output: (.+)$")
JOB = re.compile(r"^    jobid: (\d+)$")
STATE = Path(".snakemake")
JOURNAL = STATE / "reproduce.jsonl"
MANIFESTS = {  # by rule: the manifest of `make reproduce`, and that of what `make supplement` adds
    "manifest": Path("results/manifest.json"),
    "supplement_manifest": Path("results/manifest_supplement.json"),
}
COSTS = Path("benchmarks/measured/jobs.csv")  # CPU seconds of an earlier run's jobs, by rule
FIRST = {  # results that are made first, by rule: the file, and what it shows
    "mq_first_figures": ("results/mq/table4.png", "Multi-Queue's Table 4 next to the printed one"),
    "vlog_first_tables": ("results/vlog/table2.csv", "Table 2 of the virtual log"),
}
COMPARED = ("results/mq/table4.csv", "results/mq/table4_calibrated.csv", "results/vlog/table2.csv")
WORDS = {
    "free": "reproduced without any fit upstream",
    "calibrated": "after calibration",
    "fitted": "fitted",
    "tie": "ties",
    "direction": "in the right direction",
    "not_reproduced": "not reproduced",
    "not_testable": "not testable",
}
# Limit how often Snakemake checks waiting jobs. Otherwise, it checks all their inputs again one second after each check
# and after each job, and solves an integer program each time.
SCHEDULING = ("--scheduler", "greedy", "--max-jobs-per-timespan", "1000/4s")
KEPT = "Kept: "  # how the workflow's line about archived tables that fit begins
LOOK = "Read results/paper.pdf first; results/claims.csv has every claim; `make lab` and `make site` show more."


@contextlib.contextmanager
def only_run():
    """Lock this folder for one `make reproduce`; exit if another one has locked it.

    On a file system without such locks, as some clusters have, only Snakemake's own lock remains.
    """
    STATE.mkdir(exist_ok=True)
    with open(STATE / "reproduce.lock", "w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"Another `make reproduce` is running in {Path.cwd()}: wait for it, or stop it first.")
        except OSError as error:
            print(f"This folder cannot be locked ({error.strerror}): do not start a second run in it.", file=sys.stderr)
        yield


def running_elsewhere():
    """Return the process ids of other Snakemake runs in this folder, if the system can tell (Linux)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            snakemake = any(Path(os.fsdecode(word)).name in ("snakemake", "snakemake.py") for word in words[:4])
            if snakemake and os.path.samefile(process / "cwd", "."):
                found.append(int(process.name))
    return found


def unlock(command):
    """Remove the lock that a killed run left; exit with Snakemake's message if it cannot."""
    locks = STATE / "locks"
    if not (locks.is_dir() and any(locks.iterdir())):
        return
    if others := running_elsewhere():
        sys.exit(f"Snakemake is running in this folder (process {others[0]}): wait for it, or stop it first.")
    print("The last run was stopped before its end; this run resumes it.", flush=True)
    done = subprocess.run(
        [*command, "--unlock"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nThe run did not start. Fix the error above; `make reproduce` then resumes from here.")


def delete_output(name):
    """Delete an output; delete a file of a compiled trace with its folder, which Snakemake makes as a whole."""
    folder = next((path for path in Path(name).parents if path.suffix == ".trace"), None)
    if folder is None:
        Path(name).unlink(missing_ok=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def undo_changes(manifests, journal):
    """Make Snakemake rebuild what changed since the last run, complete or stopped: delete outputs, and touch inputs.

    A record of kept tables that changed, for example by `git pull`, stays: it holds only for tables that have its
    digests. The tables themselves are compared with the last run like all others, because Snakemake, run by hand, would
    record one that was edited.
    """
    known = [journal.read(supplement=len(manifests) > 1)] if manifests else []
    for found in [*filter(None, map(read_manifest, manifests)), *known]:
        for name in sorted({*changed_files(found["outputs"])} - {TABLE}):
            print(f"{name} is not what the last run wrote, so it will be made again", flush=True)
            delete_output(name)
            journal.drop(name)
        for name in changed_files(found["inputs"]):
            if Path(name).is_file():
                print(
                    f"{name} has changed since the last run, so everything made from it will be made again", flush=True
                )
                os.utime(name)
                journal.take_input(name)
            else:
                journal.drop(name)


def check_results(manifests):
    """Compare inputs and outputs with the manifests of the run that has ended; return the exit status."""
    status = 0
    for path in manifests:
        manifest = read_manifest(path) or {"inputs": {}, "outputs": {}}
        for name in changed_files(manifest["inputs"] | manifest["outputs"]):
            print(f"{name} does not have the checksum in {path}", file=sys.stderr)
            status = 1
    if status:
        print("Something else changed these files during the run; run `make reproduce` again.", file=sys.stderr)
    return status


def forget_last_run(since, paths, journal):
    """Replace the last run's manifests by journal entries, once a job of this run has finished."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < since:
                with contextlib.suppress(InputError):  # ignore a damaged manifest
                    journal.take_manifest(read_manifest(path), supplement=path != MANIFESTS["manifest"])
                path.unlink()


def read_rows(path):
    """Return the rows of a CSV table as dicts of texts, or an empty list if there is no table."""
    if not Path(path).is_file():
        return []
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def archived_costs(path=COSTS):
    """Read the mean CPU seconds per job of each rule in an earlier run; return an empty dict without a table."""
    return {row["rule"]: float(row["cpu_s"]) / int(row["jobs"]) for row in read_rows(path)}


def study_of(rule, studies):
    """Return the study that a rule belongs to, judging by its name."""
    return next((study for study in studies if rule.startswith(f"{study}_")), "common")


class Progress:
    """A converter of Snakemake's output to one line per finished job.

    The share that is done and the time left are estimated from the cost of the same rules' jobs in an earlier run. At
    first, the estimate assumes that every core is always busy and as fast as in that run; the measured speed of this
    run counts more with every job that finishes.
    """

    def __init__(self, studies, cores=1, costs=None):
        self.studies, self.start, self.cores = studies, time.monotonic(), cores
        self.costs = costs or {}
        known = sorted(self.costs.values())
        self.usual = known[len(known) // 2] if known else 1.0  # cost assumed for a new rule
        self.planned, self.done = collections.Counter(), collections.Counter()
        self.total, self.past = 0.0, 0.0  # CPU seconds of the planned and of the finished jobs in the earlier run
        self.rule, self.counting, self.rules = None, False, set()
        self.kept = []  # the workflow's line about archived tables that fit, if there is one
        self.outputs, self.named, self.made = {}, [], []  # outputs by job, of the current job, of the last finished job

    def cost(self, rule):
        """Return the CPU seconds that a job of a rule took in the earlier run."""
        return max(self.costs.get(rule, self.usual), 0.1)

    def take(self, line):
        """Process a line of Snakemake's output; return the text to print for it, or None."""
        if line.startswith("Job stats:"):
            self.counting, self.planned, self.total = True, collections.Counter(), 0.0
        elif self.counting and (count := COUNT.match(line)):
            if count[1] == "total":
                self.counting = False
            elif count[1] not in ("all", "supplement"):
                self.rules.add(count[1])
                self.planned[study_of(count[1], self.studies)] += int(count[2])
                self.total += self.cost(count[1]) * int(count[2])
        elif line.startswith(KEPT):
            self.kept = [line]
        elif output := OUTPUT.match(line):
            self.named = output[1].removesuffix(" (update)").split(", ")
        elif job := JOB.match(line):
            self.outputs[job[1]], self.named = self.named, []
        elif finished := FINISHED.match(line):
            self.rule, self.made = finished[2], self.outputs.pop(finished[1], [])
        elif STEPS.match(line) and self.rule:
            return self.report()
        return None

    def report(self):
        """Return a line on the progress of the study and of the run, and one more if the rule made a first result."""
        rule, self.rule = self.rule, None
        study = study_of(rule, self.studies)
        self.done[study] += 1
        self.past += self.cost(rule)
        self.total = max(self.total, self.past)
        spent = time.monotonic() - self.start
        counted = self.total / 10
        # Wall seconds of this run per CPU second of the earlier run.
        speed = (spent + counted / self.cores) / (self.past + counted)
        left = speed * (self.total - self.past)
        part = f"{self.done[study]}/{max(self.planned[study], self.done[study])}"
        share = 100 * self.past / self.total
        told = f"{study:12} {part:>7}  {rule:32} {int(share):3} % after {_minutes(spent)}"
        if left >= 1:
            told += f", about {_minutes(left)} left"
        if rule in FIRST:
            told += "\n{}: {}".format(*FIRST[rule])
        return told


def spent(folder, studies, since=0.0):
    """Sum up the cost per study: CPU and wall seconds, largest memory of a job in MB, number of jobs.

    The most expensive study comes first. The benchmark file of each job is read (`read_benchmark`) if it was written at
    or after `since`.
    """
    found = {}
    for path in Path(folder).rglob("*.tsv"):
        if path.stat().st_mtime < since:
            continue
        rule = path.relative_to(folder).with_suffix("").parts[0]
        study = study_of(rule, studies)
        took = read_benchmark(path)
        cpu, wall, memory = (took[name] or 0.0 for name in ("cpu_s", "wall_s", "peak_rss_mb"))
        before = found.get(study, (0.0, 0.0, 0.0, 0))
        found[study] = (before[0] + cpu, before[1] + wall, max(before[2], memory), before[3] + 1)
    return dict(sorted(found.items(), key=lambda entry: -entry[1][0]))


def _table(found, wall):
    """Return the cost per study as text."""
    total = sum(cpu for cpu, *_ in found.values())
    lines = [
        f"{study:12} {cpu / 60:6.1f} min of CPU in {jobs:3} jobs, at most {memory:5.0f} MB each"
        for study, (cpu, _, memory, jobs) in found.items()
    ]
    return "\n".join([*lines, f"{'all':12} {total / 60:6.1f} min of CPU in {wall / 60:.1f} min"])


def _minutes(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def run(command, progress, journal, always=(), supplement=False):
    """Run Snakemake, show its progress, and show its own messages if something fails; return its exit status.

    When a job has ended, the manifests that this run will write again, and those in `always`, are added to the journal
    and deleted. Then the files that the job has made are added to the journal.
    """
    kept, begun = collections.deque(maxlen=4000), time.time()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as job:
        for line in job.stdout:
            kept.append(line)
            if text := progress.take(line.rstrip("\n")):
                again = [path for rule, path in MANIFESTS.items() if rule in progress.rules]
                forget_last_run(begun, [*always, *again], journal)
                names = {str(path) for path in MANIFESTS.values()}
                journal.take_outputs([name for name in progress.made if name not in names], supplement)
                print(text, flush=True)
    if job.returncode:
        lines = list(kept)
        first = next((i for i, line in enumerate(lines) if re.match(r"\w*(Error|Exception)\b", line)), len(lines) - 40)
        sys.stderr.writelines(lines[max(first, 0) :])
        print("\nThe run stopped. Fix the error above; `make reproduce` then resumes from here.", file=sys.stderr)
    elif any("Nothing to be done" in line for line in kept):
        print("Nothing to be done: all results are up to date.")
    elif found := spent("results/benchmarks", progress.studies, begun):
        print("", _table(found, time.time() - begun), sep="\n")
    return job.returncode


def outcome():
    """Return a line with the verdicts and one that names the files to read, or no lines if no claim has been judged."""
    rows = [row for row in read_rows("results/claims.csv") if row["role"] == "claim"]
    if not rows:
        return []
    counts = collections.Counter(row["basis"] if row["verdict"] == "reproduced" else row["verdict"] for row in rows)
    told = [f"{counts[name]} {words}" for name, words in WORDS.items() if counts[name]]
    return [f"{len(rows)} statements of papers: {', '.join(told)}.", LOOK]


def fetch_registered(further):
    """Fetch missing registered files, with one line of progress; at the end, say how many could not be fetched."""
    if not Path("data/external.yaml").is_file():
        return
    given = [word.partition("=")[2] for word in further if word.startswith("mirror=")]
    mirror = next(iter(given), None) or read_yaml("config/config.yaml").get("mirror")
    line = Line()
    failed = fetch_all(open_register(mirror=mirror), line.show)
    line.end()
    if failed:
        reason = next(iter(failed.values()))
        print(f"{len(failed)} registered files could not be fetched ({reason}); the run goes on without them.")


class Line:
    """One line of progress, which is rewritten in place on a terminal; elsewhere, each text is a line of its own."""

    def __init__(self, stream=None):
        self.stream, self.width = stream or sys.stdout, 0

    def show(self, text):
        """Show a text in place of the previous one."""
        if self.stream.isatty():
            self.stream.write(f"\r{text:{self.width}}")
            self.width = len(text)
        else:
            self.stream.write(f"{text}\n")
        self.stream.flush()

    def end(self):
        """End the line, so that later output begins on the next one."""
        if self.width:
            self.stream.write("\n")
            self.width = 0


def recomputed(kept):
    """Return lines that say which studies were recomputed and which read archived tables; return none if unknown.

    `kept` says which tables were kept, in at most one line.
    """
    rows = read_rows("results/recomputed.csv")
    if not rows:
        return []
    named = {state: [row for row in rows if row["state"] == state] for state in ("recomputed", "archived")}
    exception = " except for the kept tables" if kept else ""
    told = [f"Recomputed{exception}: {', '.join(row['study'] for row in named['recomputed'])}.", *kept]
    if named["archived"]:
        parts = [f"{row['study']} ({len(row['missing_files'].split('; '))} missing)" for row in named["archived"]]
        told.append(
            f"Archived tables are used because registered files are missing: {', '.join(parts)}. `make reproduce` with "
            f"a network, or with {MIRROR} set to a folder with copies, recomputes them."
        )
    return told


def archived_tables():
    """Return the content of the tables that `make smoke` compares, by path.

    Raises
    ------
    InputError
        One of them is missing.
    """
    for name in COMPARED:
        if not Path(name).is_file():
            remedy = f"restore it (`git checkout -- {name}`), or run `make reproduce`"
            raise InputError("no such file", path=name, expected="a table to compare with", remedy=remedy)
    return {name: Path(name).read_bytes() for name in COMPARED}


def compare_first(before):
    """Show the first results, and compare each table with the one from before the run; return the exit status."""
    different = 0
    for name, content in before.items():
        verdict, detail = compare_contents(name, content, Path(name).read_bytes())
        different += verdict == "different"
        print(f"{verdict:18} {name}{': ' if detail else ''}{detail}")
    for path, shows in FIRST.values():
        print(f"{path}: {shows}")
    return 1 if different else 0


def main():
    """Parse the options, and pass everything else on to Snakemake."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", default="all", help="number of cores to use (default: all)")
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--supplement", action="store_true", help="make what only the supplement shows, too")
    scope.add_argument("--first", action="store_true", help="make only what is made first, and compare its tables")
    known, further = parser.parse_known_args()
    studies = sorted(path.parent.name for path in Path("studies").glob("*/supplement.typ"))
    cores = int(known.cores) if known.cores.isdigit() else processors()
    command = [sys.executable, "-m", "snakemake", "--cores", known.cores, *SCHEDULING, *further]
    first = [path for path, _ in FIRST.values()]
    if known.supplement:
        os.environ[SWITCH] = "no"  # make the kept tables, too
    targets = ["supplement"] if known.supplement else [*COMPARED, *first] if known.first else []
    core, *_ = manifests = list(MANIFESTS.values())
    manifests = manifests if known.supplement else [] if known.first else [core]
    with only_run():
        unlock(command)
        try:
            if not (known.offline or known.first):
                fetch_registered(further)
            before = archived_tables() if known.first else {}
            journal = Journal(JOURNAL)
            undo_changes(manifests, journal)
            started = [*command, "--rerun-incomplete", "--", *targets]
            progress = Progress(studies, cores, archived_costs())
            code = run(started, progress, journal, [core] if known.first else [], known.supplement)
            code = code or check_results(manifests)
            if not (code or known.first):
                journal.end(filter(None, map(read_manifest, manifests)), known.supplement)
            if known.first:
                return code or compare_first(before)
            for line in [] if code else [*recomputed(progress.kept), *outcome()]:
                print(line)
            return code
        except MissPenaltyError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("\nStopped. `make reproduce` resumes from here.", file=sys.stderr)
            return 130


if __name__ == "__main__":
    sys.exit(main())
