"""Ids that are made in shards on disk equal those of one table in memory."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import open_trace
from misspenalty.errors import InputError
from misspenalty.traces import numbering, reader
from misspenalty.traces._compile import Interner, first_sizes
from misspenalty.traces.columns import object_sizes
from misspenalty.traces.compiled import ObjectBytes
from misspenalty.traces.numbering import SHARDS, Numbering, shard_of
from misspenalty.traces.readers import oracle_general
from misspenalty.traces.unknown_sizes import filled

SMALL = 400_000


def numbered(folder, parts, in_memory):
    made = Numbering(folder, in_memory)
    for part in parts:
        made.add(part)
    blocks = made.finish()
    found = [np.fromfile(folder / name, dtype) for name, dtype in (("ids", np.uint32), ("address", np.uint64))]
    assert sorted(path.name for path in folder.iterdir()) == ["address", "ids"]
    return blocks, *found


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 300) | st.integers(0, 2**64 - 1), max_size=80), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_shards_are_numbered_like_one_table(tmp_path_factory, parts, in_memory):
    parts = [np.array(part, np.uint64) for part in parts]
    interner = Interner()
    ids = np.concatenate([interner.ids(part) for part in parts])
    blocks, found, address = numbered(tmp_path_factory.mktemp("n"), parts, in_memory)
    assert blocks == len(interner) and np.array_equal(found, ids)
    assert np.array_equal(address, interner.addresses_by_id())


def test_many_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(numbering, "CHUNK", 1 << 12)
    rng = np.random.default_rng(4)
    addresses = rng.zipf(1.2, SMALL).astype(np.uint64) * np.uint64(7919)
    interner = Interner()
    ids = interner.ids(addresses)
    blocks, found, address = numbered(tmp_path, np.array_split(addresses, 37), 500)
    assert blocks == len(interner) > 10_000
    assert np.array_equal(found, ids) and np.array_equal(address, interner.addresses_by_id())


def test_a_trace_compiled_in_shards_is_the_same(tmp_path, monkeypatch):
    raw = tmp_path / "raw"
    np.random.default_rng(1).integers(0, 50_000, SMALL, np.uint64).astype("<u8").tofile(raw)
    one = open_trace(raw, "u64le")
    monkeypatch.setattr(numbering.Numbering.__init__, "__defaults__", (1000,))
    two = open_trace(raw, "u64le")
    assert np.array_equal(one.ids, two.ids) and np.array_equal(one.address, two.address)


def test_objects_keep_their_sizes_in_shards(tmp_path, monkeypatch):
    """An object's size must be that of its first reference, whichever chunk or shard contains it."""
    monkeypatch.setattr(numbering, "CHUNK", 1000)
    monkeypatch.setattr("misspenalty.traces.compiled.CHUNK", 700)
    rng = np.random.default_rng(6)
    names = rng.zipf(1.1, 20_000) % 9000
    lines = [f"{second},{name},{name * 3 + 1}" for second, name in enumerate(names)]
    (raw := tmp_path / "raw.csv").write_text("\n".join(["time,obj_id,obj_size", *lines]) + "\n")
    whole = open_trace(raw)
    monkeypatch.setattr(numbering.Numbering.__init__, "__defaults__", (100,))
    sharded = open_trace(raw)
    assert sharded.blocks > 4000
    assert sharded.object_bytes.tolist() == (sharded.address.astype(np.int64) * 3 + 1).tolist()
    assert np.array_equal(whole.ids, sharded.ids) and np.array_equal(whole.object_bytes, sharded.object_bytes)


