"""Implement the file client's read calls, read-ahead and page faults. The model is defined in client.py."""

from libc.stdint cimport int64_t, uint8_t

from misspenalty_studies.epcm.file_client._block_layer cimport BUFFER, COMING, PAGE, STORED, entry_t
from misspenalty_studies.epcm.file_client._file_calls cimport (
    BYTES, COPIES_IN_FAULTS, COPIES_IN_READS, READ_CALLS, SHIFT, WAIT_FAULT, WAIT_READ, call_record_t,
)
from misspenalty_studies.epcm.file_client._page_cache cimport PageCache, inode_t


cdef class ReadAhead(PageCache):
    """Reads and read-ahead; `machine` also has `call_time` (ns), `cluster`, `least_ahead`, `most_ahead` (pages)."""

    def __cinit__(self, lba, sectors, metadata, machine, first, pages, walk_at, walks, *own):
        self.call_time, self.cluster = machine["call_time"], machine["cluster"]
        self.least_ahead, self.most_ahead = BYTES * machine["least_ahead"], BYTES * machine["most_ahead"]
        self.aheads = <ahead_t*>self.allocate(self.paths, sizeof(ahead_t))

    cdef int64_t fault(self, inode_t* inode, int64_t page, int64_t end, int64_t now) except -1 nogil:
        """Touch mapped pages one after another (filemap_nopage)."""
        end = min(end, <int64_t>inode.pages)
        while page < end:
            now = self.need(inode, page, self.cluster, now, COPIES_IN_FAULTS, WAIT_FAULT)
            page += 1
        return now

    cdef int64_t read(self, const call_record_t* call, int64_t now, uint8_t* outcome) except -1 nogil:
        """Perform a read call (do_generic_file_read); return the time at which it ends."""
        cdef inode_t* inode = &self.inodes[self.inode_of[call.path]]
        cdef ahead_t* ahead = &self.aheads[call.path]
        cdef int64_t at = call.offset, start = at - at % BYTES, needed, part, page
        cdef int64_t end = min(call.offset + call.length, <int64_t>inode.pages << SHIFT)
        cdef entry_t* e
        cdef bint in_window = not (start > ahead.end or start + ahead.window < ahead.end)
        inode.size = max(inode.size, call.offset + call.length if call.length else 0)
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
            if not e.flags & (PAGE | COMING):                                   # its own read-ahead has evicted it
                now = self.bring(inode, page, now, COPIES_IN_READS)
            now = self.settle_page(inode, page, now, WAIT_READ)
            part = min(end - at, BYTES - at % BYTES)
            self.spent[READ_CALLS] += part * self.kilobyte // 1024
            now += part * self.kilobyte // 1024
            at += part
        return now

    cdef int64_t read_ahead(self, inode_t* inode, ahead_t* ahead, int64_t at, bint locked, bint in_window,
                            int64_t now) except -1 nogil:
        """Request pages after the one at `at` (generic_file_readahead)."""
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
