"""A drill: kill a whole run again and again at random moments, go on each time, and compare every byte at the end.

A small run of the whole workflow is made twice, in copies of the tree: once undisturbed, once under kills. A kill is
SIGKILL to the run and everything it started, so that nothing can clean up. Each time the run goes on by the command
that `make reproduce` runs. The drill fails if a file is lost or differs, if a hidden unfinished file stays, or if the
finished run has anything left to do.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from small import digests, small_tree

COMMAND = (sys.executable, "workflow/scripts/reproduce.py", "--cores")
DONE = re.compile(r"\s(\w+)\s+(\d+) % after ")


def start(folder, cores):
    """Start, or go on with, the run in `folder`; its output goes to ``drill.log`` there."""
    with open(folder / "drill.log", "a") as log:
        return subprocess.Popen(
            [*COMMAND, str(cores)], cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def finish(folder, cores):
    """Run to the end; raises RuntimeError with the end of the log if it fails."""
    if start(folder, cores).wait():
        raise RuntimeError((folder / "drill.log").read_text()[-3000:])


def kill(process):
    """SIGKILL to a run and to all that it started; False if it had ended."""
    if process.poll() is not None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def unfinished(folder):
    """Hidden files of writers that did not come to their end."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("results/**/.*.partial*"))


def kill_often(folder, cores, kills, seconds, seed):
    """Kill the run in `folder` until it has been killed `kills` times or has come to its end.

    Parameters
    ----------
    folder : Path
    cores : int
    kills : int
    seconds : tuple of float
        Least and most time that a run has before it is killed.
    seed : int
        Of the moments.

    Returns
    -------
    list of dict
        Per kill: ``kill, after_s``, ``finished`` (jobs of this go), ``last`` (rule that finished last), ``files`` (of
        results, then), ``unfinished`` (hidden files that it left).
    """
    moments, rows = random.Random(seed), []
    for number in range(1, kills + 1):
        log = folder / "drill.log"
        before = log.stat().st_size if log.exists() else 0
        process, wait = start(folder, cores), moments.uniform(*seconds)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
        if not kill(process):
            break
        jobs = DONE.findall(log.read_text()[before:])
        found = {"finished": len(jobs), "last": jobs[-1][0] if jobs else "", "files": len(digests(folder))}
        rows.append({"kill": number, "after_s": round(wait, 1), **found, "unfinished": len(unfinished(folder))})
        print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    return rows


def compare(whole, killed):
    """What is wrong with the files of the run that was killed, in words: nothing, if they are as undisturbed."""
    one, other = digests(whole), digests(killed)
    wrong = [f"{name} is lost" for name in sorted(set(one) - set(other))]
    wrong += [f"{name} is not of the undisturbed run" for name in sorted(set(other) - set(one))]
    wrong += [f"{name} differs" for name in sorted(set(one) & set(other)) if one[name] != other[name]]
    return wrong + [f"{name} is left over" for name in unfinished(killed)]


def idle(folder, cores):
    """Whether a finished run, started again, has nothing to do."""
    log = folder / "drill.log"
    before = log.stat().st_size
    finish(folder, cores)
    return "Nothing to be done" in log.read_text()[before:]


def main():
    """The drill; exit status 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, nargs=2, default=(8, 45), metavar=("LEAST", "MOST"))
    parser.add_argument("--csv", type=Path, help="where the table of kills goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="drill-") as base:
        whole, killed = (small_tree(Path(base, name)) for name in ("whole", "killed"))
        begun = time.monotonic()
        finish(whole, options.cores)
        print(f"undisturbed: {len(digests(whole))} files in {time.monotonic() - begun:.0f} s", flush=True)
        rows = kill_often(killed, options.cores, options.kills, options.seconds, options.seed)
        finish(killed, options.cores)
        wrong = compare(whole, killed)
        if not idle(killed, options.cores):
            wrong.append("a second run had something to do")
        table = pd.DataFrame(rows)
        if options.csv:
            options.csv.parent.mkdir(parents=True, exist_ok=True)
            table.to_csv(options.csv, index=False)
        print(f"{len(rows)} kills; {len(digests(killed))} files, {len(wrong)} faults")
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong or len(rows) < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
