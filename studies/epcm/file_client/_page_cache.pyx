"""Implement the file client's page cache: walk paths, and fetch, copy, write and drop pages.

The model is defined in client.py.
"""

from libc.stdint cimport int32_t, int64_t

from misspenalty_studies.epcm.file_client._block_layer cimport (
    AHEAD, BUFFER, BUFFER_USED, COMING, NOTHING, PAGE, PAGE_USED, STORED, BlockLayer, entry_t,
)
from misspenalty_studies.epcm.file_client._file_calls cimport BYTES, COPIES_AHEAD, COPIES_IN_READS, SHIFT, WAIT_OPEN, WAIT_OTHER

from misspenalty.errors import ParameterError


cdef class PageCache(BlockLayer):
    """Files with pages in memory.

    Parameters
    ----------
    lba, sectors, metadata, machine
        As in `BlockLayer`; `machine` also has `kilobyte` and `buffer_kilobyte` (ns to copy 1024 bytes to the
        reader, and from a buffer to a page) and `block` (bytes).
    first, pages : int64, shape (paths,)
        First entry of each file, and number of entries.
    walk_at, walks : int64, shape (paths + 1,), and int32
        Blocks of metadata on the walk to path p: ``walks[walk_at[p]:walk_at[p + 1]]``.
    """

    def __cinit__(self, lba, sectors, metadata, machine, const int64_t[::1] first, const int64_t[::1] pages,
                  const int64_t[::1] walk_at, const int32_t[::1] walks, *own):
        cdef Py_ssize_t path, entry
        self.paths, self.walk_at, self.walks = first.shape[0], walk_at, walks
        self.kilobyte, self.buffer_kilobyte = machine["kilobyte"], machine["buffer_kilobyte"]
        self.block = machine["block"]
        self.inodes = <inode_t*>self.allocate(self.paths, sizeof(inode_t))
        self.inode_of = <int32_t*>self.allocate(self.paths, sizeof(int32_t))
        self.owners = <int32_t*>self.allocate(self.number, sizeof(int32_t))
        for path in range(self.paths):
            if first[path] < 0 or pages[path] < 0 or first[path] + pages[path] > metadata:
                raise ParameterError(
                    f"file {path} has entries {first[path]} to {first[path] + pages[path]}; expected 0 to {metadata}"
                )
            self.inodes[path].first, self.inodes[path].pages = <int32_t>first[path], <int32_t>pages[path]
            for entry in range(first[path], first[path] + pages[path]):
                self.owners[entry] = <int32_t>path
        self.begin_cold()

    def begin_cold(self):
        """Empty all caches; every path has its own inode again. The predictor keeps its model."""
        cdef Py_ssize_t i
        self.forget()
        for i in range(self.paths):
            self.inode_of[i] = <int32_t>i
            self.inodes[i].present = 0

    def keep(self, const int32_t[::1] named):
        """Hold the metadata of files in the inode and directory caches, outside the frames, where nothing evicts it."""
        cdef Py_ssize_t i, j
        for i in range(named.shape[0]):
            if not 0 <= named[i] < self.paths:
                raise IndexError(f"path {named[i]}; expected 0 to {self.paths - 1}")
            for j in range(self.walk_at[named[i]], self.walk_at[named[i] + 1]):
                if self.entries[self.walks[j]].buffer_frame != NOTHING:
                    self.release(self.walks[j], True)
                self.entries[self.walks[j]].flags |= BUFFER

    def warm(self, const int32_t[::1] resident):
        """Load files and their metadata into the caches as long as there is room, without taking simulated time."""
        cdef Py_ssize_t i, j
        cdef inode_t* inode
        cdef entry_t* e
        for i in range(resident.shape[0]):
            if not 0 <= resident[i] < self.paths:
                raise IndexError(f"path {resident[i]}; expected 0 to {self.paths - 1}")
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

    cdef void gone(self, int32_t entry, bint buffer) noexcept nogil:
        if not buffer:
            self.inodes[self.owners[entry]].present -= 1

    cdef void note_size(self, inode_t* inode, int64_t size) noexcept nogil:
        """Set the recorded size; if the file has grown, assume that pages that no recorded call wrote are on disk."""
        if size > inode.size:
            inode.stored = <int32_t>((size + BYTES - 1) >> SHIFT)
        inode.size = size

    cdef int64_t new_inode(self, int32_t path, int64_t now) except -1 nogil:
        """Cache a new file's inode without reading it."""
        cdef int32_t block = self.walks[self.walk_at[path + 1] - 1]
        cdef int64_t began = now
        if not self.entries[block].flags & (BUFFER | COMING):
            now = self.hold(block, True, now)
            self.spent[WAIT_OPEN] += now - began
            self.entries[block].flags |= BUFFER
        return now

    cdef int64_t rename(self, int32_t path, int32_t target, int64_t now) except -1 nogil:
        """Drop the target's data; from now on the file is found under its new name. Equal names change nothing."""
        cdef int32_t old = self.inode_of[target]
        if path == target:
            return now
        now = self.cut(&self.inodes[old], 0, now)
        self.inodes[old].size = NOTHING
        self.inode_of[target] = self.inode_of[path]
        self.inode_of[path] = old
        return now

    cdef int64_t walk(self, int32_t path, bint found, int64_t now, int32_t waits) except -1 nogil:
        """Look up a path: read its directories from the root down and, if it is `found`, its inode."""
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
        """Fill a page from its buffer or request it from the disk (brw_page); a hole needs neither."""
        cdef int32_t entry = inode.first + <int32_t>page
        cdef int64_t began = now, size, blocks
        now = self.hold(entry, False, now)
        self.spent[WAIT_OTHER] += now - began
        inode.present += 1
        if self.entries[entry].flags & BUFFER:
            size = min(max(inode.size - (page << SHIFT), 1), BYTES)
            blocks = (size + self.block - 1) // self.block
            self.entries[entry].flags |= PAGE | BUFFER_USED
            size = blocks * self.block * self.buffer_kilobyte // 1024
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
            self.entries[entry].flags |= PAGE                   # a hole needs no read
        return now

    cdef int64_t settle_page(self, inode_t* inode, int64_t page, int64_t now, int32_t waits) except -1 nogil:
        """Wait for a page if it is being read; then mark it as used."""
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
        """Ensure that a page is in the page cache; if it is not, request the absent pages of its cluster."""
        cdef int64_t other = page - page % cluster, end = other + cluster
        self.note_use(inode, now)
        if not self.entries[inode.first + page].flags & (PAGE | COMING):
            end = min(end, min(<int64_t>inode.pages, max((inode.size + BYTES - 1) >> SHIFT, page + 1)))
            while other < end:
                if not self.entries[inode.first + other].flags & (PAGE | COMING):
                    now = self.bring(inode, other, now, copies)
                other += 1
            if not self.entries[inode.first + page].flags & (PAGE | COMING):    # evicted to fetch its neighbours
                now = self.bring(inode, page, now, copies)
        return self.settle_page(inode, page, now, waits)

    cdef void note_use(self, inode_t* inode, int64_t now) noexcept nogil:
        """Count the lead time of a prefetch at the first use of the file."""
        if inode.ahead != NOTHING:
            self.leads += 1
            self.lead_time += now - inode.ahead
            if self.event <= inode.due:
                self.foretold += 1
                self.foretold_time += now - inode.ahead
            inode.ahead = NOTHING

    cdef int64_t write(self, inode_t* inode, int64_t at, int64_t length, int64_t now) except -1 nogil:
        """Write data into buffers and into pages that are present; without separate buffers, only into pages."""
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

    cdef int64_t wait_read(self, int32_t entry, int64_t now) except -1 nogil:
        return self.wait(entry, now) if self.entries[entry].flags & COMING else now

    cdef int64_t cut(self, inode_t* inode, int64_t page, int64_t now) except -1 nogil:
        """Drop a file's pages from `page` on, after waiting for operations in progress on them."""
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