def test_objects_keep_their_sizes_where_shards_begin_between_two_batches(tmp_path, monkeypatch):
    """The ids of the first batches are known at once, those of the later ones only at the end."""
    monkeypatch.setattr(reader, "RECORDS", 500)
    names = np.random.default_rng(7).zipf(1.1, 20_000).astype(np.uint64) % 9000
    rows = np.zeros(names.size, oracle_general.RECORD)
    rows["object"], rows["next"], rows["size"] = names, -1, names * 2 + 1 + np.arange(names.size) // 10_000
    rows.tofile(raw := tmp_path / "raw.oracleGeneral")
    first = np.unique(names, return_index=True)
    for in_memory in (1 << 20, 1500, 1):
        monkeypatch.setattr(numbering.Numbering.__init__, "__defaults__", (in_memory,))
        trace = open_trace(raw)
        assert trace.blocks == first[0].size > 3000
        assert dict(zip(trace.address.tolist(), trace.object_bytes.tolist(), strict=True)) == dict(
            zip(first[0].tolist(), rows["size"][first[1]].tolist(), strict=True)
        )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 2)), min_size=1), min_size=1, max_size=6),
    st.integers(0, 12),
)
def test_sizes_are_those_of_the_first_references(tmp_path_factory, parts, in_memory):
    """Sizes that are entered while references are numbered must equal those found from all references at the end.

    A size of -1 is unknown, and shards are used if there are more than `in_memory` objects.
    """
    folder = tmp_path_factory.mktemp("n")
    made, sizes = Numbering(folder, in_memory), ObjectBytes(folder)
    for part in parts:
        objects, asked = np.array(part).T
        sizes.add(asked, made.add(objects.astype(np.uint64)))
    made.finish()
    sizes.finish()
    ids = np.fromfile(folder / "ids", np.uint32)
    asked, never = filled(ids, np.concatenate([np.array(part)[:, 1] for part in parts]))
    first, changing = object_sizes(ids, asked)
    assert np.array_equal(np.fromfile(folder / "object_bytes", np.int64), first)
    assert sizes.changes == np.count_nonzero(first[ids] != asked) and sizes.never == never
    assert (folder / "request_bytes").exists() == (changing is not None)
    if changing is not None:
        assert np.array_equal(np.fromfile(folder / "request_bytes", np.int64), changing)


def test_first_sizes_check_their_arrays():
    ids, sizes, first = np.array([0, 1], np.uint32), np.array([5, 6]), np.zeros(2, np.int64)
    assert first_sizes(ids, sizes, first, 0) == (2, 0) and first.tolist() == [5, 6]
    with pytest.raises(IndexError, match="ids hold block 1"):
        first_sizes(ids, sizes, first[:1], 0)
    with pytest.raises(IndexError, match="sizes has length 1; expected 2"):
        first_sizes(ids, sizes[:1], first, 0)


def test_an_error_in_the_middle_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(numbering.Numbering.__init__, "__defaults__", (2,))
    (raw := tmp_path / "raw.lis").write_text("1\n2\n3\n4\nfive\n")
    with pytest.raises(InputError, match="line 5"):
        open_trace(raw, "lirs")
    assert [path.name for path in tmp_path.iterdir()] == ["raw.lis"]


def test_shards_are_about_alike():
    strided = np.arange(0, 1 << 24, 256, dtype=np.uint64)
    for addresses in (
        strided,
        strided << np.uint64(20),
        np.random.default_rng(2).integers(0, 2**63, 1 << 16, np.uint64),
    ):
        counts = np.bincount(shard_of(addresses), minlength=SHARDS)
        assert counts.max() < 2 * addresses.size / SHARDS


@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes as Linux does")
def test_memory_is_bounded_however_many_blocks(tmp_path):
    """Three million distinct blocks, in shards from 200,000 on, must take less memory than one table of all blocks."""
    np.random.default_rng(3).permutation(np.arange(3_000_000, dtype="<u8") * 4096).tofile(tmp_path / "raw")
    script = f"""
import resource, misspenalty
from misspenalty.traces import numbering
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
numbering.Numbering.__init__.__defaults__ = ({200_000},)
numbering.CHUNK = 1 << 18
trace = misspenalty.open_trace({str(tmp_path / "raw")!r}, "u64le")
assert trace.blocks == len(trace) == 3_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 120_000  # one table of all blocks would take 224 MB
