"""A drill: kill writers and a full run at random moments, resume each time, and compare every byte at the end.

A small run of the whole workflow is made twice, in copies of the tree: once undisturbed, once under kills. A kill is
SIGKILL to the run and everything it started, so that nothing can clean up. Kills are spread over the run's jobs, not
over time: each comes after a random number of finished jobs and a random wait, so that a busy machine changes nothing.
The run goes on by the command that `make reproduce` runs. Next to it, a process that replaces one file or folder again
and again is killed; what it leaves has to be one of its two contents, whole.

The drill fails if a file is lost or differs, if a hidden unfinished file stays, or if the finished run has anything
left to do.
"""

import argparse
import base64
import contextlib
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from small import digests, small_tree

from misspenalty.io.files import write_csv
from misspenalty.plotting.style import save_figure
from misspenalty.traces import Trace
from misspenalty.traces.spc1 import Workload, write_spc

COMMAND = (sys.executable, "workflow/scripts/reproduce.py", "--cores")
DONE = re.compile(r"\s(\w+)\s+(\d+) % after ")
LOOK = 0.1  # s between looks at a run's log


def start(folder, cores, targets=()):
    """Start or resume the run in `folder`; its output goes to ``drill.log`` there."""
    with open(folder / "drill.log", "a") as log:
        return subprocess.Popen(
            [*COMMAND, str(cores), *targets], cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def finish(folder, cores, targets=()):
    """Run to the end; raises RuntimeError with the end of the log if it fails."""
    if start(folder, cores, targets).wait():
        raise RuntimeError((folder / "drill.log").read_text()[-3000:])


def kill(process):
    """Send SIGKILL to a run and everything that it started; False if it had already ended."""
    if process.poll() is not None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def finished(folder, begin=0):
    """Return the rules of the jobs that finished, in order, since the log had `begin` bytes."""
    log = folder / "drill.log"
    return [name for name, _ in DONE.findall(log.read_text()[begin:])] if log.exists() else []


def unfinished(folder):
    """Hidden files of writers that did not come to their end."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("results/**/.*.partial*"))


def under_way(folder):
    """Return the outputs that jobs were making, according to Snakemake's notes."""
    found = []
    for path in (folder / ".snakemake" / "incomplete").glob("*"):
        with contextlib.suppress(ValueError):
            found.append(base64.b64decode(path.name, validate=True).decode())
    return sorted(found)


def wait_for(process, folder, jobs, seconds):
    """Wait until the log tells of `jobs` finished jobs, then for some time more, or until the run ends."""
    while process.poll() is None and len(finished(folder)) < jobs:
        time.sleep(LOOK)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def not_whole(folder, known, making):
    """Return the files with a content that they should never have; those of jobs under way are made again, hidden ones
    removed."""
    passing = {*making, *unfinished(folder)}
    return sorted(
        name for name, digest in digests(folder).items() if digest not in known.get(name, ()) and name not in passing
    )


def lost(folder, had, known, making):
    """Return the bytes of files that were complete at an earlier kill, and now are neither complete nor being made
    again."""
    now = digests(folder)
    return sum(size for name, size in had.items() if now.get(name) not in known[name] and name not in making)


def kill_often(folder, cores, kills, jobs, seconds, seed, targets=(), known=None):
    """Kill the run in `folder` until it has been killed `kills` times or has come to its end.

    Parameters
    ----------
    folder : Path
    cores : int
    kills : int
    jobs : int
        Of an undisturbed run; a kill comes after a random number of them.
    seconds : float
        At most so long after that.
    seed : int
        Of the moments.
    targets : sequence of str
        Rules to make, by default all.
    known : dict of str to set of str, optional
        Digests that a file may have.

    Returns
    -------
    list of dict
        Per kill: ``kill, what, after_s``, ``finished`` (jobs of the run until then), ``last`` (rule that finished
        last), ``under_way`` (an output that was being made), ``files`` (of results, then), ``unfinished`` (hidden files
        that it left), ``wrong`` (files that are neither whole nor being made), ``bytes_lost`` (of files that were whole
        at an earlier kill).
    """
    moments, rows, had, known = random.Random(seed), [], {}, known or {}
    for number, after in enumerate(sorted(moments.randrange(jobs) for _ in range(kills)), 1):
        begun, process = time.monotonic(), start(folder, cores, targets)
        wait_for(process, folder, after, moments.uniform(0, seconds))
        if not kill(process):
            break
        done, making = finished(folder), under_way(folder)
        row = {"kill": number, "what": "workflow", "after_s": round(time.monotonic() - begun, 1)}
        row |= {"finished": len(done), "last": done[-1] if done else "", "under_way": making[0] if making else ""}
        row |= {"files": len(digests(folder)), "unfinished": len(unfinished(folder))}
        row |= {"wrong": len(not_whole(folder, known, making)) if known else 0}
        rows.append(row | {"bytes_lost": lost(folder, had, known, making)})
        had |= {
            name: (folder / name).stat().st_size
            for name, digest in digests(folder).items()
            if digest in known.get(name, ())
        }
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def write_table(path, version):
    """Write a table of some megabytes."""
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
    """SHA-256 of a file, or of the names and contents of a folder's files; None if it is not there."""
    if not path.exists():
        return None
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return hashlib.sha256(b"".join(file.name.encode() + file.read_bytes() for file in files)).hexdigest()


def size(path):
    """Return the bytes of a file or of a folder's files; of one that is not there, at least one."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file()) or 1


def replace_for_ever(write, path):
    """Replace a file again and again, as the killed process does; never return."""
    try:
        while True:
            write(path, 2)
            write(path, 1)
    finally:
        os._exit(1)


def kill_writers(folder, kills, seconds, seed):
    """Kill a process that replaces a file by one of two contents in turn; count how often it left neither.

    Returns
    -------
    list of dict
        Rows as those of `kill_often`, ``wrong`` is 1 where the file is neither content.
    """
    moments, rows = random.Random(seed), []
    for name, write in WRITERS.items():
        known = set()
        for version in (1, 2):
            write(folder / name, version)
            known.add(content(folder / name))
        for number in range(1, kills + 1):
            wait = moments.uniform(0, seconds)
            if not (child := os.fork()):
                replace_for_ever(write, folder / name)
            time.sleep(wait)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            row = {
                "kill": number,
                "what": name,
                "after_s": round(wait, 2),
                "wrong": int(content(folder / name) not in known),
            }
            row |= {"bytes_lost": size(folder / name) if row["wrong"] else 0}
            rows.append(row | {"unfinished": len(list(folder.glob(".*.partial*")))})
        write(folder / name, 1)
        rows[-1]["wrong"] += len(list(folder.glob(".*.partial*")))  # the next write removes what a killed one left
    return rows


def compare(whole, killed):
    """Say what is wrong with the files of the run that was killed: nothing, if they equal the undisturbed ones."""
    one, other = digests(whole), digests(killed)
    wrong = [f"{name} is lost" for name in sorted(set(one) - set(other))]
    wrong += [f"{name} is not of the undisturbed run" for name in sorted(set(other) - set(one))]
    wrong += [f"{name} differs" for name in sorted(set(one) & set(other)) if one[name] != other[name]]
    return wrong + [f"{name} is left over" for name in unfinished(killed)]


def idle(folder, cores, targets=()):
    """Tell whether a finished run, started again, has nothing to do."""
    log = folder / "drill.log"
    before = log.stat().st_size
    finish(folder, cores, targets)
    return "Nothing to be done" in log.read_text()[before:]


def drill_workflow(base, options):
    """Return the rows of the kills, and a description of what was wrong at the end."""
    targets = [f"{study}_{part}" for study in options.studies for part in ("tables", "figures")]
    whole, killed = (small_tree(base / name) for name in ("whole", "killed"))
    begun = time.monotonic()
    finish(whole, options.cores, targets)
    spent, jobs = time.monotonic() - begun, len(finished(whole))
    print(f"undisturbed: {jobs} jobs, {len(digests(whole))} files in {spent:.0f} s", flush=True)
    wait = max(2 * spent / jobs, 8)  # the start of Snakemake is among the moments
    known = {name: {digest} for name, digest in digests(whole).items()}
    for name, digest in digests(killed).items():
        known.setdefault(name, set()).add(digest)  # what the copy of the tree came with
    rows = kill_often(killed, options.cores, options.kills, jobs, wait, options.seed, targets, known)
    finish(killed, options.cores, targets)
    wrong = compare(whole, killed)
    if not idle(killed, options.cores, targets):
        wrong.append("a second run had something to do")
    wrong += [f"kill {row['kill']} left {row['wrong']} files that are not whole" for row in rows if row["wrong"]]
    wrong += [f"kill {row['kill']} lost {row['bytes_lost']} bytes" for row in rows if row["bytes_lost"]]
    if len(rows) < options.kills:
        wrong.append(f"the run ended after {len(rows)} kills")
    print(f"{len(rows)} kills; {len(digests(killed))} files, {len(wrong)} faults")
    return rows, wrong


def save(rows, path):
    """Write the table of kills, if it is to go anywhere."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, index=False)


def main():
    """Run the drill; exit with status 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20, help="of the run")
    parser.add_argument("--writers", type=int, default=25, help="kills of each writer")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--studies", nargs="*", default=[], help="these alone, by default a whole run")
    parser.add_argument("--csv", type=Path, help="where the table of kills goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="drill-") as base:
        rows = kill_writers(Path(base), options.writers, 0.5, options.seed) if options.writers else []
        count = Counter(row["what"] for row in rows)
        wrong = [f"{row['what']}: kill {row['kill']} left neither content" for row in rows if row["wrong"]]
        print(f"{sum(count.values())} kills of {len(count)} writers, {len(wrong)} faults", flush=True)
        save(rows, options.csv)
        if options.kills:
            found, more = drill_workflow(Path(base), options)
            rows, wrong = found + rows, wrong + more
    print(f"{len(rows)} kills, {len(wrong)} faults, {sum(row['bytes_lost'] for row in rows)} bytes lost")
    save(rows, options.csv)
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
