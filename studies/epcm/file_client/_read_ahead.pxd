# Declare reads of files through the page cache: read calls with read-ahead, and page faults that fetch whole clusters.

from libc.stdint cimport int64_t, uint8_t

from misspenalty_studies.epcm.file_client._file_calls cimport call_record_t
from misspenalty_studies.epcm.file_client._page_cache cimport PageCache, inode_t

cdef enum class_t:                  # classes of a read call
    HIT = 0                         # all its data is in the page or buffer cache, or in holes
    PARTIAL = 1                     # some of its data is already being read
    MISS = 2                        # some of its data has to be requested


cdef struct ahead_t:                # read-ahead of an open file, bytes; the fields of `struct file`
    int64_t end                     # f_raend: end of the last page read ahead
    int64_t length                  # f_ralen: length of the last request
    int64_t most                    # f_ramax: maximum that the next request may read
    int64_t window                  # f_rawin: total length of the last two requests


cdef class ReadAhead(PageCache):
    cdef ahead_t* aheads            # read-ahead of each path
    cdef int64_t call_time          # processor time of a read call, ns
    cdef int64_t cluster            # number of pages in the cluster of a page fault
    cdef int64_t least_ahead        # MIN_READAHEAD, bytes
    cdef int64_t most_ahead         # MAX_READAHEAD, bytes

    cdef int64_t fault(self, inode_t* inode, int64_t page, int64_t end, int64_t now) except -1 nogil
    cdef int64_t read(self, const call_record_t* call, int64_t now, uint8_t* outcome) except -1 nogil
    cdef int64_t read_ahead(self, inode_t* inode, ahead_t* ahead, int64_t at, bint locked, bint in_window,
                            int64_t now) except -1 nogil
