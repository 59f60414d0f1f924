"""Simulate a UNIX file system as the virtual-log paper uses it: 4 KB blocks, 1 KB fragments, synchronous metadata.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, OSDI 1999, sections 4 and 5. The layout is that of the fast file
system (M. K. McKusick et al., A fast file system for UNIX, ACM TOCS 2(3), 1984): cylinder groups, each with a copy of
the superblock, a map block, inode blocks and data. A file's inode is in its directory's group, and its data is
contiguous; after its direct blocks and after each indirect block's worth of data, the file continues in the next group.

Blocks are written and read at these times:

* Create: the inode's block and the directory's block, synchronously, in this order; if the directory grows, its own
  inode is written, too. The files' fragments are written in the background at the end of the phase, one request per
  file, since requests are clustered only within a file.
* Delete: the directory's block and the inode's block, synchronously.
* Sequential writing: clusters of 56 KB, in the background. Sequential reading: the next cluster is read while the
  current one is copied. Random writing: 4 KB, synchronously; writing a block that already exists changes neither the
  inode nor an indirect block (see `misspenalty_studies.vlog.runs` for a variant that writes the inode's time stamp).

The paper names the file system but not these rules; clusters and group size are those of Solaris at the time.
"""

from misspenalty.errors import ParameterError
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK, BLOCK_SECTORS, DiskClient, permutation

FRAGMENT = 1024
FRAGMENT_SECTORS = 2
INODES_A_BLOCK = 32
INODE_SPACE = 2048  # bytes of a cylinder group per inode
ENTRY = 20  # bytes of a directory entry with a short name
DIRECT = 12
POINTERS_A_BLOCK = BLOCK // 4
CLUSTER = 14  # blocks, 56 KB
GROUP = 2048  # blocks of a cylinder group, 8 MB
GROUP_INODES = GROUP * BLOCK // INODE_SPACE


