"""Simulate a log-structured logical disk and a file system on it, like the virtual-log paper's LFS.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, OSDI 1999, sections 4 and 5: the log-structured logical disk of
W. de Jonge, M. F. Kaashoek, W. C. Hsieh (The logical disk, SOSP 1993) under a Minix file system, 4 KB blocks, segments
of 0.5 MB, a buffer of 6.1 MB, partial segments written at 75 %, no read-ahead.

A written block stays in the buffer, which survives power failures. When the buffer is full, its oldest blocks are
written as one segment: a summary block, then data. `flush_all` writes the contents of the buffer. If the last segment
is not filled to the threshold, its blocks (other than the cleaner's) also stay in the buffer, and are later written
again, to another place. When few segments are free, the cleaner reads the segment with the fewest live blocks (greedy,
as in the log-structured file system's first simulations); these blocks are carried in memory and written before those
of the buffer.
"""

from collections import OrderedDict

from misspenalty.errors import ParameterError
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK, BLOCK_SECTORS, DiskClient, permutation

SEGMENT = 128  # blocks, 0.5 MB, including the summary
DATA = SEGMENT - 1
BUFFER = 6_100_000 // BLOCK
THRESHOLD = 0.75
RESERVE = 2  # segments kept free for the cleaner
FILE_INODES = 64  # inodes per block, 64 bytes each as in Minix
ENTRY = 16  # bytes of a directory entry


