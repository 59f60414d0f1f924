"""Generate the SPC-1-like workload in slow, readable code: the same requests as the kernel, draw by draw."""

import math

from misspenalty.traces.spc1 import SEQUENTIAL, SIZE_MIX, STREAMS, UNIFORM, WALK

ONE = 1 << 32
MASK = (1 << 64) - 1
KINDS = list(STREAMS.values())
STREAM_OF = [number for number, kind in enumerate(KINDS) for _ in range(kind[1])]
SIZE_OF = [blocks for blocks, parts in SIZE_MIX.items() for _ in range(parts)]
SERIES = [1 / 13, 1 / 11, 1 / 9, 1 / 7, 0.2, 1 / 3, 1.0]


class Tree:
    """The largest complete binary tree of leaves of eight blocks in a region."""

    def __init__(self, first, extent):
        leaves = extent // 8
        self.first, self.levels = first, leaves.bit_length() - 1
        self.blocks = 8 << self.levels
        self.slack = 8 * leaves - self.blocks
        self.pointers = [0] * (self.blocks // 8)


class Stream:
    """The position of one of a BSU's streams."""

    def __init__(self):
        self.block = 0  # next block of a run, or last block of a walk
        self.base = 0  # first block of the walk's tree
        self.end = 0  # block at which the run ends
        self.repeat = None  # block that the walk's next write repeats


class Spc1Reference:
    """Requests of a `Workload`, one at a time."""

    def __init__(self, workload):
        self.state, self.blocks = workload.seed, workload.blocks
        self.climb = int(workload.climb * ONE)
        self.round_writes = workload.round_writes
        self.trees = {
            number: Tree(self.blocks[kind[0]] * kind[4] // 100, self.blocks[kind[0]] * kind[5] // 100)
            for number, kind in enumerate(KINDS)
            if kind[3] == WALK
        }
        self.streams = [[Stream() for _ in KINDS] for _ in range(workload.bsus)]
        for bsu in self.streams:
            for number, tree in self.trees.items():
                bsu[number].base = (tree.first + self.below(tree.slack + 1)) & ~7
                bsu[number].block = bsu[number].base + self.below(tree.blocks)
        self.load(0, workload.bsus, workload.rate)

    def draw(self):
        """Draw 64 bits of SplitMix64."""
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, n):
        """Return a number below `n`."""
        return (self.draw() >> 32) * n >> 32

    def load(self, now, bsus, iops):
        """Set the load from `now` on: the first `bsus` BSUs send `iops` requests per second in total."""
        self.bsus, self.gap = bsus, 1e9 / iops
        self.due = now + self.wait()

    def wait(self):
        """Return an exponential gap in ns."""
        return int(self.gap * exponential(self.draw()) + 0.5)

    def request(self):
        """Return (time, block, blocks, bsu, asu, stream, write) of the request that arrives at `due`."""
        time, bits = self.due, self.draw()
        bsu, number = (bits >> 32) * self.bsus >> 32, STREAM_OF[(bits & ONE - 1) * 1000 >> 32]
        asu, _, reads, pattern, first, extent, run = KINDS[number]
        stream, first, extent = (
            self.streams[bsu][number],
            self.blocks[asu] * first // 100,
            self.blocks[asu] * extent // 100,
        )
        length = 1
        if pattern == SEQUENTIAL:
            write, length = reads == 0, SIZE_OF[self.below(25)]
            block = self.run(stream, length, first, extent, self.blocks[asu] * run // 100)
        else:
            write = self.draw() >> 32 >= reads * ONE // 100
            block = first + self.below(extent) if pattern == UNIFORM else self.walk(stream, self.trees[number], write)
        self.due = time + self.wait()
        return time, block, length, bsu, asu, number, int(write)

    def run(self, stream, length, first, extent, run):
        """Return the block after the last request, or the start of a new run."""
        if stream.block + length >= stream.end:
            start = first + self.below(extent)
            stream.block, stream.end = start // 16 * 16, (start + run) // 16 * 16
        block = stream.block
        stream.block += length
        return block

    def walk(self, stream, tree, write):
        """Take one step of the hierarchical reuse random walk."""
        if write and stream.repeat is not None:
            stream.block, stream.repeat = stream.repeat, None
            return stream.block
        level = 7
        while level < tree.levels and self.draw() >> 32 < self.climb:
            level += 1
        leaf = (stream.block - stream.base) // 8 // 2**level * 2**level + self.below(2**level)
        if write:
            leaf, bits = leaf // 8 * 8 if self.round_writes else leaf, self.draw()
            within = bits >> 1 & 7 if bits & 1 else tree.pointers[leaf]
            stream.block = stream.base + leaf * 8 + within
            if (bits >> 32) * 100 >> 32 < 15:
                stream.repeat = stream.block
        else:
            within = tree.pointers[leaf]
            tree.pointers[leaf] = (within + 1) % 8
            stream.block = stream.base + leaf * 8 + within
        return stream.block


def exponential(bits):
    """Return an exponential deviate of mean 1 by the kernel's series, operation by operation."""
    m = (bits >> 11) + 1
    size = m.bit_length()
    f = m / 2 ** (size - 1)
    if f > math.sqrt(2):
        f, size = f * 0.5, size + 1
    s = (f - 1.0) / (f + 1.0)
    series = 0.0
    for factor in SERIES:
        series = series * (s * s) + factor
    return (54 - size) * math.log(2) - 2.0 * s * series
