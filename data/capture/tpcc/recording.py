"""Run the transactions on a loaded cluster while bpftrace records the accesses to its data files.

A recording is a folder with ``events.txt`` (the probe's output), ``transactions.log`` (pgbench's), ``recording.json``
(the settings of the run, how its counters changed, and the names of all relations), and the messages of both programs.
"""

import contextlib
import datetime
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster import BINARIES, DATABASE, Cluster

from misspenalty.record import tracer
from misspenalty.record.events import BLOCK_BYTES, FILE_NAME, locate
from misspenalty.record.tracer import CaptureError

HERE = Path(__file__).parent
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}  # %, in pgbench's order
PROBED = "events/syscalls/sys_enter_pread64"
BYTES_PER_READ = 90  # bytes of recorded text per read, including the text of the writes
LATEST_END_SECONDS = 3600
COUNTERS = "blks_read, blks_hit, xact_commit, xact_rollback, deadlocks"


@dataclass(frozen=True)
class Run:
    """The settings of one recording.

    Attributes
    ----------
    shared_buffers : str
        Size of the first-level cache, as PostgreSQL writes it (``128MB``).
    reads : int
        Number of reads to record after the warm-up.
    warmup_seconds : int
        Running time before the window opens.
    clients : int
        Concurrent database sessions, without think time.
    ring_pages : int
        Pages of each processor's event buffer, a power of two.
    """

    shared_buffers: str
    reads: int
    warmup_seconds: int = 60
    clients: int = 8
    ring_pages: int = 16384


