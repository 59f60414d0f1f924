"""Number a trace's blocks in bounded memory: in one table while they fit, otherwise in shards by hash on disk.

Every address is written to a shard, the file for its hash. Each shard is numbered separately, several in parallel, in a
table that holds only its own blocks. A last pass follows the references in order, and gives each block its id at its
first reference, so the ids are the same as with one table: in order of first use. This takes memory for the tables of
the shards that are numbered in parallel and 4 bytes per distinct block. It also takes up to 13 bytes of disk space per
reference, in the folder of the compiled trace, until the numbering is finished.
"""

from pathlib import Path

import numpy as np

from misspenalty.io.threads import map_in_threads
from misspenalty.traces._compile import Interner, new_blocks
from misspenalty.traces.splitmix import GOLDEN

IN_MEMORY = 7 << 20  # maximum number of distinct blocks in one table, which then takes half a gigabyte
SHARDS = 128
AT_A_TIME = 4  # shards that are numbered in parallel
CHUNK = 1 << 20  # number of references processed at a time
MOST_BLOCKS = 0xFFFFFF00  # as in _compile.pyx


class Numbering:
    """Writer of a folder's columns ``ids`` and ``address``.

    Parameters
    ----------
    folder : Path
    in_memory : int
        Number of distinct blocks above which shards are used.
    """

    def __init__(self, folder: Path, in_memory: int = IN_MEMORY) -> None:
        self.folder, self.in_memory = folder, in_memory
        self.interner = Interner()
        self.shards: Shards | None = None
        self.ids = open(folder / "ids", "wb")  # noqa: SIM115, closed by `finish`

    def add(self, addresses: np.ndarray) -> np.ndarray | None:
        """Append references to these addresses, uint64; return their ids, or None if shards are used."""
        if self.shards is not None:
            self.shards.add(addresses)
            return None
        ids: np.ndarray = self.interner.ids(addresses)
        self.ids.write(ids.data)
        if len(self.interner) > self.in_memory:
            self._divide()
            return None
        return ids

    def finish(self) -> int:
        """Write the remaining data; return the number of distinct blocks."""
        self.ids.close()
        if self.shards is not None:
            return self.shards.finish()
        self.interner.addresses_by_id().tofile(self.folder / "address")
        return len(self.interner)

    def close(self) -> None:
        """Close the files; unfinished work is lost."""
        self.ids.close()
        if self.shards is not None:
            self.shards.close()

    def _divide(self) -> None:
        """Switch to shards, and write the references so far into them."""
        self.ids.close()
        address, self.shards = self.interner.addresses_by_id(), Shards(self.folder)
        self.interner = Interner()
        with open(self.folder / "ids", "rb") as ids:
            while (part := np.fromfile(ids, np.uint32, CHUNK)).size:
                self.shards.add(address[part])


class Shards:
    """Files in a folder, among which references are distributed by the hash of their addresses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.order = open(folder / "order", "wb")  # noqa: SIM115, shard of each reference
        self.files = [open(folder / f"shard{number}", "wb") for number in range(SHARDS)]  # noqa: SIM115
        self.blocks = np.zeros(SHARDS, np.int64)

    def close(self) -> None:
        """Close the files."""
        for file in (self.order, *self.files):
            file.close()

    def add(self, addresses: np.ndarray) -> None:
        """Append references to these addresses."""
        shard = shard_of(addresses)
        shard.tofile(self.order)
        by_shard = addresses[np.argsort(shard, kind="stable")]
        ends = np.cumsum(np.bincount(shard, minlength=SHARDS))
        for file, part in zip(self.files, np.split(by_shard, ends[:-1]), strict=True):
            part.tofile(file)

    def finish(self) -> int:
        """Number the blocks of each shard, then those of all shards; return the number of distinct blocks."""
        self.close()
        self.blocks[:] = map_in_threads(self._number, range(SHARDS), AT_A_TIME)
        if self.blocks.sum() > MOST_BLOCKS:
            raise OverflowError(f"more than {MOST_BLOCKS} distinct blocks")
        self._merge()
        return int(self.blocks.sum())

    def _number(self, number: int) -> int:
        """Write a shard's blocks in order of first use, and its references as places in this list; count the blocks."""
        interner, path = Interner(), self.folder / f"shard{number}"
        with open(path, "rb") as addresses, open(self.folder / f"ids{number}", "wb") as ids:
            while (part := np.fromfile(addresses, np.uint64, CHUNK)).size:
                interner.ids(part).tofile(ids)
        interner.addresses_by_id().tofile(path.with_suffix(".address"))
        path.unlink()
        return len(interner)

    def _merge(self) -> None:
        """Follow all references in order, and number a block at its first reference."""
        begins = np.cumsum(self.blocks) - self.blocks
        number, seen, total = np.empty(int(self.blocks.sum()), np.uint32), np.zeros(SHARDS, np.int64), 0
        ids = [open(self.folder / f"ids{number}", "rb") for number in range(SHARDS)]  # noqa: SIM115
        addresses = [open(self.folder / f"shard{number}.address", "rb") for number in range(SHARDS)]  # noqa: SIM115
        with (
            open(self.folder / "order", "rb") as order,
            open(self.folder / "ids", "wb") as out,
            open(self.folder / "address", "wb") as address,
        ):
            while (shard := np.fromfile(order, np.uint8, CHUNK)).size:
                place, counts = np.argsort(shard, kind="stable"), np.bincount(shard, minlength=SHARDS)
                own = [np.fromfile(file, np.uint32, n) for file, n in zip(ids, counts, strict=True)]
                new = np.concatenate([new_blocks(part, known) for part, known in zip(own, seen.tolist(), strict=True)])
                fresh = np.array([int(flags.sum()) for flags in np.split(new, np.cumsum(counts)[:-1])])
                came = np.concatenate([np.fromfile(f, np.uint64, n) for f, n in zip(addresses, fresh, strict=True)])
                key = np.concatenate([part + begin for part, begin in zip(own, begins, strict=True)])
                at = np.argsort(place[new], kind="stable")  # blocks first referenced here, in order of reference
                number[key[new][at]] = total + np.arange(at.size, dtype=np.uint64)
                came[at].tofile(address)
                result = np.empty(shard.size, np.uint32)
                result[place] = number[key]
                result.tofile(out)
                seen, total = seen + fresh, total + at.size
        for file in (*ids, *addresses):
            file.close()
            Path(file.name).unlink()
        (self.folder / "order").unlink()


def shard_of(addresses: np.ndarray) -> np.ndarray:
    """Return the shard of each address, uint8: the highest 7 bits of its hash.

    Examples
    --------
    >>> shard_of(np.arange(4, dtype=np.uint64)).tolist()
    [0, 79, 30, 109]
    """
    x = addresses ^ (addresses >> np.uint64(32))
    shards: np.ndarray = ((x * np.uint64(GOLDEN)) >> np.uint64(57)).astype(np.uint8)
    return shards
