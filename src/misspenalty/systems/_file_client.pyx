"""Kernel of the file client: calls, read-ahead, page faults and the prefetch engine. The model is in file_client.py."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from misspenalty.prefetch._predictor cimport Predictor
from misspenalty.systems._block_layer cimport (
    AHEAD, AT_WRITEBACK, BUFFER, BUFFER_USED, COMING, DIRTY, LEAVING, NOTHING, PAGE, PAGE_USED, STORED, BlockLayer, entry_t,
)
from misspenalty.systems._engine cimport schedule

from misspenalty.errors import ParameterError

cdef enum:
    SHIFT = 12                      # a page is 4096 bytes
    BYTES = 4096

cdef enum call_t:                   # kinds of call
    COMPUTE = 0                     # only the gap before it
    EXEC = 1
    INTERPRETER = 2                 # the kernel opens an exec's interpreter
    OPEN = 3
    CREATE = 4                      # an open that makes or empties the file
    READ = 5
    WRITE = 6
    FAULT = 7
    LOOKUP = 8                      # the path is walked and found
    SEARCH = 9                      # the path is walked and not found
    TRUNCATE = 10                   # to `offset` bytes
    UNLINK = 11
    RENAME = 12                     # to `target`
    CALLS = 13

cdef enum:                          # components of the elapsed time
    GAPS = 0                        # compute between the calls
    READ_CALLS = 1                  # processor time of read calls but for buffer copies
    COPIES_IN_READS = 2             # buffer-to-page copies
    COPIES_IN_FAULTS = 3
    COPIES_AHEAD = 4                # by the prefetch engine, inside open and exec
    ENGINE = 5                      # model and engine, but for copies
    WAIT_READ = 6                   # I/O wait
    WAIT_FAULT = 7
    WAIT_OPEN = 8                   # of open, stat and whatever else walks a path
    WAIT_EXEC = 9
    WAIT_OTHER = 10                 # of calls that drop or write data
    COMPONENTS = 11

cdef enum class_t:                  # of a read call
    HIT = 0                         # all its data is in the page or buffer cache
    PARTIAL = 1                     # some is being read already
    MISS = 2                        # some has to be asked for


cdef struct call_record_t:
    int64_t gap                     # compute before it, ns
    int64_t offset                  # bytes
    int64_t length                  # bytes moved; open, exec: size of the file
    int64_t asked                   # bytes asked for; rename: the target's path
    int32_t path                    # NOTHING = none
    int32_t file                    # what the predictor takes it for; NOTHING = not an event to it
    int32_t kind                    # call_t
    int32_t unused                  # keeps the records a whole number of words


cdef struct ahead_t:                # read-ahead of an open file, bytes; the fields of `struct file`
    int64_t end                     # f_raend: behind the last page read ahead
    int64_t length                  # f_ralen: of the last request
    int64_t most                    # f_ramax: of the next request
    int64_t window                  # f_rawin: of the last two requests


cdef struct inode_t:
    int64_t size                    # bytes; NOTHING = does not exist
    int64_t ahead                   # when the engine last began to prefetch it, ns; NOTHING = not since its last use
    int32_t first                   # its first entry
    int32_t pages                   # entries
    int32_t present                 # of them in the page cache or being read into it
    int32_t stored                  # leading ones that are on disk from before


CALL = np.dtype([("gap", "i8"), ("offset", "i8"), ("length", "i8"), ("asked", "i8"),
                 ("path", "i4"), ("file", "i4"), ("kind", "i4"), ("unused", "i4")])  # fmt: skip


cdef class FileClient(BlockLayer):
    """One processor that replays the calls of serial programs on files; see `misspenalty.systems.file_client`."""

    cdef inode_t* inodes            # one a path
    cdef int32_t* inode_of          # by path
    cdef int32_t* owners            # by entry: its inode; blocks of metadata have none
    cdef ahead_t* aheads            # by path
    cdef Py_ssize_t paths
    cdef const int64_t[::1] walk_at # by path: where its blocks of metadata begin in `walks`; one more at the end
    cdef const int32_t[::1] walks   # blocks of metadata, from the root down; a path's own inode last
    cdef int32_t* path_of           # by the predictor's file: the path it was last seen under
    cdef Py_ssize_t files           # of the predictor
    cdef Predictor predictor        # None = no prefetching
    cdef int64_t call_time          # processor time of a read call, ns
    cdef int64_t kilobyte           # to copy 1024 bytes, ns
    cdef int64_t block              # bytes of a block of the file system
    cdef int64_t cluster            # pages brought in by a fault
    cdef int64_t least_ahead        # MIN_READAHEAD, bytes
    cdef int64_t most_ahead         # MAX_READAHEAD, bytes
    cdef int64_t engine_time        # model and engine for each event, ns
    cdef int64_t most_pages         # prefetched of one file
    cdef int64_t[COMPONENTS] spent  # ns
    cdef readonly int64_t copied    # blocks copied from buffers to pages in read calls
    cdef readonly int64_t copied_ahead  # by the engine
    cdef readonly int64_t copied_in_faults
    cdef readonly int64_t files_ahead   # prefetches that had anything to do
    cdef readonly int64_t pages_ahead   # pages brought by the engine
    cdef readonly int64_t pages_used    # of them used
    cdef readonly int64_t leads     # files used after a prefetch
    cdef readonly int64_t lead_time # from the prefetch to the use, in all, ns
    cdef readonly int64_t began     # when the run began, ns
    cdef readonly int64_t ended     # … and ended

    def __init__(self, lba, sectors, metadata, machine, const int64_t[::1] first, const int64_t[::1] pages,
                 const int64_t[::1] walk_at, const int32_t[::1] walks, Py_ssize_t files):
        cdef Py_ssize_t path, entry
        super().__init__(lba, sectors, metadata, machine)
        self.paths, self.files = first.shape[0], files
        self.walk_at, self.walks = walk_at, walks
        self.call_time, self.kilobyte, self.block = machine["call_time"], machine["kilobyte"], machine["block"]
        self.cluster, self.engine_time = machine["cluster"], machine["engine_time"]
        self.least_ahead, self.most_ahead = BYTES * machine["least_ahead"], BYTES * machine["most_ahead"]
        self.most_pages = machine["most_pages"]
        self.inodes = <inode_t*>calloc(self.paths + 1, sizeof(inode_t))
        self.inode_of = <int32_t*>calloc(self.paths + 1, sizeof(int32_t))
        self.aheads = <ahead_t*>calloc(self.paths + 1, sizeof(ahead_t))
        self.path_of = <int32_t*>calloc(files + 1, sizeof(int32_t))
        self.owners = <int32_t*>calloc(self.number + 1, sizeof(int32_t))
        if (self.inodes == NULL or self.inode_of == NULL or self.aheads == NULL or self.path_of == NULL
                or self.owners == NULL):
            raise MemoryError(f"no memory for {self.paths} files")
        for path in range(self.paths):
            if first[path] < 0 or pages[path] < 0 or first[path] + pages[path] > metadata:
                raise ParameterError(f"file {path} has entries {first[path]} to {first[path] + pages[path]} of {metadata}")
            self.inodes[path].first, self.inodes[path].pages = <int32_t>first[path], <int32_t>pages[path]
            for entry in range(first[path], first[path] + pages[path]):
                self.owners[entry] = <int32_t>path
        self.begin_cold()

    def __dealloc__(self):
        free(self.inodes)
        free(self.inode_of)
        free(self.aheads)
        free(self.owners)
        free(self.path_of)

    def begin_cold(self):
        """Empty all caches; every path has its own inode again. What the predictor has learnt stays."""
        cdef Py_ssize_t i
        self.forget()
        for i in range(self.paths):
            self.inode_of[i] = <int32_t>i
            self.inodes[i].present, self.inodes[i].ahead = 0, NOTHING

    def warm(self, const int32_t[::1] resident):
        """Bring files and their metadata into memory, as long as there is room, without taking time."""
        cdef Py_ssize_t i, j
        cdef inode_t* inode
        cdef entry_t* e
        for i in range(resident.shape[0]):
            if not 0 <= resident[i] < self.paths:
                raise IndexError(f"path {resident[i]}; there are {self.paths}")
            inode = &self.inodes[self.inode_of[resident[i]]]
            for j in range(self.walk_at[resident[i]], self.walk_at[resident[i] + 1]):
                e = &self.entries[self.walks[j]]
                if self.spare and not e.flags & BUFFER:
                    self.hold(self.walks[j], True, 0)
                    e.flags |= BUFFER | BUFFER_USED
            for j in range(inode.first, inode.first + inode.pages):
                e = &self.entries[j]
                if self.spare and not e.flags & PAGE:
                    self.hold(<int32_t>j, False, 0)
                    e.flags |= PAGE | PAGE_USED
                    inode.present += 1

    def run(self, const uint8_t[::1] calls, const int64_t[::1] sizes, const int32_t[::1] known, int64_t start,
            Predictor predictor, int64_t[::1] latency, uint8_t[::1] outcome, int32_t[::1] copies):
        """Replay calls; nothing of an earlier run is under way.

        Parameters
        ----------
        calls : uint8, records of `CALL`
            Checked by the caller: paths and files in range, nothing negative but `NOTHING`.
        sizes : int64, shape (paths,)
            Of each file at the start, bytes; -1 = does not exist.
        known : int32, shape (files,)
            By the predictor's file: the path it was seen under last before the run; -1 = never.
        start : int64
            Time of the start, ns.
        predictor : Predictor or None
        latency, outcome, copies : int64, uint8, int32, shape (read calls,)
            Filled in: time of each read call in ns, its class, and the blocks it copied.
        """
        cdef Py_ssize_t i, n = calls.shape[0] // <Py_ssize_t>sizeof(call_record_t), reads = 0
        cdef const call_record_t* records = <const call_record_t*>&calls[0] if n else NULL
        for i in range(n):
            reads += records[i].kind == READ
        if reads > min(latency.shape[0], outcome.shape[0], copies.shape[0]) or sizes.shape[0] < self.paths:
            raise IndexError("room for fewer read calls than there are, or sizes of fewer files")
        if known.shape[0] < self.files:
            raise IndexError("paths of fewer files than the client knows")
        if predictor is not None and predictor.files > self.files:
            raise IndexError("the predictor knows more files than the client")
        memset(self.spent, 0, sizeof(self.spent))
        self.predictor, self.began = predictor, start
        self.copied = self.copied_ahead = self.copied_in_faults = self.files_ahead = self.pages_ahead = 0
        self.pages_used = self.leads = self.lead_time = self.reads = self.writes = self.evictions = 0
        self.read_sectors = self.write_sectors = 0
        for i in range(self.paths):
            self.inodes[self.inode_of[i]].size = sizes[i]
            self.inodes[self.inode_of[i]].stored = <int32_t>((sizes[i] + BYTES - 1) >> SHIFT)
        for i in range(self.files):
            if not NOTHING <= known[i] < self.paths:
                raise IndexError(f"file {i} has path {known[i]}; there are {self.paths}")
            self.path_of[i] = known[i]
        memset(self.aheads, 0, self.paths * sizeof(ahead_t))
        self.latest = start
        schedule(&self.events, start + self.interval, AT_WRITEBACK, 0)
        with nogil:
            self.replay(records, n, start, &latency[0] if reads else NULL, &outcome[0] if reads else NULL,
                        &copies[0] if reads else NULL)
            self.settle(self.ended)

    cdef void gone(self, int32_t entry, bint buffer) noexcept nogil:
        if not buffer:
            self.inodes[self.owners[entry]].present -= 1

    @property
    def components(self):
        """Components of the elapsed time, int64, shape (11,), ns; they add up to ``ended - began``."""
        return np.array([self.spent[i] for i in range(COMPONENTS)])

    cdef int replay(self, const call_record_t* call, Py_ssize_t n, int64_t now, int64_t* latency, uint8_t* outcome,
                    int32_t* copies) except -1 nogil:
        cdef Py_ssize_t i, reads = 0
        cdef int64_t began, blocks
        for i in range(n):
            now += call.gap
            self.spent[GAPS] += call.gap
            self.advance(now)
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

    cdef int64_t perform(self, const call_record_t* call, int64_t now) except -1 nogil:
        """Any call but a read; when it ends."""
        cdef inode_t* inode = &self.inodes[self.inode_of[call.path]]
        if call.kind == FAULT:
            return self.fault(inode, call.offset >> SHIFT, (call.offset + call.length + BYTES - 1) >> SHIFT, now)
        if call.kind == WRITE:
            return self.write(inode, call.offset, call.length, now)
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

    cdef inline void note_size(self, inode_t* inode, int64_t size) noexcept nogil:
        """The size as recorded; what no recorded call has written lies on disk."""
        if size > inode.size:
            inode.stored = <int32_t>((size + BYTES - 1) >> SHIFT)
        inode.size = size

    cdef int64_t new_inode(self, int32_t path, int64_t now) except -1 nogil:
        """A new file's inode is in memory without having been read."""
        cdef int32_t block = self.walks[self.walk_at[path + 1] - 1]
        cdef int64_t began = now
        if not self.entries[block].flags & (BUFFER | COMING):
            now = self.hold(block, True, now)
            self.spent[WAIT_OPEN] += now - began
            self.entries[block].flags |= BUFFER
        return now

    cdef int64_t rename(self, int32_t path, int32_t target, int64_t now) except -1 nogil:
        """The target's data goes; the file is found under its new name."""
        cdef int32_t old = self.inode_of[target]
        if path == target:
            return now
        now = self.cut(&self.inodes[old], 0, now)
        self.inodes[old].size = NOTHING
        self.inode_of[target] = self.inode_of[path]
        self.inode_of[path] = old
        return now

    cdef int64_t walk(self, int32_t path, bint found, int64_t now, int32_t waits) except -1 nogil:
        """Look a path up: directories from the root, then its inode."""
        cdef int64_t i, end = self.walk_at[path + 1], began
        cdef int32_t block
        for i in range(self.walk_at[path], end if found else end - 1):
            block = self.walks[i]
            if not self.entries[block].flags & BUFFER:
                began = now
                if not self.entries[block].flags & COMING:
                    now = self.hold(block, True, now)
                    self.submit(block, False, now)
                now = self.wait(block, now)
                self.spent[waits] += now - began
            self.entries[block].flags |= BUFFER_USED
        return now

    cdef int64_t bring(self, inode_t* inode, int64_t page, int64_t now, int32_t why) except -1 nogil:
        """Bring a page into the page cache, by copying its buffer or by asking the disk (brw_page)."""
        cdef int32_t entry = inode.first + <int32_t>page
        cdef int64_t began = now, size, blocks
        now = self.hold(entry, False, now)
        self.spent[WAIT_OTHER] += now - began
        inode.present += 1
        if self.entries[entry].flags & BUFFER:
            size = min(max(inode.size - (page << SHIFT), 1), BYTES)
            blocks = (size + self.block - 1) // self.block
            self.entries[entry].flags |= PAGE | BUFFER_USED
            size = blocks * self.block * self.kilobyte // 1024
            self.spent[why] += size
            now += size
            if why == COPIES_IN_READS:
                self.copied += blocks
            elif why == COPIES_AHEAD:
                self.copied_ahead += blocks
            else:
                self.copied_in_faults += blocks
        elif page < inode.stored or self.entries[entry].flags & STORED:
            self.submit(entry, False, now)
        else:
            self.entries[entry].flags |= PAGE                   # a hole: nothing to read
        return now

    cdef int64_t settle_page(self, inode_t* inode, int64_t page, int64_t now, int32_t waits) except -1 nogil:
        """Wait for a page that is present or coming, and use it."""
        cdef entry_t* e = &self.entries[inode.first + page]
        cdef int64_t began = now
        if e.flags & COMING:
            now = self.wait(inode.first + <int32_t>page, now)
            self.spent[waits] += now - began
        if e.flags & AHEAD:
            e.flags &= ~AHEAD
            self.pages_used += 1
        e.flags |= PAGE_USED
        return now

    cdef int64_t need(self, inode_t* inode, int64_t page, int64_t cluster, int64_t now, int32_t copies,
                      int32_t waits) except -1 nogil:
        """Have a page in the page cache; if it is not, its whole cluster is asked for."""
        cdef int64_t other = page - page % cluster, end = other + cluster
        self.note_use(inode, now)
        if not self.entries[inode.first + page].flags & (PAGE | COMING):
            end = min(end, min(<int64_t>inode.pages, max((inode.size + BYTES - 1) >> SHIFT, page + 1)))
            while other < end:
                if not self.entries[inode.first + other].flags & (PAGE | COMING):
                    now = self.bring(inode, other, now, copies)
                other += 1
            if not self.entries[inode.first + page].flags & (PAGE | COMING):    # thrown out for its neighbours
                now = self.bring(inode, page, now, copies)
        return self.settle_page(inode, page, now, waits)

    cdef int64_t fault(self, inode_t* inode, int64_t page, int64_t end, int64_t now) except -1 nogil:
        """Touch mapped pages one after the other (filemap_nopage)."""
        end = min(end, <int64_t>inode.pages)
        while page < end:
            now = self.need(inode, page, self.cluster, now, COPIES_IN_FAULTS, WAIT_FAULT)
            page += 1
        return now

    cdef int64_t read(self, const call_record_t* call, int64_t now, uint8_t* outcome) except -1 nogil:
        """A read call (do_generic_file_read); when it ends."""
        cdef inode_t* inode = &self.inodes[self.inode_of[call.path]]
        cdef ahead_t* ahead = &self.aheads[call.path]
        cdef int64_t at = call.offset, start = at - at % BYTES, needed, part, page
        cdef int64_t end = min(call.offset + call.length, <int64_t>inode.pages << SHIFT)
        cdef entry_t* e
        cdef bint in_window = not (start > ahead.end or start + ahead.window < ahead.end)
        inode.size = max(inode.size, call.offset + call.length)
        outcome[0] = HIT
        now += self.call_time
        self.spent[READ_CALLS] += self.call_time
        if not in_window:
            ahead.end = ahead.length = ahead.most = ahead.window = 0
        if at + call.asked <= BYTES // 2:
            ahead.most = 0
        else:
            needed = (at + call.asked) - (at + call.asked) % BYTES - start
            ahead.most = max(ahead.most, needed)
            if in_window:
                ahead.most = max(ahead.most, self.least_ahead)
            ahead.most = min(ahead.most, self.most_ahead)
        if at < end:
            self.note_use(inode, now)
        while at < end:
            page = at >> SHIFT
            e = &self.entries[inode.first + page]
            if not e.flags & (PAGE | COMING):
                outcome[0] = max(outcome[0], <uint8_t>(
                    MISS if not e.flags & BUFFER and (page < inode.stored or e.flags & STORED) else HIT
                ))
                if in_window:
                    ahead.most = min(ahead.most, self.least_ahead)
                now = self.bring(inode, page, now, COPIES_IN_READS)
            elif e.flags & COMING:
                outcome[0] = max(outcome[0], <uint8_t>PARTIAL)
            now = self.read_ahead(inode, ahead, page << SHIFT, (e.flags & COMING) != 0, in_window, now)
            if not e.flags & (PAGE | COMING):                                   # thrown out by its read-ahead
                now = self.bring(inode, page, now, COPIES_IN_READS)
            now = self.settle_page(inode, page, now, WAIT_READ)
            part = min(end - at, BYTES - at % BYTES)
            self.spent[READ_CALLS] += part * self.kilobyte // 1024
            now += part * self.kilobyte // 1024
            at += part
        return now

    cdef int64_t read_ahead(self, inode_t* inode, ahead_t* ahead, int64_t at, bint locked, bint in_window,
                            int64_t now) except -1 nogil:
        """Ask for pages behind the one at `at` (generic_file_readahead)."""
        cdef int64_t end = ahead.end - ahead.end % BYTES, most = 0, asked = 0, page
        cdef bint unplugs = False
        if locked:
            if not ahead.length or at >= end or at + ahead.length < end:
                end = at
                if end < inode.size:
                    most = ahead.most
                ahead.window = 0
                ahead.length = BYTES
                if not most:
                    ahead.end = at + ahead.length
                    ahead.window += ahead.length
        elif in_window and ahead.most and end >= BYTES and at <= end and at + ahead.length >= end:
            end -= BYTES
            if end < inode.size:
                most = ahead.most + BYTES
            if most:
                ahead.window = ahead.length
                ahead.length = 0
                unplugs = True
        while asked < most:
            asked += BYTES
            page = (end + asked) >> SHIFT
            if (end + asked < inode.size and page < inode.pages
                    and not self.entries[inode.first + page].flags & (PAGE | COMING)):
                now = self.bring(inode, page, now, COPIES_IN_READS)
        if asked:
            if unplugs:
                self.unplug(now)
            ahead.length += asked
            ahead.window += ahead.length
            ahead.end = end + asked + BYTES
            ahead.most = min(2 * ahead.most, self.most_ahead)
        return now

    cdef int64_t write(self, inode_t* inode, int64_t at, int64_t length, int64_t now) except -1 nogil:
        """Written data goes into the buffer cache, and to a page only if the page cache has it already."""
        cdef int64_t end = min(at + length, <int64_t>inode.pages << SHIFT), page = at >> SHIFT, began = now
        cdef int32_t entry, kind = BUFFER if self.separate else PAGE
        inode.size = max(inode.size, at + length)
        while page << SHIFT < end:
            entry = inode.first + <int32_t>page
            if not self.separate:
                now = self.wait_read(entry, now)
            if not self.entries[entry].flags & kind:
                now = self.hold(entry, self.separate, now)
                self.entries[entry].flags |= kind
                if not self.separate:
                    inode.present += 1
            self.entries[entry].flags |= STORED | (BUFFER_USED if self.separate else PAGE_USED)
            self.soil(entry, now)
            page += 1
        self.spent[WAIT_OTHER] += now - began
        return now

    cdef inline int64_t wait_read(self, int32_t entry, int64_t now) except -1 nogil:
        return self.wait(entry, now) if self.entries[entry].flags & COMING else now

    cdef int64_t cut(self, inode_t* inode, int64_t page, int64_t now) except -1 nogil:
        """Drop the data from a page on; what is under way has to end first."""
        cdef int64_t began = now
        cdef int32_t entry
        inode.ahead = NOTHING
        inode.stored = min(inode.stored, <int32_t>min(page, <int64_t>inode.pages))
        while page < inode.pages:
            entry = inode.first + <int32_t>page
            if self.entries[entry].flags:
                now = self.wait(entry, now)
                self.clean(entry)
                if self.entries[entry].page_frame != NOTHING:
                    self.release(entry, False)
                    inode.present -= 1
                if self.entries[entry].buffer_frame != NOTHING:
                    self.release(entry, True)
                self.entries[entry].flags &= ~STORED
            page += 1
        self.spent[WAIT_OTHER] += now - began
        return now

    cdef inline void note_use(self, inode_t* inode, int64_t now) noexcept nogil:
        """The lead of a prefetch ends at the first use of the file."""
        if inode.ahead != NOTHING:
            self.leads += 1
            self.lead_time += now - inode.ahead
            inode.ahead = NOTHING

    cdef int64_t look_ahead(self, int32_t file, int64_t now) except -1 nogil:
        """The model takes the event in; the engine asks for the files it predicts, without waiting."""
        cdef Py_ssize_t i
        cdef int32_t path
        now += self.engine_time
        self.spent[ENGINE] += self.engine_time
        self.predictor.access(file)
        for i in range(self.predictor.number):
            path = self.path_of[self.predictor.predicted[i]]
            if path != NOTHING:
                now = self.prefetch(path, now)
        self.unplug(now)
        return now

    cdef int64_t prefetch(self, int32_t path, int64_t now) except -1 nogil:
        """Ask for what is absent of a file: its metadata, then its pages in order."""
        cdef inode_t* inode = &self.inodes[self.inode_of[path]]
        cdef int64_t i, began, pages = min(min((inode.size + BYTES - 1) >> SHIFT, <int64_t>inode.pages), self.most_pages)
        cdef int32_t block
        cdef bint any = False
        if inode.size <= 0 or inode.present >= (inode.size + BYTES - 1) >> SHIFT:
            return now
        for i in range(self.walk_at[path], self.walk_at[path + 1]):
            block = self.walks[i]
            if not self.entries[block].flags & (BUFFER | COMING):
                began = now
                now = self.hold(block, True, now)
                self.spent[WAIT_OTHER] += now - began
                self.submit(block, False, now)
        for i in range(pages):
            if not self.entries[inode.first + i].flags & (PAGE | COMING):
                now = self.bring(inode, i, now, COPIES_AHEAD)
                self.entries[inode.first + i].flags |= AHEAD
                self.pages_ahead += 1
                any = True
        if any:
            self.files_ahead += 1
            if inode.ahead == NOTHING:
                inode.ahead = now
        return now