def blocks_of_files(count):
    """Return the number of blocks that `count` small files, their inodes and their directory occupy."""
    return count + -(-count // FILE_INODES) + -(-count * ENTRY // BLOCK)


class Lfs(DiskClient):
    """The logical disk, empty, with a buffer of `BUFFER` blocks.

    Attributes
    ----------
    cleaned : int
        Segments cleaned so far.
    """

    def __init__(self, store, host, blocks):
        super().__init__(store, host)
        self.segments = blocks // SEGMENT
        if self.segments <= RESERVE + 1:
            raise ParameterError(f"{blocks} blocks make {self.segments} segments; expected more than {RESERVE + 1}")
        self.room = (self.segments - RESERVE) * DATA  # largest number of logical blocks
        self.buffer, self.carried = OrderedDict(), OrderedDict()
        self.where, self.slots = {}, {}  # block -> (segment, slot); segment -> its live blocks {slot: block}
        self.free = list(range(self.segments - 1, -1, -1))
        self.cleaned = 0
        self.cached = set()

    def lay_out(self, count):
        """Place blocks 0 … count - 1 in segments in order, without taking time."""
        if count > self.room:
            raise ParameterError(f"{count} blocks do not fit; the logical disk has room for {self.room}")
        for first in range(0, count, DATA):
            self.place(self.free.pop(), range(first, min(first + DATA, count)))

    def place(self, segment, blocks):
        """Record that a segment now holds these blocks."""
        self.slots[segment] = {}
        for slot, block in enumerate(blocks, 1):
            self.drop(block)
            self.where[block] = segment, slot
            self.slots[segment][slot] = block

    def drop(self, block):
        """Mark a block's copy on the disk as dead; a segment without live blocks becomes free."""
        segment, slot = self.where.pop(block, (None, None))
        if segment is None:
            return
        del self.slots[segment][slot]
        if not self.slots[segment]:
            del self.slots[segment]
            self.free.insert(0, segment)

    def write(self, block):
        """Write an application's block to the buffer; when the buffer is full, write out a segment."""
        self.call(BLOCK)
        self.keep(block)

    def keep(self, block):
        """Add a block to the buffer; its copy on the disk is then dead."""
        self.drop(block)
        self.carried.pop(block, None)
        if block not in self.buffer:
            while len(self.buffer) >= BUFFER:
                self.flush()
        self.buffer[block] = None
        self.buffer.move_to_end(block)

    def flush(self):
        """Write the cleaner's blocks and the oldest blocks of the buffer as one segment, and wait for it."""
        self.make_room()
        self.append([self.oldest() for _ in range(min(DATA, len(self.carried) + len(self.buffer)))])

    def oldest(self):
        """Remove from memory the block to be logged next, and return it."""
        return (self.carried or self.buffer).popitem(last=False)[0]

    def make_room(self):
        """Clean segments as long as at most `RESERVE` are free and one can be cleaned."""
        while len(self.free) <= RESERVE and self.clean():
            pass

    def append(self, blocks):
        """Write a segment, or its filled part."""
        if not self.free:
            raise ParameterError("the logical disk is full: no segment is free")
        segment = self.free.pop()
        self.sync(True, segment * SEGMENT * BLOCK_SECTORS, (len(blocks) + 1) * BLOCK_SECTORS)
        self.place(segment, blocks)

    def clean(self):
        """Free the segment with the fewest live blocks; return False if every segment is full of live blocks."""
        victim = min(self.slots, key=lambda segment: (len(self.slots[segment]), segment), default=None)
        if victim is None or len(self.slots[victim]) == DATA:
            return False
        self.sync(False, victim * SEGMENT * BLOCK_SECTORS, SEGMENT * BLOCK_SECTORS)
        for _, block in sorted(self.slots[victim].items()):
            self.drop(block)
            if block not in self.buffer:
                self.carried[block] = None
        self.cleaned += 1
        if len(self.carried) >= DATA:
            self.append([self.oldest() for _ in range(DATA)])
        return True

    def flush_all(self):
        """Write whole segments, then the rest; if the rest is below the threshold, the buffer keeps its own blocks."""
        self.make_room()
        while len(self.carried) + len(self.buffer) >= DATA:
            self.flush()
            self.make_room()
        rest = [*self.carried, *self.buffer]
        if rest:
            self.append(rest)
            self.carried.clear()
            if len(rest) >= THRESHOLD * DATA:
                self.buffer.clear()

    def read(self, block):
        """Read an application's block from the buffer or the disk."""
        self.call(BLOCK)
        if block in self.where and block not in self.buffer:
            segment, slot = self.where[block]
            self.sync(False, (segment * SEGMENT + slot) * BLOCK_SECTORS, BLOCK_SECTORS)

    def pause(self, ns):
        """Use idle time: clean one segment at a time, while a segment can be cleaned."""
        until = self.now + ns
        while self.now < until and self.clean():
            pass
        if self.now < until:
            super().pause(until - self.now)

    def timed(self, work):
        """Call `work`, write everything to the disk, and return the time that this takes; the buffer is empty
        afterwards."""
        begin = self.now
        work()
        self.flush_all()
        self.buffer.clear()
        return self.now - begin

    def small_files(self, count):
        """Create, read after emptying memory, and delete files of one block each; return the ns of each phase."""
        inode = [count + i // FILE_INODES for i in range(count)]
        entry = [2 * count + i * ENTRY // BLOCK for i in range(count)]
        return {
            "create": self.timed(lambda: self.create(inode, entry)),
            "read": self.timed(lambda: self.read_files(inode, entry)),
            "delete": self.timed(lambda: self.delete(inode, entry)),
        }

    def create(self, inode, entry):
        """Write data, inode and directory entry, all to the buffer."""
        for number in range(len(inode)):
            self.write(number)
            self.keep(inode[number])
            self.keep(entry[number])

    def read_files(self, inode, entry):
        """Read the files in order of creation, starting with nothing in memory."""
        self.cached.clear()
        for number in range(len(inode)):
            for needed in (entry[number], inode[number]):
                if needed not in self.cached:
                    self.read(needed)
                    self.cached.add(needed)
            self.read(number)

    def delete(self, inode, entry):
        """Change inode and directory in the buffer; free the space of the data."""
        for number in range(len(inode)):
            self.call()
            self.keep(entry[number])
            self.keep(inode[number])
            self.drop(number)

    def large_file(self, size, seed):
        """Write and read a file in order and at random; return the ns of each phase."""
        blocks = range(size // BLOCK)
        return {
            "sequential_write": self.timed(lambda: self.each(self.write, blocks)),
            "sequential_read": self.timed(lambda: self.each(self.read, blocks)),
            "random_write": self.timed(lambda: self.each(self.write, permutation(len(blocks), seed))),
            "sequential_read_again": self.timed(lambda: self.each(self.read, blocks)),
            "random_read": self.timed(lambda: self.each(self.read, permutation(len(blocks), seed + 1))),
        }

    def each(self, work, blocks):
        """Call `work` with every block."""
        for block in blocks:
            work(int(block))
