"""Place files on the client's disk: an ext2 file system, freshly filled.

Disk space is divided into groups. A group has as many blocks as a block has bits: an inode table and data
blocks. Each directory gets a group, so that its files and their inodes are near each other. Ext2 spreads directories
over the groups with room; here a seeded generator draws the order of the groups once. Within a directory files are
contiguous, in the order of their names or in a given order (as unpacked or installed); files that a build makes follow
them. Files larger than a group's data take whole groups of their own. A file for which no group, or no row of
whole groups, has room takes the free ends of groups, starting with its directory's group. The names of a directory take
one block, however many there are, and inodes beyond a group's table share the table's last block.

Source: fs/ext2/ialloc.c and balloc.c of Linux 2.2; the sizes are mke2fs's (128 bytes per inode, one inode per 4 KB).
"""

import numpy as np

from misspenalty.errors import ParameterError

SECTOR = 512
PAGE_SECTORS = 8
INODE_BYTES = 128
ROOT = ()  # the root; a path is the tuple of the names below it
TREE = ("usr", "src", "work")  # where relative paths begin


def names_of(path):
    """Return the components of a path, from the root.

    Examples
    --------
    >>> names_of("/bin//sh"), names_of("a.c")
    (('bin', 'sh'), ('usr', 'src', 'work', 'a.c'))
    """
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    return names if path.startswith("/") else TREE + names


class Disk:
    """The groups of a disk and the free space in each, in sectors."""

    def __init__(self, sectors, block_bytes, generator):
        self.block = block_bytes // SECTOR
        self.size = 8 * block_bytes * self.block
        self.number = sectors // self.size
        self.table = 8 * block_bytes * block_bytes // 4096 * INODE_BYTES // SECTOR  # sectors, with one inode per 4 KB
        self.begin = self.table + 4 * self.block
        if self.number < 2:
            raise ParameterError(
                f"a disk of {sectors} sectors is too small for two groups of {self.size}; use a larger drive"
            )
        self.order = generator.permutation(self.number)
        self.next = np.full(self.number, self.begin)
        self.inodes = np.zeros(self.number, int)
        self.directories = 0
        self.whole = np.zeros(self.number, bool)  # groups that a large file covers, with their inode tables

    def new_group(self):
        """Choose the group of a new directory: the next that no large file covers."""
        for _ in range(self.number):
            group = int(self.order[self.directories % self.number])
            self.directories += 1
            if not self.whole[group]:
                return group
        raise ParameterError("large files cover every group of the disk; use a larger drive")

    def allocate(self, group, sectors):
        """Allocate space for a file or directory and return its stretches as (first sector, sectors): one in the group
        or else in the next group with room, or several if no group has room."""
        sectors = -(-sectors // self.block) * self.block
        room = self.size - self.begin
        whole = -(-(sectors - room) // self.size) if sectors > room else 0  # further groups that the file spans
        for step in range(self.number):
            at = (group + step) % self.number
            if whole == 0 and self.next[at] + sectors <= self.size:
                self.next[at] += sectors
                return [(int(at * self.size + self.next[at] - sectors), sectors)]
            run = slice(at, at + whole + 1)
            if whole and at + whole < self.number and (self.next[run] == self.begin).all():
                self.next[run] = self.size
                self.whole[run] = True
                return [(int(at * self.size + self.begin), sectors)]
        return self.spread(group, sectors)

    def spread(self, group, sectors):
        """Allocate and return stretches in the free ends of the groups; all except the last consist of whole pages."""
        free = (self.size - self.next) // PAGE_SECTORS * PAGE_SECTORS
        if free.sum() < sectors:
            raise ParameterError(f"the disk has no room for {sectors} more sectors; use a larger drive")
        stretches = []
        for at in np.roll(np.arange(self.number), -group).tolist():
            part = min(int(free[at]), sectors)
            if part:
                stretches.append((int(at * self.size + self.next[at]), part))
                self.next[at] += part
                sectors -= part
        return stretches

    def inode(self, group):
        """Allocate a new inode and return the sector of the block of the inode table that holds it."""
        number = int(self.inodes[group])
        self.inodes[group] += 1
        return (
            group * self.size
            + 4 * self.block
            + min(number * INODE_BYTES // SECTOR, self.table - 1) // self.block * self.block
        )


def place(paths, sizes, made, rank, sectors, block_bytes, generator):
    """Place files and their metadata.

    Parameters
    ----------
    paths : sequence of str
        Absolute, or relative to the source tree.
    sizes : sequence of int
        Largest size of each file, bytes.
    made : sequence of bool
        Whether a file is made in the runs, and so is placed after those that existed before.
    rank : sequence of int
        Order in which the files that existed before are placed; files of equal rank are in the order of their names.
    sectors : int
        Sectors of the disk.
    block_bytes : int
        Block size of the file system.
    generator : numpy.random.Generator
        Draws the order of the groups.

    Returns
    -------
    stretches : list of list of (int, int)
        For each file, first sector and number of sectors of its contiguous stretches, in order; most files have one.
    blocks : int64 array
        Sector of each block of metadata.
    walks : list of list of int
        For each file, the blocks of metadata on its path from the root down, as indices into `blocks`; its own inode
        last.

    Raises
    ------
    ParameterError
        The disk is too small.
    """
    disk = Disk(sectors, block_bytes, generator)
    blocks, groups, ways = {}, {ROOT: disk.new_group()}, {}
    ways[ROOT] = [blocks.setdefault(disk.allocate(groups[ROOT], disk.block)[0][0], 0)]

    def way_to(directory):
        """Return the blocks that are read to look up a name in a directory."""
        if directory not in ways:
            above = way_to(directory[:-1])
            groups[directory] = disk.new_group()
            inode = blocks.setdefault(disk.inode(groups[directory]), len(blocks))
            names = blocks.setdefault(disk.allocate(groups[directory], disk.block)[0][0], len(blocks))
            ways[directory] = [*above, inode, names]
        return ways[directory]

    full = [names_of(path) for path in paths]
    stretches, walks = [None] * len(full), [None] * len(full)
    for i in sorted(range(len(full)), key=lambda i: (bool(made[i]), 0 if made[i] else rank[i], full[i])):
        way = way_to(full[i][:-1])
        group = groups[full[i][:-1]]
        walks[i] = [*way, blocks.setdefault(disk.inode(group), len(blocks))]
        stretches[i] = disk.allocate(group, max(-(-int(sizes[i]) // SECTOR), 1))
    return stretches, np.array(list(blocks), np.int64), walks