class UfsLayout:
    """Free 4 KB blocks of a disk, and the place where the search for the next one starts.

    Parameters
    ----------
    blocks : int
        4 KB blocks of the disk.
    """

    def __init__(self, blocks):
        self.blocks = blocks
        first_data = 2 + GROUP_INODES // INODES_A_BLOCK
        if blocks < first_data + 2:
            raise ParameterError(f"{blocks} blocks are too few for a file system; expected at least {first_data + 2}")
        self.used = bytearray(blocks)
        for group in range(0, blocks, GROUP):
            self.used[group : group + first_data] = bytes([1]) * (min(group + first_data, blocks) - group)
        self.rotor = 0  # where the search for the next free block starts

    def allocate(self, count):
        """Allocate and return the next free blocks; the search wraps around at the end of the disk."""
        free = self.used.count(0)
        if free < count:
            raise ParameterError(f"{count} blocks requested; {free} of the disk's {self.blocks} are free")
        taken = []
        while len(taken) < count:
            self.rotor = self.used.find(0, self.rotor)
            if self.rotor >= 0:
                self.used[self.rotor] = 1
                taken.append(self.rotor)
            self.rotor = max(self.rotor, 0)
        return taken

    def next_group(self):
        """Continue the search in the next cylinder group, or in the first one after the last."""
        begin = (self.rotor // GROUP + 1) * GROUP
        self.rotor = begin if begin < self.blocks else 0

    def file(self, count):
        """Place a new file: return its blocks in order, and its indirect blocks by the index of the first block that
        each leads to."""
        blocks, indirect = [], {}
        while len(blocks) < count:
            worth = DIRECT if not blocks else POINTERS_A_BLOCK
            if blocks:
                self.next_group()
                indirect[len(blocks)] = self.allocate(1)[0]
            blocks += self.allocate(min(worth, count - len(blocks)))
        return blocks, indirect


class Ufs(DiskClient):
    """The file system on a disk of the given number of blocks, empty.

    Parameters
    ----------
    store, host
        Same as in `DiskClient`.
    blocks : int
        4 KB blocks of the disk.
    """

    def __init__(self, store, host, blocks):
        super().__init__(store, host)
        self.layout = UfsLayout(blocks)
        self.cached = set()  # inode and directory blocks in memory

    def block(self, number, write=True):
        """Write a metadata block synchronously, or read one."""
        self.sync(write, number * BLOCK_SECTORS, BLOCK_SECTORS)
        self.cached.add(number)

    def inode(self, number):
        """Return the block that contains an inode."""
        return 2 + number // INODES_A_BLOCK

    def small_files(self, count):
        """Create, read after emptying memory, and delete files of one fragment; return the ns of each phase.

        Raises
        ------
        ParameterError
            The cylinder group of the directory has too few inodes, or the disk too few blocks.
        """
        if count >= GROUP_INODES:
            raise ParameterError(
                f"{count} files; expected at most {GROUP_INODES - 1}, the inodes of the directory's group"
            )
        directory = self.layout.allocate(-(-count * ENTRY // BLOCK))
        data = self.layout.allocate(-(-count * FRAGMENT // BLOCK))
        where = [data[i // 4] * BLOCK_SECTORS + i % 4 * FRAGMENT_SECTORS for i in range(count)]
        entry = [directory[i * ENTRY // BLOCK] for i in range(count)]
        return {
            "create": self.timed(lambda: self.create(where, entry)),
            "read": self.timed(lambda: self.read(where, entry)),
            "delete": self.timed(lambda: self.delete(entry)),
        }

    def timed(self, work):
        """Call `work` and return the time until the disk has finished."""
        begin = self.now
        work()
        self.wait()
        return self.now - begin

    def create(self, where, entry):
        """Create files with one fragment each."""
        grown = None
        for number, block in enumerate(entry):
            self.call(FRAGMENT)
            self.block(self.inode(number + 1))
            self.block(block)
            if block != grown:
                self.block(self.inode(0))
                grown = block
        for sector in where:
            self.behind(True, sector, FRAGMENT_SECTORS)

    def read(self, where, entry):
        """Read the files in order of creation, starting with nothing in memory."""
        self.cached.clear()
        for number, sector in enumerate(where):
            self.call(FRAGMENT)
            for needed in (entry[number], self.inode(number + 1)):
                if needed not in self.cached:
                    self.block(needed, write=False)
            self.sync(False, sector, FRAGMENT_SECTORS)

    def delete(self, entry):
        """Delete the files in order of creation."""
        for number, block in enumerate(entry):
            self.call()
            self.block(block)
            self.block(self.inode(number + 1))

    def large_file(self, size, seed):
        """Write and read a file in order and at random; return the ns of each phase."""
        blocks, indirect = self.layout.file(size // BLOCK)
        order = [blocks[i] for i in permutation(len(blocks), seed)]
        again = [blocks[i] for i in permutation(len(blocks), seed + 1)]
        return {
            "sequential_write": self.timed(lambda: self.write_on(blocks, indirect)),
            "sequential_read": self.timed(lambda: self.read_on(blocks, indirect)),
            "random_write": self.timed(lambda: self.each(True, order)),
            "sequential_read_again": self.timed(lambda: self.read_on(blocks, indirect)),
            "random_read": self.timed(lambda: self.each(False, again)),
        }

    def runs(self, blocks):
        """Yield (index of the first block in the file, blocks) of each cluster: up to 56 KB, contiguous on the disk."""
        begin = 0
        for i in range(1, len(blocks) + 1):
            if i == len(blocks) or i - begin == CLUSTER or blocks[i] != blocks[i - 1] + 1:
                yield begin, blocks[begin:i]
                begin = i

    def write_on(self, blocks, indirect):
        """Write in order: clusters in the background, then the metadata."""
        for _, run in self.runs(blocks):
            for _ in run:
                self.call(BLOCK)
            self.behind(True, run[0] * BLOCK_SECTORS, len(run) * BLOCK_SECTORS)
        for number in [*indirect.values(), self.inode(1)]:
            self.behind(True, number * BLOCK_SECTORS, BLOCK_SECTORS)

    def read_on(self, blocks, indirect):
        """Read in order: the next cluster is read while the current one is copied."""
        done = None
        for begin, run in self.runs(blocks):
            for at, number in indirect.items():
                if begin <= at < begin + len(run):
                    self.sync(False, number * BLOCK_SECTORS, BLOCK_SECTORS)
            arrives = self.behind(False, run[0] * BLOCK_SECTORS, len(run) * BLOCK_SECTORS)
            if done is not None:
                self.consume(*done)
            done = arrives, run
        self.consume(*done)

    def consume(self, arrives, run):
        """Wait for a cluster and copy it."""
        self.wait(arrives)
        for _ in run:
            self.call(BLOCK)

    def each(self, write, blocks):
        """Write or read block by block, synchronously."""
        for block in blocks:
            self.call(BLOCK)
            self.sync(write, block * BLOCK_SECTORS, BLOCK_SECTORS)
