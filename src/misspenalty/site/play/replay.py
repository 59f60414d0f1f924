"""What a reader's browser runs, in Pyodide: traces in memory, and replays by the package's own kernels."""

import array
import importlib
import json
import sys

sys.path.insert(0, "/kernels")
TRACES = {}  # name -> (ids, reads as a whole number with a byte per reference or None, blocks)


def load(name, blocks):
    """Take over a trace whose ids and marks of reads were written to files."""
    ids, reads = array.array("I"), None
    with open(f"/{name}.ids", "rb") as file:
        ids.frombytes(file.read())
    with open(f"/{name}.reads", "rb") as file:
        marks = file.read()
    if 0 in marks:
        reads = int.from_bytes(marks, "little")
    TRACES[name] = (ids, reads, marks.count(1), blocks)


def replay(name, module, kernel, capacity, parameters):
    """``[requests, hits]`` over the reads of a trace; writes are accesses that are not counted."""
    ids, reads, requests, blocks = TRACES[name]
    policy = getattr(importlib.import_module(module), kernel)(capacity, blocks, **json.loads(parameters))
    hit = bytearray(len(ids))
    hits = policy.replay(ids, hit)
    if reads is not None:
        hits = (int.from_bytes(hit, "little") & reads).bit_count()
    return [requests, hits]
