"""Implement the kernel of the file client's prefetch engine. The model is defined in client.py."""

from libc.stdint cimport int32_t, int64_t

from misspenalty_studies.epcm.file_client._block_layer cimport AHEAD, BUFFER, COMING, NOTHING, PAGE
from misspenalty_studies.epcm.file_client._file_calls cimport BYTES, COPIES_AHEAD, ENGINE, SHIFT, WAIT_OTHER
from misspenalty_studies.epcm.file_client._page_cache cimport inode_t
from misspenalty_studies.epcm.file_client._read_ahead cimport ReadAhead


cdef class PrefetchEngine(ReadAhead):
    """The engine that prefetches predicted files; `machine` also has `engine_time` (ns) and `most_pages`.

    Parameters
    ----------
    files : int
        Number of files that the predictor distinguishes.
    """

    def __cinit__(self, lba, sectors, metadata, machine, first, pages, walk_at, walks, Py_ssize_t files):
        self.files, self.engine_time, self.most_pages = files, machine["engine_time"], machine["most_pages"]
        self.path_of = <int32_t*>self.allocate(files, sizeof(int32_t))

    cdef int64_t look_ahead(self, int32_t file, int64_t now) except -1 nogil:
        """Pass the event to the model, and request the files that the model predicts; do not wait for them."""
        cdef Py_ssize_t i
        cdef int32_t path
        self.event += 1
        now += self.engine_time
        self.spent[ENGINE] += self.engine_time
        self.predicted_at = now
        self.predictor.access(file)
        for i in range(self.predictor.number):
            path = self.path_of[self.predictor.predicted[i]]
            if path != NOTHING:
                now = self.prefetch(path, i + 1, now)
        self.unplug(now)
        return now

    cdef int64_t prefetch(self, int32_t path, int64_t place, int64_t now) except -1 nogil:
        """Request the absent parts of a file: its metadata, then its first `most_pages` pages in order.

        The file has rank `place` among those predicted, so it is used within `place` events if the prediction is right.
        """
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
            inode.awaited = True
            if inode.ahead == NOTHING:
                inode.ahead, inode.due = now, self.event + place
        return now
