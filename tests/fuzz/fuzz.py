"""Fuzz every file reader: mutated seeds must be refused with a message or read completely.

    python tests/fuzz/fuzz.py --executions 1000000
    python tests/fuzz/fuzz.py --target spc disksim --seed 7

A target is a reader with its seeds (`corpus.py`, `targets.py`). Each execution mutates one seed and reads it in a child
process with bounded memory and time, which is forked from one that has imported the readers. A reader may raise
`InputError` or `ParameterError`. Any other exception, a crash, a hang, an accepted result that contradicts itself, a
file left behind, or access to other files, programs or the network is a failure: its input is copied to build/fuzz, and
the exit status is 1.
"""

import argparse
import concurrent.futures
import faulthandler
import multiprocessing.forkserver
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import unittest.mock
import zlib
from pathlib import Path

import corpus
import pandas as pd

import misspenalty
from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import write_csv

SECONDS = 20  # time limit of one execution
MEMORY = 4 << 30  # bytes of address space of a child
SMALL, LARGE = 1 << 16, 1 << 28  # maximum bytes of an input, and of a file that a reader writes
STARTING = threading.Lock()
SHARED = Path("/dev/shm")  # writing a file there takes a tenth of the time that it takes on a disk
TOKENS = [bytes([byte]) for byte in b"\0\r\n\t ,;:-*#{}[]RW0~%\\\"'"] + [
    *(b"\r\n", b"&a ", b"\xff\xfe", b"\xc3\x28", b"\xe2\x80\xa8", b"\x1f\x8b", b"source x\n", b"9" * 400, b"a" * 300),
    *b"*a -1 1_000 1e308 1e-400 nan inf 0x1f null true PAR1 4294967295 4294967296".split(),
    *b"9223372036854775807 9223372036854775808 18446744073709551616".split(),
]
WORDS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1]


def all_targets():
    """Return the targets by name."""
    import targets  # takes longer to import than most targets take to run

    return corpus.TARGETS | targets.TARGETS


def mutate(seed, others, rng):
    """Return `seed` with a few random changes, some of which splice in parts of `others`."""
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(10)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at : at + rng.randrange(1, 64)]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randrange(1, 256)] * rng.choice((1, 2, 20))
        elif kind in (3, 4) and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 5:
            width = rng.choice((1, 2, 4, 8))
            word = rng.choice(WORDS) % (1 << 8 * width)
            data[at : at + width] = word.to_bytes(width, rng.choice(("little", "big")))
        elif kind in (6, 7):
            token = rng.choice(TOKENS)
            data[at : at + rng.choice((0, 0, 1, len(token)))] = token
        elif kind == 8:
            lines = bytes(data).split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            data = bytearray(b"\n".join(lines))
        else:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.randrange(1, 512)]
        del data[SMALL:]
    return bytes(data)


def timed_out(*_):
    raise TimeoutError(f"more than {SECONDS} s")


class Watch:
    """An audit hook that records whether a reader opens other files, starts a program or makes a network connection
    (see SECURITY.md)."""

    FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "socket.connect")

    def __init__(self, target):
        self.on, self.seen = False, None
        own = [
            sys.prefix,
            sys.base_prefix,
            misspenalty.__path__[0],
            tempfile.gettempdir(),
            os.getcwd(),
            "/proc",
            "/dev/null",
        ]
        self.allowed = tuple(own + [str(corpus.ROOT / name) for name in ("data", "src", "studies", "build")])
        self.any_file = target.startswith("disksim")  # DiskSim's files name other files to read
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        """Record an audit event of the interpreter (PEP 578) if it is forbidden."""
        if not self.on or (event != "open" and event not in self.FORBIDDEN):
            return
        path = os.fsdecode(arguments[0]) if event == "open" and isinstance(arguments[0], str | bytes) else "."
        inside = self.any_file or os.path.abspath(path).startswith(self.allowed)
        if event != "open" or not inside:
            self.seen = f"{event} {arguments[:1]}"


