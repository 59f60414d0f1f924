"""Python cannot crash a kernel: objects are safe before `__init__`, threads take turns, and Ctrl-C stops a call."""

import contextlib
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import misspenalty
import misspenalty_studies
from misspenalty._kernel import Kernel
from misspenalty.disks import load
from misspenalty.latency._devices import Disk
from misspenalty.latency._flash_device import FlashDrive
from misspenalty.latency._replay_timed import Replay
from misspenalty.policies._arc import ARC
from misspenalty.policies._track_cache import TrackCache
from misspenalty.policies._tracks import TrackLists
from misspenalty.traces._compile import Interner
from misspenalty_studies.vlog.virtual_log._store import InPlace


def _modules():
    for package in (misspenalty, misspenalty_studies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            name = module.name.rpartition(".")[2]
            if name.startswith("_") and name not in ("__main__", "_cyutility"):
                yield importlib.import_module(module.name)


def _classes():
    """Return every extension type that a kernel module defines."""
    found = {
        value
        for module in _modules()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    return sorted(found, key=lambda c: (c.__module__, c.__qualname__))


# This script calls every public method and property, without arguments and with a few, on objects that only `__new__`
# made. It prints the class first, so that a crash can be attributed.
_CALL_ALL = """
import importlib, sys
for text in sys.argv[1:]:
    print(text, flush=True)
    module, _, name = text.rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    try:
        thing = cls.__new__(cls)
    except TypeError:
        continue
    for name in dir(cls):
        if name.startswith("_") and name not in ("__len__", "__contains__", "__enter__", "__init__"):
            continue
        try:
            value = getattr(thing, name)
        except Exception:
            continue
        for arguments in ((), (0,), (1, 1), (0, 0, 1), (0, False, 0, 1)):
            try:
                value(*arguments)
            except Exception:
                pass
print("done")
"""


def _run(code, *arguments, **options):
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, timeout=300, **options)


def test_the_walk_finds_all_kernels():
    assert len(_classes()) > 50
    assert sum(issubclass(c, Kernel) for c in _classes()) > 45


def test_an_object_that_only_new_made_does_not_crash():
    done = _run(_CALL_ALL, *(f"{cls.__module__}.{cls.__qualname__}" for cls in _classes()))
    assert done.returncode == 0, f"{done.stdout.decode().split()[-1:]} {done.stderr.decode()}"
    assert done.stdout.split()[-1] == b"done"


def test_a_second_init_changes_nothing():
    cache = ARC(4, 100)
    ids, hit = np.arange(20, dtype=np.uint32) % 7, np.empty(20, np.uint8)
    cache.replay(ids, hit)
    before = cache.resident, cache.evictions, cache.memory
    cache.__init__(1000, 5)
    assert (cache.resident, cache.evictions, cache.memory) == before
    assert cache.replay(ids, hit) >= 0


def _numbered():
    """Return a table of 2**20 numbered addresses, too large to reuse memory that was freed before."""
    table = Interner()
    table.ids(np.arange(1 << 20, dtype=np.uint64) << np.uint64(40))
    return table


def _huge_kb():
    """Return how many KB of this process Linux is asked to hold in huge pages."""
    areas = Path("/proc/self/smaps").read_text()
    areas = re.findall(r"^Size: *(\d+) kB$.*?^VmFlags: ([a-z ]*)$", areas, re.DOTALL | re.MULTILINE)
    return sum(int(size) for size, flags in areas if "hg" in flags.split())


@pytest.mark.parametrize("make", [lambda: ARC(1, 1 << 24), _numbered])
def test_large_arrays_are_in_huge_pages_where_there_are_any(make):
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        assert make()
        return
    before = _huge_kb()
    kernel = make()
    assert _huge_kb() - before > 32 << 10, kernel


@pytest.mark.parametrize("cls", [TrackCache, TrackLists])
def test_a_base_of_policies_is_refused(cls):
    with pytest.raises(TypeError, match="base of policies"):
        cls(4, 4).replay(np.zeros(4, np.uint32), np.empty(4, np.uint8))


def _refused(run, touch):
    """Return whether `touch` is refused while another thread is in `run`, which begins again if `touch` was first."""

    def work():
        while True:
            with contextlib.suppress(RuntimeError):
                return run()

    worker = threading.Thread(target=work)
    worker.start()
    refused = False
    while worker.is_alive() and not refused:
        worker.join(0.001)  # without a pause, `touch` might hold the object each time the worker tries to begin
        try:
            touch()
        except RuntimeError as error:
            assert "in use by another thread" in str(error)
            refused = True
    worker.join()
    return refused


def test_one_kernel_serves_one_thread_at_a_time():
    cache = ARC(1000, 1 << 16)
    ids = np.random.default_rng(0).integers(0, 1 << 16, 20_000_000, dtype=np.uint32)
    assert _refused(lambda: cache.replay(ids, np.empty(len(ids), np.uint8)), lambda: cache.__contains__(5))
    assert cache.requests == len(ids)


def test_a_drive_is_in_use_while_its_store_is():
    kind = load("hp97560")
    drive, n = kind.drive(), 3_000_000
    store = InPlace(drive, kind.mechanics, kind.blocks)
    writes = np.random.default_rng(0).integers(0, kind.blocks - 8, n), np.full(n, 8), np.zeros(1, np.int64)
    assert _refused(lambda: store.replay(*writes, 0), lambda: drive.position(1 << 60, 0, 8))


@pytest.mark.parametrize("name", ["hp97560", "dc_p3700"])
def test_a_drive_is_in_use_while_the_cache_before_it_is(name):
    drive, none = load(name).drive(), [np.empty(0, form) for form in (np.int64, np.int32, np.uint8, np.int64)]
    device, touch = Disk, lambda: drive.position(1 << 60, 0, 8)
    if name == "dc_p3700":
        device, touch = FlashDrive, lambda: drive.one_by_one(*none)
    replay = Replay(ARC(10, 100_000), device(drive), np.arange(100_000) * 8, 8, 0, False)
    ids = np.random.default_rng(0).integers(0, 100_000, 3_000_000, dtype=np.uint32)
    assert _refused(lambda: replay.run(ids, none[2], none[0], none[0], 0, clients=4), touch)


def test_a_slice_does_not_change_the_outcome():
    ids = np.random.default_rng(1).integers(0, 5000, 200_000, dtype=np.uint32)
    whole, parts = np.empty(len(ids), np.uint8), np.empty(len(ids), np.uint8)
    ARC(500, 5000).replay(ids, whole)
    cache = ARC(500, 5000)
    for begin in range(0, len(ids), 777):
        cache.replay(ids[begin : begin + 777], parts[begin : begin + 777])
    assert np.array_equal(whole, parts)


_LONG = """
from misspenalty.policies._arc import ARC
ids = np.random.default_rng(0).integers(0, 1 << 20, 10_000_000, dtype=np.uint32)
hit, cache = np.empty(len(ids), np.uint8), ARC(1 << 16, 1 << 20)
call, done, whole = lambda: cache.replay(ids, hit), lambda: cache.requests, len(ids)
"""
_INTERRUPTED = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
try:
    call()
except KeyboardInterrupt:
    print(done(), whole)
"""


def test_ctrl_c_stops_a_long_call():
    """The call must stop midway. The timer counts the process's own processor time, so other load does not matter."""
    done = _run("import signal\nimport numpy as np\n" + _LONG + _INTERRUPTED)
    assert done.returncode == 0, done.stderr.decode()
    some, whole = map(int, done.stdout.split())
    assert 0 < some < whole


_DRIVE = """
from misspenalty.disks import load
from misspenalty.disks.drive._replay import as_they_arrive
drive = load("hp97560").drive()
def replay(n, arrival):
    requests = np.arange(n), np.ones(n, np.int32), np.zeros(n, np.uint8)
    return as_they_arrive(drive, np.full(n, arrival), *requests)
call, done, whole = lambda: replay(1_000_000, 0), lambda: sum(replay(2, 1 << 59)["arrival"] == 1 << 59), 2
"""


def test_a_drive_serves_only_new_requests_after_ctrl_c():
    done = _run("import signal\nimport numpy as np\n" + _DRIVE + _INTERRUPTED)
    assert done.stdout.split() == [b"2", b"2"], done.stderr.decode()


_STORE = """
from misspenalty.disks import load
from misspenalty_studies.vlog.virtual_log.log import update_in_place
kind, n = load("hp97560"), 3_000_000
store = update_in_place(kind)
writes = np.random.default_rng(0).integers(0, kind.blocks - 8, n), np.full(n, 8), np.zeros(1, np.int64)
call, done, whole = lambda: store.replay(*writes, 0), lambda: store.now, n * kind.mechanics.revolution_ns
"""


def test_a_store_is_at_the_time_that_it_has_reached_after_ctrl_c():
    """The store's next request must not come before the drive's last one."""
    done = _run("import signal\nimport numpy as np\n" + _STORE + _INTERRUPTED)
    now, most = map(int, done.stdout.split())
    assert 0 < now < most, done.stderr.decode()


@pytest.mark.parametrize("sanitizers", ["none", "address,undefined"])
def test_a_debug_build_checks_every_kernel_for_overflow(sanitizers, tmp_path):
    """The compiler must be told to check each kernel, and no option may let signed overflow wrap."""
    root, tools = Path(__file__).parents[2], Path(sys.executable).parent
    environment = os.environ | {"LD_PRELOAD": "", "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    options = ["--buildtype=debug", f"-Db_sanitize={sanitizers}", "-Db_lundef=false"]
    command = [tools / "meson", "setup", tmp_path / "build", root, *options]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    commands = [one["command"] for one in json.loads((tmp_path / "build" / "compile_commands.json").read_text())]
    kernels = [path for folder in ("src", "studies") for path in (root / folder).rglob("*.pyx")]
    assert len(commands) == len(kernels) + 1  # one more for the code that Cython's modules share
    expected = "-fsanitize=signed-integer-overflow,shift" if sanitizers == "none" else "-fsanitize=address,undefined"
    assert all(expected in one and "-fwrapv" not in one for one in commands)
    assert all(("trap-on-error" in one) == (sanitizers == "none") for one in commands)
