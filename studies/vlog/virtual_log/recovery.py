"""Recover a virtual log's map from the media only.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, "Virtual Log Based File Systems for a Programmable Disk", OSDI 1999,
sections 3.2 and 3.3: at power-down, residual power is used to record the tail's place, with a checksum; the recovery
clears this record. If it is damaged, the disk is scanned for map sectors, which are signed.

From the tail, records are visited newest first. The target of a pointer counts only if it is a record with a valid
checksum and the sequence number in the pointer, because the sectors of older copies are reused. The first
record found for a piece is its newest one. A transaction is complete when its last record is present. Pointers in the
records of an incomplete transaction are followed, but its map entries are not used, and the recovery clears these
records, because later ones would make them look complete.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from misspenalty.errors import InputError, ParameterError

SECTOR = 512
RECORD_MAGIC, TAIL_MAGIC = 0x4D697373566C6F67, 0x4D69737354616973
POINTERS, ENTRIES, NONE = 6, 100, -1
RECORD = np.dtype(
    [
        ("magic", "<u8"),
        ("sequence", "<i8"),
        ("first", "<i8"),
        ("piece", "<i4"),
        ("last", "<i2"),
        ("pointers", "<i2"),
        ("pointer", [("address", "<i4"), ("sequence", "<i8")], POINTERS),
        ("entry", "<i4", ENTRIES),
        ("checksum", "<u8"),
    ]
)
TAIL = np.dtype([("magic", "<u8"), ("address", "<i4"), ("unused", "<i4"), ("sequence", "<i8"), ("checksum", "<u8")])


@dataclass(frozen=True)
class Recovered:
    """Result of a recovery.

    Attributes
    ----------
    map : int32, shape (blocks,)
        Physical block of each logical one, -1 = none.
    pieces : list of (piece, sector, sequence number, parent)
        The current records; the parent is the piece whose record points to it, -1 for the tail.
    next_sequence : int
        Sequence number for the next record.
    sectors_read : int
        Number of sectors that the recovery read.
    from_tail : bool
        Whether the tail's record was found; otherwise the disk was scanned.
    discarded : int
        Number of records of a transaction that the power failure interrupted.
    """

    map: np.ndarray
    pieces: list
    next_sequence: int
    sectors_read: int
    from_tail: bool
    discarded: int


def checksum(content):
    """Compute the 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in bytes(content):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def recover(media, blocks, take_over=None):
    """Rebuild the map, and clear the records that a later recovery must not find.

    Parameters
    ----------
    media : uint8, shape (sectors * 512,)
        The disk's content; the tail's record and the records of an unfinished transaction are overwritten with zeros.
    blocks : int
        Logical blocks.
    take_over : callable, optional
        Called with the result before anything is overwritten; may reject it by raising an error.

    Returns
    -------
    Recovered

    Raises
    ------
    InputError
        The media are not a whole number of sectors, hold no record of a piece that the map needs, or hold a map of more
        blocks.
    ParameterError
        There are no blocks.
    """
    if blocks < 1:
        raise ParameterError(f"there are {blocks!r} logical blocks; expected at least 1")
    if media.ndim != 1 or media.dtype != np.uint8 or media.size == 0 or media.size % SECTOR:
        raise InputError(
            f"media of shape {media.shape} and type {media.dtype}; expected bytes (uint8) in one dimension, in whole"
            f" sectors of {SECTOR}"
        )
    reader = _Reader(media)
    root = reader.tail()
    from_tail = root is not None
    if from_tail:
        newest, discarded = _walk(reader, root)
    else:
        newest, discarded = _scan(reader)
    pieces = -(-blocks // ENTRIES)
    missing = sorted(set(range(pieces)) - set(newest))
    if missing:
        raise InputError(f"no record of piece {missing[0]} of the map is left ({len(missing)} of {pieces} are missing)")
    found = np.full(pieces * ENTRIES, NONE, np.int32)
    for piece, (address, record) in newest.items():
        if not 0 <= piece < pieces or (record["entry"][max(0, blocks - piece * ENTRIES) :] != NONE).any():
            raise InputError(
                f"the record in sector {address}, of piece {piece}, maps more than {blocks} blocks",
                remedy="pass the number of blocks that the disk had",
            )
        found[piece * ENTRIES : (piece + 1) * ENTRIES] = record["entry"]
    highest = max(int(record["sequence"]) for _, record in [*newest.values(), *discarded])
    result = Recovered(found[:blocks], _tree(newest), highest + 1, len(reader.seen), from_tail, len(discarded))
    if take_over is not None:
        take_over(result)
    for address, _ in discarded:
        media[address * SECTOR : (address + 1) * SECTOR] = 0
    media[:SECTOR] = 0
    return result


class _Reader:
    """Sectors of the media as records, each checked and counted once."""

    def __init__(self, media):
        self.media = media
        self.sectors = media.size // SECTOR
        self.seen = {}

    def record(self, address):
        """Return the record in a sector, or None."""
        if not 0 < address < self.sectors:
            return None
        if address not in self.seen:
            raw = self.media[address * SECTOR : (address + 1) * SECTOR]
            record = raw.view(RECORD)[0]
            good = record["magic"] == RECORD_MAGIC and record["checksum"] == checksum(raw[: -TAIL["checksum"].itemsize])
            self.seen[address] = record.copy() if good else None
        return self.seen[address]

    def tail(self):
        """Return (sector, record) of the log's tail, from the power-down record; None if that is unusable."""
        self.seen[0] = None
        raw = self.media[: TAIL.itemsize]
        tail = raw.view(TAIL)[0]
        if tail["magic"] != TAIL_MAGIC or tail["checksum"] != checksum(raw[: -TAIL["checksum"].itemsize]):
            return None
        record = self.record(int(tail["address"]))
        if record is None or record["sequence"] != tail["sequence"]:
            return None
        return int(tail["address"]), record


def _walk(reader, root):
    """Walk from the tail, newest first; return the newest record of each piece, and the discarded records."""
    cut = root[1]["first"] if not root[1]["last"] else np.iinfo(np.int64).max
    newest, discarded, waiting, met = {}, [], [(-int(root[1]["sequence"]), root[0])], set()
    while waiting:
        order, address = heapq.heappop(waiting)
        record = reader.record(address)
        if record is None or record["sequence"] != -order or address in met:
            continue
        met.add(address)
        if record["sequence"] >= cut:
            discarded.append((address, record))
        else:
            newest.setdefault(int(record["piece"]), (address, record))
        for pointer in record["pointer"][: record["pointers"]]:
            heapq.heappush(waiting, (-int(pointer["sequence"]), int(pointer["address"])))
    return newest, discarded


def _scan(reader):
    """Return the same as `_walk`, but read every sector of the disk."""
    records = [(address, reader.record(address)) for address in range(1, reader.sectors)]
    records = sorted(((a, r) for a, r in records if r is not None), key=lambda found: -int(found[1]["sequence"]))
    if not records:
        return {}, []
    last = records[0][1]
    cut = last["first"] if not last["last"] else np.iinfo(np.int64).max
    newest = {}
    for address, record in records:
        if record["sequence"] < cut:
            newest.setdefault(int(record["piece"]), (address, record))
    return newest, [(address, record) for address, record in records if record["sequence"] >= cut]


def _tree(newest):
    """Return (piece, sector, sequence number, parent) of the current records, newest first."""
    pieces = sorted(newest, key=lambda piece: -int(newest[piece][1]["sequence"]))
    at = {(newest[p][0], int(newest[p][1]["sequence"])): p for p in pieces}
    parents = dict.fromkeys(pieces, NONE)
    for piece in pieces:
        record = newest[piece][1]
        for pointer in record["pointer"][: record["pointers"]]:
            child = at.get((int(pointer["address"]), int(pointer["sequence"])))
            if child is not None and parents[child] == NONE:
                parents[child] = piece
    return [(p, newest[p][0], int(newest[p][1]["sequence"]), parents[p]) for p in pieces]
