"""Implement the kernel of the file client, which replays recorded calls one after another; client.py has the model."""

from contextlib import nullcontext

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from misspenalty._kernel cimport check_signals
from misspenalty.prefetch.predictors._predictor cimport Predictor
from misspenalty_studies.epcm.file_client._block_layer cimport AHEAD, AT_WRITEBACK, NOTHING
from misspenalty.engine._engine cimport schedule
from misspenalty_studies.epcm.file_client._file_calls cimport (
    BYTES, COMPONENTS, COMPUTE, COPIES_IN_FAULTS, CREATE, EXEC, FAULT, GAPS, INTERPRETER, OPEN, READ, RENAME, SEARCH, SHIFT,
    TRUNCATE, UNLINK, WAIT_EXEC, WAIT_OPEN, WRITE, call_record_t,
)
from misspenalty_studies.epcm.file_client._page_cache cimport inode_t
from misspenalty_studies.epcm.file_client._prefetch_engine cimport PrefetchEngine
from misspenalty_studies.epcm.file_client._read_ahead cimport ahead_t

CALL = np.dtype([("gap", "i8"), ("offset", "i8"), ("length", "i8"), ("asked", "i8"),
                 ("path", "i4"), ("file", "i4"), ("kind", "i4"), ("unused", "i4")])  # fmt: skip


