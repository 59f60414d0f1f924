"""Code that runs in the reader's browser, in Pyodide: traces in memory, and replays by the package's own kernels."""

import importlib
import json
import sys
from array import array
from types import SimpleNamespace

sys.path.insert(0, "/kernels")
TRACES = {}
LONGEST = 2_000_000  # most references that can be timed: each has a time, and the times are sorted
PARTS = ("queue", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache")


def load(name, block_bytes):
    """Load a trace whose ids, read flags and addresses by id were written to files."""
    ids, address = array("I"), array("Q")
    for numbers, kind in ((ids, "ids"), (address, "address")):
        with open(f"/{name}.{kind}", "rb") as file:
            numbers.frombytes(file.read())
    with open(f"/{name}.reads", "rb") as file:
        marks = file.read()
    TRACES[name] = SimpleNamespace(ids=ids, marks=marks, address=address, block_bytes=block_bytes)


def ranks(address):
    """The place of each block by address, 0 for the lowest, and the ids in that order."""
    order = sorted(range(len(address)), key=address.__getitem__)
    rank = array("q", bytes(8 * len(address)))
    for place, block in enumerate(order):
        rank[block] = place
    return rank, order


def line(address):
    """Positions of blocks that keep neighbours adjacent and cut gaps to one, and the total length."""
    _, order = ranks(address)
    places, at = array("I", bytes(4 * len(address))), 1
    for i, block in enumerate(order):
        if i:
            at += min(address[block] - address[order[i - 1]], 2)
        places[block] = at
    return places, at + 2


def once(trace, name, make):
    """Something computed from a trace when it is first asked for."""
    if not hasattr(trace, name):
        setattr(trace, name, make(trace.address))
    return getattr(trace, name)


def cache(trace, policy, capacity):
    """A kernel of a policy, with the parameters that the page was built with."""
    settings = dict(policy["parameters"])
    if policy["spatial"]:
        settings["places"], settings["tracks"] = once(trace, "line", line)
    kernel = getattr(importlib.import_module(policy["module"]), policy["kernel"])
    return kernel(capacity, len(trace.address), **settings)


def replay(name, policy, capacity):
    """``[requests, hits]`` over the reads of a trace; writes are accesses that are not counted."""
    trace = TRACES[name]
    hit = bytearray(len(trace.ids))
    hits = cache(trace, json.loads(policy), capacity).replay(trace.ids, hit)
    if 0 in trace.marks:
        hits = (int.from_bytes(hit, "little") & int.from_bytes(trace.marks, "little")).bit_count()
    return [trace.marks.count(1), hits]


def drive(path):
    """Mechanics and settings of a drive from its file: a line of JSON, then arrays byte by byte of their numbers."""
    with open(path, "rb") as file:
        about = json.loads(file.readline())
        arrays = []
        for size, count, kind in about["arrays"]:
            made = bytearray(size * count)
            for byte in range(size):
                made[byte::size] = file.read(count)
            arrays.append(array(kind, bytes(made)) if kind else made)
    mechanics = importlib.import_module("misspenalty.disks.drive._mechanics").Mechanics
    return mechanics(*arrays, *about["arguments"]), about["settings"]


def behind(trace, device):
    """A device, the position of each block on it, and the sectors per block."""
    devices = importlib.import_module("misspenalty.latency._devices")
    if "ns" in device:
        return devices.FixedTime(device["ns"]), array("q", bytes(8 * len(trace.address))), 1
    sectors = -(-trace.block_bytes // device["sector_bytes"])
    room = device["blocks"] // sectors
    if len(trace.address) > room:
        raise ValueError(
            f"{device['name']} has room for {room} of the trace's {len(trace.address)} blocks; choose another device"
        )
    fits = max(trace.address) < room
    places = trace.address if fits else once(trace, "ranks", ranks)[0]
    made = importlib.import_module("misspenalty.disks.drive._drive").Drive(*drive(device["path"]))
    return devices.Disk(made), array("q", (place * sectors for place in places)), sectors


def penalty(name, policy, capacity, device, clients, interval):
    """Response times of the reads, as in `misspenalty.penalty`; µs, as JSON.

    In a closed loop of `clients` or, if that is 0, one request every `interval` µs whether or not others have finished.
    """
    trace, policy = TRACES[name], json.loads(policy)
    timed = importlib.import_module("misspenalty.latency._replay_timed")
    if len(trace.ids) > LONGEST:
        raise ValueError(f"{len(trace.ids)} references; at most {LONGEST} can be timed here: choose a shorter trace")
    if policy["offline"] and policy["name"] != "opt":
        raise ValueError(f"{policy['name']} looks into the future; of such policies only opt can be timed")
    blocks, ahead = len(trace.address), array("q")
    if policy["offline"]:
        kernel, ahead = timed.Foresight(capacity, blocks), timed.following(trace.ids, blocks)
    else:
        kernel = cache(trace, policy, capacity)
    write = trace.marks.translate(bytes([1, 0]) + bytes(254)) if 0 in trace.marks else b""
    made, lbn, sectors = behind(trace, json.loads(device))
    arrival = array("q") if clients else array("q", (1000 * interval * i for i in range(len(trace.ids))))
    counts, latency = timed.Replay(kernel, made, lbn, sectors, 0, False).run(
        trace.ids, write, arrival, ahead, 0, clients, 0
    )
    served = sorted(ns for ns in memoryview(latency) if ns >= 0)
    n = len(served)
    row = {"requests": n} | {key: counts[key] for key in ("hits", "delayed_hits", "misses")}
    row["mean_us"] = (sum(counts[part] for part in PARTS) + counts["delayed"]) / n / 1000
    for share in (50, 95, 99):
        row[f"p{share}_us"] = served[-(-n * share // 100) - 1] / 1000
    row["delayed_us"] = counts["delayed"] / n / 1000
    return json.dumps(row | {f"{part}_us": counts[part] / n / 1000 for part in PARTS})
