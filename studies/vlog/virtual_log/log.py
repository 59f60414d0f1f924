"""Simulate a disk that writes to free blocks near its head and keeps the map of its blocks in a log without a fixed
place.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, "Virtual Log Based File Systems for a Programmable Disk", OSDI 1999:
the models in section 2, the virtual log in 3.2, the virtual-log disk (VLD) in 4.2, the compactor in 2.3 and 5.5.

Each block of a write goes to the free aligned block that passes under a head first (*eager writing*): on the current
track, on another track of the cylinder after a head switch, or on a higher cylinder after a seek. Lower cylinders are
used only when nothing above is free, starting from the first one, so that the arm sweeps one way. Then every changed
piece of the map goes to the free sector that passes first, with pointers that keep the log a tree (`_map_log.pxd`). Old
copies are free once the last map sector is on the disk, and then the write is acknowledged. A block is freed only by
overwriting it.

A read fills a buffer with the sectors of its track as they pass, until the arm leaves the track. The buffer keeps them
until another track is read, this one is written, or the compactor starts on a track. A write of less than a block first
reads that block, unless it is the last block that was written in part, which the drive still has.

In idle time the compactor reads a random track and moves its live blocks and map sectors into holes of tracks that are
in use, so that tracks become empty. It starts on a track only if there is time left to read it, and moves the blocks of
one piece of the map after another, each piece in a transaction. When the time is over it finishes the block in progress
and logs that block's piece; a pause may overrun by that much. With `reserve` the disk fills one empty track after
another, down to that number of free blocks, before it falls back to the nearest block (section 2.3).

These are deviations from the paper, and choices where it says nothing or where we could not read it:

* A map sector holds 100 entries, since its header is in the same sector, so the map of 24 MB takes 62 sectors instead
  of 48.
* The paper's records have two pointers. A record that is itself overwritten while both of its pointers are current
  passes both on and adds the tail, so ours have up to five; if six were needed, one of the records pointed to is
  logged again first (`relogged`). Every record of a transaction except its last one also points to the tail before the
  transaction.
* Pointers carry the sequence number of the record they lead to.
* A request of more than 128 blocks (0.5 MB), or of more than a 32nd of a small disk, is split into several
  transactions.
* Delivering from the track buffer costs nothing beyond the command, as the paper's latencies have no bus component.
"""

import numpy as np

from misspenalty.disks.drive.slices import uniform
from misspenalty.errors import InputError, ParameterError
from misspenalty_studies.vlog.virtual_log._compactor import CompactingLog
from misspenalty_studies.vlog.virtual_log._store import InPlace
from misspenalty_studies.vlog.virtual_log._virtual_log import ENTRIES_A_SECTOR
from misspenalty_studies.vlog.virtual_log.recovery import SECTOR, recover

BLOCK_SECTORS = 8


