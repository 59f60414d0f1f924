"""Kill file writers and a run of the workflow at random moments, resume each time, and compare every byte at the end.

The drill makes a small run of the whole workflow twice, each in its own copy of the tree. One is left undisturbed, and
the other is killed many times. A kill sends SIGKILL to the run and everything it started, which leaves no chance to
clean up. Each kill comes after a random number of finished jobs and a random further wait, because moments chosen by
time alone would depend on the load of the machine. The command that `make reproduce` runs resumes the run. The drill
also kills processes that repeatedly write two contents in turn to one file or folder; after each kill, one of the two
must be there, complete.

The drill fails if a file is lost or differs, if a hidden unfinished file remains, or if the finished run has anything
left to do.
"""

import argparse
import base64
import contextlib
import hashlib
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from small import digests, small_tree

from misspenalty.io.files import write_csv
from misspenalty.plotting.style import save_figure
from misspenalty.signals import stop_at_signals
from misspenalty.traces import Trace
from misspenalty.traces.spc1 import Workload, write_spc

COMMAND = (sys.executable, "workflow/scripts/reproduce.py", "--cores")
DONE = re.compile(r"\s(\w+)\s+\d+ % after ")
LOOK = 0.1  # seconds between two reads of a run's log


def targets_of(studies):
    """Return the rules that make the tables and figures of `studies`; an empty list means a full run."""
    return [f"{study}_{part}" for study in studies for part in ("tables", "figures")]