cdef class FileClient(PrefetchEngine):
    """One processor that replays the calls of serial programs on files; see `misspenalty_studies.epcm.file_client.client`."""

    cdef int64_t ended              # time at which the run ended, ns

    def run(self, const uint8_t[::1] calls, const int64_t[::1] sizes, const int32_t[::1] known, double scale,
            int64_t start, Predictor predictor, int64_t[::1] latency, uint8_t[::1] outcome, int32_t[::1] copies):
        """Replay calls; no operation of an earlier run may still be in progress.

        Parameters
        ----------
        calls : uint8, records of `CALL`
            Calls that the caller has checked: paths and files are in range, and nothing is negative except `NOTHING`.
        sizes : int64, shape (paths,)
            Size of each file at the start, bytes; -1 = does not exist.
        known : int32, shape (files,)
            For each of the predictor's files: the path under which it was last seen before the run; -1 = never.
        scale : double
            Factor on the recorded compute; the product is rounded to whole ns for each call.
        start : int64
            Time of the start, ns.
        predictor : Predictor or None
        latency, outcome, copies : int64, uint8, int32, shape (read calls,)
            Filled in: time of each read call in ns, its class, and the number of blocks that it copied.
        """
        cdef Py_ssize_t i, n = calls.shape[0] // <Py_ssize_t>sizeof(call_record_t), reads = 0
        cdef const call_record_t* records = <const call_record_t*>&calls[0] if n else NULL
        for i in range(n):
            reads += records[i].kind == READ
        if reads > min(latency.shape[0], outcome.shape[0], copies.shape[0]):
            raise IndexError(f"latency, outcome or copies is shorter than the number of read calls; expected at least {reads}")
        if sizes.shape[0] < self.paths:
            raise IndexError(f"sizes has length {sizes.shape[0]}; expected at least {self.paths}, the number of paths")
        if known.shape[0] < self.files:
            raise IndexError(f"known has length {known.shape[0]}; expected at least {self.files}, the number of files")
        if predictor is not None and predictor.files > self.files:
            raise IndexError("the predictor has more files than the client")
        memset(self.spent, 0, sizeof(self.spent))
        self.predictor = predictor
        self.copied = self.copied_ahead = self.copied_in_faults = self.files_ahead = self.pages_ahead = 0
        self.foretold = self.foretold_time = self.event = self.right = self.right_time = 0
        self.pages_used = self.leads = self.lead_time = self.reads = self.writes = self.evictions = 0
        self.read_sectors = self.write_sectors = 0
        for i in range(self.paths):
            self.inodes[self.inode_of[i]].size = sizes[i]
            self.inodes[self.inode_of[i]].awaited, self.inodes[self.inode_of[i]].ahead = False, NOTHING
            self.inodes[self.inode_of[i]].stored = <int32_t>((sizes[i] + BYTES - 1) >> SHIFT)
        for i in range(self.number):
            self.entries[i].flags &= ~AHEAD
        for i in range(self.files):
            if not NOTHING <= known[i] < self.paths:
                raise IndexError(f"file {i} has path {known[i]}; expected -1 to {self.paths - 1}")
            self.path_of[i] = known[i]
        memset(self.aheads, 0, self.paths * sizeof(ahead_t))
        self.latest = start
        schedule(&self.events, start + self.interval, AT_WRITEBACK, 0)
        with self, nullcontext() if predictor is None else predictor, nogil:
            self.replay(records, n, scale, start, &latency[0] if reads else NULL, &outcome[0] if reads else NULL,
                        &copies[0] if reads else NULL)
            self.settle(self.ended)

    @property
    def wrong(self):
        """Number of files that the engine prefetched but that were not opened or executed in the rest of the run."""
        return sum(self.inodes[i].awaited for i in range(self.paths))

    @property
    def components(self):
        """Components that add up to the elapsed time, ns: int64, shape (11,)."""
        return np.array([self.spent[i] for i in range(COMPONENTS)])

    cdef int replay(self, const call_record_t* call, Py_ssize_t n, double scale, int64_t now, int64_t* latency,
                    uint8_t* outcome, int32_t* copies) except -1 nogil:
        cdef Py_ssize_t i, reads = 0
        cdef int64_t began, blocks, gap
        for i in range(n):
            if i % 1024 == 1023:
                check_signals()
            gap = <int64_t>rint(<double>call.gap * scale)
            now += gap
            self.spent[GAPS] += gap
            self.advance(now)
            if call.file != NOTHING:
                self.meet(call, now)
            if call.kind == READ:
                began, blocks = now, self.copied
                now = self.read(call, now, &outcome[reads])
                latency[reads], copies[reads] = now - began, <int32_t>(self.copied - blocks)
                reads += 1
            elif call.kind != COMPUTE:
                now = self.perform(call, now)
            if call.file != NOTHING:
                self.path_of[call.file] = call.path
                if self.predictor is not None:
                    now = self.look_ahead(call.file, now)
            call += 1
        self.ended = now
        return 0

    cdef inline void meet(self, const call_record_t* call, int64_t now) noexcept nogil:
        """Process an event: check it against the latest prediction, and mark its file as no longer awaited."""
        if call.path != NOTHING:
            self.inodes[self.inode_of[call.path]].awaited = False
        if self.event and self.predictor.number and self.predictor.predicted[0] == call.file:
            self.right += 1
            self.right_time += now - self.predicted_at

    cdef int64_t perform(self, const call_record_t* call, int64_t now) except -1 nogil:
        """Perform a call other than a read; return the time at which it ends."""
        cdef inode_t* inode = &self.inodes[self.inode_of[call.path]]
        if call.kind == FAULT:
            return self.fault(inode, call.offset >> SHIFT, (call.offset + call.length + BYTES - 1) >> SHIFT, now)
        if call.kind == WRITE:
            return self.write(inode, call.offset, call.length, now) if call.length else now
        now = self.walk(call.path, call.kind != SEARCH and call.kind != CREATE, now,
                        WAIT_EXEC if call.kind == EXEC or call.kind == INTERPRETER else WAIT_OPEN)
        if call.kind == CREATE:
            now = self.new_inode(call.path, now)
            now = self.cut(inode, 0, now)
            inode.size = 0
            memset(&self.aheads[call.path], 0, sizeof(ahead_t))
        elif call.kind == OPEN:
            self.note_size(inode, call.length)
            memset(&self.aheads[call.path], 0, sizeof(ahead_t))
        elif call.kind == EXEC or call.kind == INTERPRETER:
            self.note_size(inode, call.length)
            if inode.pages and call.length:
                now = self.need(inode, 0, 1, now, COPIES_IN_FAULTS, WAIT_EXEC)
        elif call.kind == TRUNCATE:
            now = self.cut(inode, (call.offset + BYTES - 1) >> SHIFT, now)
            inode.size = call.offset
        elif call.kind == UNLINK:
            now = self.cut(inode, 0, now)
            inode.size = NOTHING
        elif call.kind == RENAME:
            now = self.rename(call.path, <int32_t>call.asked, now)
        return now