def physical_blocks(description, block_sectors=BLOCK_SECTORS):
    """Return the number of aligned blocks that a slice has room for."""
    tracks, _, sectors = uniform(description)
    return tracks * (sectors // block_sectors)


def longest_transaction(description, block_sectors=BLOCK_SECTORS):
    """Return the largest number of blocks that a transaction writes."""
    return max(2, min(128, physical_blocks(description, block_sectors) // 32))


def capacity(description, block_sectors=BLOCK_SECTORS):
    """Return the largest number of logical blocks that a virtual log on this slice can have.

    Besides them there is always room for a transaction's new blocks, for two copies of the map with every record in a
    separate block, and for the tail's place.
    """
    physical = physical_blocks(description, block_sectors) - longest_transaction(description, block_sectors) - 1
    return max(0, physical * ENTRIES_A_SECTOR // (ENTRIES_A_SECTOR + 2) - 2)


def virtual_log(
    description,
    blocks,
    *,
    block_sectors=BLOCK_SECTORS,
    aligned=True,
    log_map=True,
    reserve=None,
    search_ns=0,
    record_ns=0,
    seed=0,
    media=None,
):
    """Make an empty virtual-log disk.

    Parameters
    ----------
    description : Description
        A slice, see `misspenalty.disks.drive.slices`.
    blocks : int
        Logical blocks, at most `capacity`.
    block_sectors : int
        Sectors per block, physical and logical.
    aligned : bool
        Whether physical blocks begin at multiples of their length; otherwise they may begin at any sector of a track,
        and a disk whose free sectors are in many short gaps may have no room for a block.
    log_map : bool
        Whether map sectors are written; if not, the map is assumed to survive by other means.
    reserve : int, optional
        Free blocks that filling leaves on a track; by default blocks are written to the first free place that passes.
    search_ns, record_ns : int
        Processor time of the algorithm, charged to a write's ``other`` when it completes: for each track examined and
        each map sector built, ns.
    seed : int
        Chooses the compactor's tracks.
    media : uint8, shape (sectors * 512,), optional
        Kept up to date with the contents of each sector.

    Returns
    -------
    CompactingLog
        It has the methods ``request(now, write, sector, count)``, ``replay``, ``rest(until)``, ``compact(tracks)``,
        ``mapping()``, ``lay_out(logical, physical)``, ``live()``, ``tree()``, ``fail_after(sectors)``,
        ``power_down()``.

    Raises
    ------
    ParameterError
        The tracks are not identical, or a parameter is invalid.
    """
    tracks, heads, sectors = uniform(description)
    if not 1 <= block_sectors <= sectors:
        raise ParameterError(f"a block has {block_sectors!r} sectors; expected 1 to {sectors}, the sectors of a track")
    most = capacity(description, block_sectors)
    if not 1 <= blocks <= most:
        raise ParameterError(f"there are {blocks!r} logical blocks; expected 1 to {most} on this disk")
    if reserve is not None and not 0 <= reserve < sectors // block_sectors:
        raise ParameterError(f"reserve is {reserve!r} blocks; expected 0 to {sectors // block_sectors - 1}")
    if media is not None and not aligned:
        raise ParameterError("media require aligned blocks; leave out media, or set aligned to True")
    if media is not None and (media.dtype != np.uint8 or media.shape != (tracks * sectors * SECTOR,)):
        raise ParameterError(
            f"media have shape {media.shape} and type {media.dtype}; expected {tracks * sectors * SECTOR} values of"
            " type uint8 in one dimension"
        )
    return CompactingLog(
        description.mechanics,
        tracks,
        heads,
        sectors,
        block_sectors,
        blocks,
        longest_transaction(description, block_sectors),
        description.settings["read_miss"][1],
        description.settings["write_miss"][0],
        log_map=log_map,
        aligned=aligned,
        reserve=-1 if reserve is None else reserve,
        search=search_ns,
        recording=record_ns,
        media=media,
        seed=seed,
    )


def recovered(description, blocks, media, **parameters):
    """Return a virtual-log disk as it is after a crash: the map is recovered from `media`, and interrupted writes are
    discarded.

    Returns
    -------
    disk : CompactingLog
    found : Recovered

    Raises
    ------
    InputError
        The media hold no complete map, or one that does not fit this disk; they are left unchanged.
    ParameterError
        As in `virtual_log`.
    """
    disk = virtual_log(description, blocks, media=media, **parameters)

    def take_over(found):
        try:
            disk.restore(found.map, found.pieces, found.next_sequence, found.next_sequence)
        except ParameterError as error:
            remedy = "use the slice, blocks and block_sectors that the media were written with"
            raise InputError(f"the map on the media does not fit this disk: {error}", remedy=remedy) from error

    return disk, recover(media, blocks, take_over)


def update_in_place(description):
    """Return a slice as an ordinary drive, which keeps every block at its address and uses its own read-ahead.

    Returns
    -------
    InPlace
        It has the methods ``request(now, write, sector, count)``, ``replay`` and ``rest(until)``.
    """
    return InPlace(description.drive(), description.mechanics, description.blocks)


def spread(blocks, physical):
    """Return physical blocks for a file's blocks in order, spread evenly over all blocks except the first; int32."""
    return (1 + np.arange(blocks, dtype=np.int64) * (physical - 1) // blocks).astype(np.int32)


def unaligned(places, description, block_sectors=BLOCK_SECTORS):
    """Convert the numbers of aligned physical blocks to those on a disk whose blocks may begin at any sector; int32."""
    _, _, sectors = uniform(description)
    track, place = np.divmod(np.asarray(places, np.int64), sectors // block_sectors)
    return (track * (sectors - block_sectors + 1) + place * block_sectors).astype(np.int32)