@contextlib.contextmanager
def started(folder, cores, targets=()):
    """Start or resume the run in `folder`, append its output to ``drill.log``, and kill it at the end of the block."""
    with open(folder / "drill.log", "a") as log:
        process = subprocess.Popen(
            [*COMMAND, str(cores), *targets], cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        kill(process)


def finish(folder, cores, targets=()):
    """Start or resume the run and wait for its end; raise a RuntimeError with the end of the log if it fails."""
    with started(folder, cores, targets) as process:
        if process.wait():
            raise RuntimeError((folder / "drill.log").read_text()[-3000:])


def kill(process):
    """Send SIGKILL to a run and everything that it started; return False if the run had already ended."""
    if process.poll() is not None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def finished(folder):
    """Return the rules of the jobs that finished, in order."""
    log = folder / "drill.log"
    return DONE.findall(log.read_text()) if log.exists() else []


def unfinished(folder):
    """Return the hidden partial files that killed writers have left in the results."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("results/**/.*.partial*"))


def under_way(folder):
    """Return the outputs that jobs were making, which Snakemake records in ``.snakemake/incomplete``."""
    found = []
    for path in (folder / ".snakemake" / "incomplete").glob("*"):
        with contextlib.suppress(ValueError):
            found.append(base64.b64decode(path.name, validate=True).decode())
    return sorted(found)


def wait_for(process, folder, jobs, seconds):
    """Wait until the log reports `jobs` finished jobs, then `seconds` more; return early if the run ends."""
    while process.poll() is None and len(finished(folder)) < jobs:
        time.sleep(LOOK)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def damage(now, known, had, making):
    """Return the files that have an unknown digest and are not being made, and the number of bytes that were lost.

    Parameters
    ----------
    now : dict of str to str
        Digest of each file that exists.
    known : dict of str to set of str
        Digests of the contents that each file may have.
    had : dict of str to int
        Size in bytes of each file that was complete at an earlier kill. A file is lost if it is now neither complete
        nor being made again.
    making : collection of str
        Files that the resumed run makes again or removes.
    """
    wrong = sorted(name for name in now if now[name] not in known.get(name, ()) and name not in making)
    return wrong, sum(had[name] for name in had if now.get(name) not in known[name] and name not in making)


def kill_often(folder, cores, kills, jobs, seconds, seed, known, targets=()):
    """Resume and kill the run in `folder` until it has been killed `kills` times or reaches its end.

    Parameters
    ----------
    folder : Path
    cores : int
    kills : int
    jobs : int
        Number of jobs in an undisturbed run. Each kill waits until a random smaller number of jobs has finished.
    seconds : float
        Maximum of the random time that a kill waits after that.
    seed : int
        Seed of the random moments.
    known : dict of str to set of str
        Digests of the contents that each file may have.
    targets : sequence of str
        Rules to make; by default, the whole workflow.

    Returns
    -------
    list of dict
        Per kill: ``kill, what, after_s``, ``finished`` (number of jobs finished so far), ``last`` (rule that finished
        last), ``under_way`` (an output that was being made), ``files`` (number of result files), ``unfinished`` (number
        of hidden partial files), ``wrong`` (number of files that are neither complete nor being made), ``bytes_lost``
        (size of lost files that were complete at an earlier kill).
    """
    moments, rows, had = random.Random(seed), [], {}
    for number, after in enumerate(sorted(moments.randrange(jobs) for _ in range(kills)), 1):
        begun = time.monotonic()
        with started(folder, cores, targets) as process:
            wait_for(process, folder, after, moments.uniform(0, seconds))
            if not kill(process):
                break
        done, making, hidden, now = finished(folder), under_way(folder), unfinished(folder), digests(folder)
        wrong, lost = damage(now, known, had, {*making, *hidden})
        row = {"kill": number, "what": "workflow", "after_s": round(time.monotonic() - begun, 1)}
        row |= {"finished": len(done), "last": done[-1] if done else "", "under_way": making[0] if making else ""}
        rows.append(row | {"files": len(now), "unfinished": len(hidden), "wrong": len(wrong), "bytes_lost": lost})
        had |= {name: (folder / name).stat().st_size for name in now if now[name] in known.get(name, ())}
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def write_table(path, version):
    """Write a table of a few megabytes."""
    write_csv(pd.DataFrame({"a": np.arange(100_000) * version, "b": np.sqrt(np.arange(100_000))}), path)


def write_trace(path, version):
    """Write a compiled trace: a folder of four files."""
    blocks = np.arange(300_000, dtype=np.uint64) * np.uint64(version) % np.uint64(40_009)
    Trace.from_blocks(blocks).save(path)


def write_figure(path, version):
    """Write a figure."""
    figure = Figure((4, 3))
    figure.add_subplot().plot(np.arange(3000) * version)
    save_figure(figure, path.with_suffix(""), [path.suffix[1:]])


def write_requests(path, version):
    """Write a compressed raw trace."""
    write_spc(Workload(1 << 30, seed=version), path, count=20_000)


WRITERS = {"a.csv": write_table, "a.trace": write_trace, "a.pdf": write_figure, "a.spc.gz": write_requests}


def content(path):
    """Return the size in bytes and the SHA-256 of a file, or of the names and contents of a folder's files."""
    files = [file for file in sorted([path, *path.rglob("*")]) if file.is_file()]
    text = b"".join(file.name.encode() + file.read_bytes() for file in files)
    return len(text), hashlib.sha256(text).hexdigest()


def kill_writers(folder, kills, seconds, seed):
    """Kill processes that write two contents in turn to a file or folder; note whether one of the two is complete.

    Returns
    -------
    list of dict
        Rows like those of `kill_often`; ``wrong`` is 1 if neither of the two contents is complete. In a writer's last
        row, ``wrong`` also counts the hidden partial files that remain after an undisturbed write.
    """
    moments, rows = random.Random(seed), []
    for name, write in WRITERS.items():
        path, known = folder / name, set()
        for version in (1, 2):
            write(path, version)
            known.add(content(path))
        for number in range(1, kills + 1):
            wait = moments.uniform(0, seconds)
            if not (child := os.fork()):
                try:
                    for version in itertools.cycle((2, 1)):
                        write(path, version)
                finally:
                    os._exit(1)
            try:
                time.sleep(wait)
            finally:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            row, found = {"kill": number, "what": name, "after_s": round(wait, 2)}, content(path)
            row |= {"wrong": int(found not in known), "bytes_lost": 0 if found in known else found[0] or 1}
            rows.append(row | {"unfinished": len(list(folder.glob(".*.partial*")))})
        write(path, 1)
        rows[-1]["wrong"] += len(list(folder.glob(".*.partial*")))  # the undisturbed write should have removed them
    return rows


def compare(whole, other):
    """List how the files of the run `other` differ from those of the undisturbed one, and its partial files."""
    one, two = digests(whole), digests(other)
    wrong = [f"{name} is lost" for name in sorted(one.keys() - two)]
    wrong += [f"{name} does not exist in the undisturbed run" for name in sorted(two.keys() - one)]
    wrong += [f"{name} differs" for name in sorted(one.keys() & two) if one[name] != two[name]]
    return wrong + [f"{name} is left over" for name in unfinished(other)]


def idle(folder, cores, targets=()):
    """Start a finished run again, and tell whether it finds nothing to do."""
    log = folder / "drill.log"
    before = log.stat().st_size
    finish(folder, cores, targets)
    return "Nothing to be done" in log.read_text()[before:]


def drill_workflow(base, options):
    """Kill a run of the workflow; return one row per kill, and a list of the faults found at the end."""
    targets = targets_of(options.studies)
    whole, killed = (small_tree(base / name) for name in ("whole", "killed"))
    begun, known = time.monotonic(), {name: {digest} for name, digest in digests(killed).items()}
    finish(whole, options.cores, targets)
    spent, jobs = time.monotonic() - begun, len(finished(whole))
    print(f"undisturbed: {jobs} jobs, {len(digests(whole))} files in {spent:.0f} s", flush=True)
    wait = max(2 * spent / jobs, 8)  # long enough that some kills come while Snakemake starts
    for name, digest in digests(whole).items():
        known.setdefault(name, set()).add(digest)  # the content that was copied with the tree is allowed, too
    rows = kill_often(killed, options.cores, options.kills, jobs, wait, options.seed, known, targets)
    finish(killed, options.cores, targets)
    wrong = compare(whole, killed)
    if not idle(killed, options.cores, targets):
        wrong.append("a second run of the finished workflow had jobs to do")
    if len(rows) < options.kills:
        wrong.append(f"the run ended after {len(rows)} of {options.kills} kills")
    print(
        f"the run was killed {len(rows)} times; {len(digests(killed))} files were compared, {len(wrong)} faults found"
    )
    return rows, wrong


def main():
    """Run the drill; exit with status 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="number of times to kill the run")
    parser.add_argument("--writers", type=int, default=25, help="number of times to kill each writer")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--studies", nargs="*", default=[], help="run only these studies (default: the whole workflow)")
    parser.add_argument("--csv", type=Path, help="write the table of kills to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="drill-") as base:
        rows = kill_writers(Path(base), options.writers, 0.5, options.seed) if options.writers else []
        print(
            f"writers were killed {len(rows)} times; {sum(row['wrong'] for row in rows)} faults were found", flush=True
        )
        found, wrong = drill_workflow(Path(base), options) if options.kills else ([], [])
    rows = found + rows
    wrong += [f"{row['what']}: kill {row['kill']} left {row['wrong']} incomplete files" for row in rows if row["wrong"]]
    wrong += [f"{row['what']}: kill {row['kill']} lost {row['bytes_lost']} B" for row in rows if row["bytes_lost"]]
    print(
        f"after {len(rows)} kills in total, {len(wrong)} faults were found and "
        f"{sum(row['bytes_lost'] for row in rows)} bytes were lost"
    )
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(options.csv, index=False)
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    stop_at_signals()  # a signal raises an exception, which kills what the drill has started
    sys.exit(main())