def work(name, executions, seed, first=0):
    """Run a target in this process and return its counts. The working folder holds the current input."""
    faulthandler.enable()
    target = corpus.TARGETS.get(name) or all_targets()[name]  # imported before memory is limited
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # AddressSanitizer's shadow takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, timed_out)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE, LARGE))  # a reader may write an input that it has expanded
    seeds, layout = list(target.seeds().items()), corpus.Layout(target, Path("input"))
    contents = [content for _, content in seeds]
    counts, rng, note = {"read": 0, "refused": 0}, random.Random(), os.open("number", os.O_WRONLY | os.O_CREAT)
    around, watch = None, Watch(name)
    for number in range(first, executions):
        rng.seed(zlib.crc32(f"{seed} {name} {number}".encode()))
        place, content = rng.choice(seeds)
        content = mutate(content, contents, rng) if number else content  # the first seed is not mutated
        os.pwrite(note, b"%20d%20d%20d" % (number, *counts.values()), 0)
        path = layout.put(place, content)
        around = around or sorted(os.listdir())
        signal.alarm(SECONDS)
        watch.on = number > first  # the first execution imports what it needs
        try:
            target.read(path)
            counts["read"] += 1
        except (InputError, ParameterError) as error:
            counts["refused"] += 1
            assert str(error), "the error has no message"
        finally:
            signal.alarm(0)
            watch.on = False
        assert watch.seen is None, f"a reader may not do this: {watch.seen}"
        assert number % 64 or sorted(os.listdir()) == around, "a file left behind"
    return counts


def _child(work, folder, sender, *arguments):
    """Call `work` in a folder and send its counts; redirect its output and errors to the file ``said``."""
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.chdir(folder)
    for stream in (1, 2):
        os.dup2(os.open("said", os.O_WRONLY | os.O_APPEND), stream)
    try:
        sender.send(work(*arguments))
    except BaseException as error:
        traceback.print_exc()
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)


def _forked():
    """Start a process that has imported the targets, and return the context that forks processes from it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzz", "targets"])
    with STARTING, unittest.mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        multiprocessing.forkserver.ensure_running()
    return context


def run(name, executions, seed, kept):
    """Return the counts of a target, ``read`` and ``refused``, a list of failures, and wall-clock seconds."""
    start, context = time.perf_counter(), _forked()
    counts, failures, first = {"read": 0, "refused": 0}, [], 0
    with tempfile.TemporaryDirectory(prefix="misspenalty-fuzz-", dir=SHARED if SHARED.is_dir() else None) as folder:
        while first < executions and len(failures) < 5:
            Path(folder, "number").unlink(missing_ok=True)
            Path(folder, "said").write_bytes(b"")
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=_child, args=(work, folder, sender, name, executions, seed, first))
            child.start()
            child.join()
            if child.exitcode == 0:
                last = receiver.recv()
                counts = {key: counts[key] + last[key] for key in counts}
                break
            noted = Path(folder, "number").read_text().split() if Path(folder, "number").exists() else []
            number, *before = map(int, noted or (first, 0, 0))
            kept.mkdir(parents=True, exist_ok=True)
            place = kept / f"{name}-{seed}-{number}"
            if Path(folder, "input").is_dir():
                shutil.copytree(Path(folder, "input"), place, dirs_exist_ok=True)
            said = Path(folder, "said").read_text(errors="replace").strip() or f"signal {-child.exitcode}"
            said = said.splitlines()
            failures.append((place, next((line for line in said if line.startswith("Fatal")), said[-1])))
            counts = {key: counts[key] + count for key, count in zip(counts, before, strict=True)}
            first = number + 1
    return counts, failures, time.perf_counter() - start


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executions", type=int, default=100_000, help="over all targets (default: %(default)s)")
    names = sorted(all_targets())
    parser.add_argument("--target", nargs="+", choices=names, default=names)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, default=Path("build/fuzz"), help="folder of inputs that fail")
    parser.add_argument("--csv", type=Path, help="table that rows are added to, one for each target and seed")
    options = parser.parse_args(arguments)
    each = max(options.executions // len(options.target), 1)
    print(f"{'target':18}{'executions':>12}{'read':>10}{'refused':>10}{'failed':>8}{'per s':>8}")
    failed = total = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a process
        runs = pool.map(lambda name: run(name, each, options.seed, options.kept), options.target)
        for name, (counts, failures, seconds) in zip(options.target, runs, strict=True):
            count = sum(counts.values()) + len(failures)
            row = {"target": name, "seed": options.seed, "executions": count, **counts, "failed": len(failures)}
            shown = (name, count, counts["read"], counts["refused"], len(failures), round(count / seconds))
            print("{:18}{:12}{:10}{:10}{:8}{:8}".format(*shown), flush=True)
            for place, what in failures:
                print(f"  {place}: {what}")
            if options.csv:
                add(options.csv, row | {"seconds": round(seconds, 1)})
            failed, total = failed + len(failures), total + count
    print(f"{'all':18}{total:12}{'':20}{failed:8}")
    return 1 if failed else 0


def add(path, row):
    """Add a row to a table, replacing the one with the same target and seed."""
    table = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(row))
    others = table[(table["target"] != row["target"]) | (table["seed"] != row["seed"])]
    rows = [*others.to_dict("records"), row]
    write_csv(pd.DataFrame(rows).sort_values(["target", "seed"]), path)


if __name__ == "__main__":
    sys.exit(main())