def check_tracing(work: Path, reads: int) -> None:
    """Raise `CaptureError` unless bpftrace can trace system calls and the recording fits on the disk."""
    if shutil.which("bpftrace") is None:
        raise CaptureError("bpftrace is missing: apt-get install bpftrace")
    if not any(Path(root, PROBED).is_dir() for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")):
        raise CaptureError("no trace points: mount -t tracefs none /sys/kernel/tracing")
    needed = BYTES_PER_READ * reads * 2 + (3 << 30)
    free = shutil.disk_usage(work).free
    if free < needed:
        raise CaptureError(
            f"{work}: {free >> 20} MiB are free, but {reads} reads need {needed >> 20} MiB; record fewer --reads"
        )


def record(cluster: Cluster, run: Run, folder: Path) -> None:
    """Record one run into `folder`, which must not exist; it is removed again if anything fails.

    Raises
    ------
    CaptureError
        `folder` exists, a program or disk space is missing, a program fails or stops early, or there are too few reads
        within an hour.
    """
    cluster.check_machine()
    check_tracing(cluster.work, run.reads)
    if folder.exists():
        raise CaptureError(f"{folder} exists already: remove it or choose another --recording")
    folder.mkdir(parents=True)
    try:
        with cluster.running(shared_buffers=run.shared_buffers) as server:
            facts = run_and_trace(server, run, folder)
        (folder / "recording.json").write_text(json.dumps(facts, indent=1))
    except BaseException:
        shutil.rmtree(folder)
        raise


def run_and_trace(server: Cluster, run: Run, folder: Path) -> dict:
    """Run and trace the transactions, and return the content of recording.json."""
    warehouses = int(server.run("SELECT count(*) FROM warehouse"))
    if warehouses == 0:
        raise CaptureError("the tables are empty, as unlogged tables are after a crash: clean and load again")
    oid = server.run(f"SELECT oid FROM pg_database WHERE datname = '{DATABASE}'")
    data_files = server.data / "base" / oid
    before = counters(server)
    sizes = relation_blocks(data_files, relation_names(server))
    started = datetime.datetime.now(datetime.UTC)
    with tracing(data_files, run, folder / "events.txt") as probe:
        clock_offset = time.time_ns() - tracer.now()
        begin = tracer.now()
        with driving(server, run, warehouses, folder) as driver:
            wait_for_reads(run, folder / "events.txt", probe, driver)
    after = counters(server)
    return {
        "run": asdict(run),
        "warehouses": warehouses,
        "started": started.isoformat(timespec="seconds"),
        "window_start_ns": begin + run.warmup_seconds * 1_000_000_000,
        "clock_offset_ns": clock_offset,
        "counters": {name: after[name] - before[name] for name in after},
        "relations": relation_names(server),
        "blocks_at_start": sizes,
        "versions": versions(server),
        "machine": machine(),
    }


def counters(server: Cluster) -> dict[str, int]:
    """Wait 1.5 s for ended sessions to report their statistics, then query these from another database."""
    time.sleep(1.5)
    query = f"SELECT {COUNTERS} FROM pg_stat_database WHERE datname = '{DATABASE}'"
    writes = "SELECT buffers_checkpoint, buffers_clean, buffers_backend FROM pg_stat_bgwriter"
    return {**server.ask(query, database="postgres")[0], **server.ask(writes, database="postgres")[0]}


def relation_names(server: Cluster) -> dict[str, str]:
    """Map the file node (as text) of every relation of the database, including system catalogues, to its name."""
    query = "SELECT pg_relation_filenode(oid) AS node, relname FROM pg_class WHERE NOT relisshared"
    return {str(row["node"]): row["relname"] for row in server.ask(query) if row["node"]}


def relation_blocks(data_files: Path, relations: dict[str, str]) -> dict[str, int]:
    """Return the size of each relation and fork in blocks."""
    sizes: dict[str, int] = {}
    for path in data_files.iterdir():
        match = FILE_NAME.fullmatch(path.name)
        if match and match["node"] in relations:
            name, first = locate(path.name, relations)
            sizes[name] = max(sizes.get(name, 0), first + path.stat().st_size // BLOCK_BYTES)
    return sizes


def tracing(data_files: Path, run: Run, output: Path):
    """Return a context in which bpftrace traces `data_files`; at its end, wait for bpftrace's buffers to drain."""
    settings = {"BPFTRACE_STRLEN": "16", "BPFTRACE_PERF_RB_PAGES": str(run.ring_pages)}
    return tracer.tracing(
        "postgres.bt", data_files.stat().st_ino, output, output.parent / "bpftrace.log", settings=settings
    )


@contextlib.contextmanager
def driving(server: Cluster, run: Run, warehouses: int, folder: Path):
    """Run pgbench with the mix of five transactions; at the end, let its sessions finish their current transactions."""
    scripts = [part for name, weight in MIX.items() for part in ("-f", f"{HERE}/pgbench/{name}.sql@{weight}")]
    command = [
        *(str(BINARIES / "pgbench"), "-n", "-l", "-M", "prepared", "-j", "1", "--max-tries", "100"),
        *("-c", str(run.clients), "-T", str(LATEST_END_SECONDS), "-D", f"warehouses={warehouses}"),
        *("--log-prefix", str(folder / "pgbench"), *scripts, *server.connection()),
    ]
    with (folder / "pgbench.out").open("w") as log:
        driver = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield driver
        driver.send_signal(signal.SIGALRM)  # end pgbench as -T would, with a complete log
        if driver.wait(timeout=120) != 0:
            raise CaptureError(f"pgbench failed: {(folder / 'pgbench.out').read_text().strip()[-800:]}")
    finally:
        if driver.poll() is None:
            driver.terminate()
            driver.wait()
    (logged,) = folder.glob("pgbench.[0-9]*")
    logged.rename(folder / "transactions.log")


def wait_for_reads(run: Run, output: Path, probe: subprocess.Popen, driver: subprocess.Popen) -> None:
    """Sleep until the recording holds enough reads after the warm-up, with a margin for cutting out the window."""
    begin = time.monotonic()
    position, seen, wanted = 0, 0, None
    while wanted is None or seen < wanted:
        time.sleep(1)
        for name, process in (("bpftrace", probe), ("pgbench", driver)):
            if process.poll() is not None:
                raise CaptureError(f"{name} stopped unexpectedly; the ends of the logs: {last_words(output.parent)}")
        with output.open("rb") as recorded:
            recorded.seek(position)
            for chunk in iter(lambda: recorded.read(1 << 24), b""):
                seen += chunk.count(b"R ")
                position += len(chunk)
        elapsed = time.monotonic() - begin
        if wanted is None and elapsed > run.warmup_seconds + 2:
            wanted = seen + run.reads + run.reads // 100 + 10_000
        if elapsed > LATEST_END_SECONDS - 60:
            raise CaptureError(f"only {seen} reads within an hour: choose fewer --reads or a smaller --shared-buffers")


def last_words(folder: Path) -> str:
    """Return the last 400 characters of each program's output."""
    return " / ".join((folder / name).read_text().strip()[-400:] for name in ("bpftrace.log", "pgbench.out"))


def versions(server: Cluster) -> dict[str, str]:
    """Return the versions of the programs that made the recording."""

    def number(text: str) -> str:
        return re.search(r"\d+(\.\d+)+", text)[0]

    def asked(*command: str) -> str:
        return number(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    return {
        "linux": number(platform.release()),
        "postgresql": number(server.run("SHOW server_version")),
        "pgbench": asked(str(BINARIES / "pgbench"), "--version"),
        "bpftrace": asked("bpftrace", "--version"),
    }


def machine() -> dict[str, str | int]:
    """Return the machine's processor, number of cores and memory."""
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    return {
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory[1]) / (1 << 20)),
    }
