# Declare files in memory: inodes, their pages and the walk to them, on top of the block layer.

from libc.stdint cimport int32_t, int64_t

from misspenalty_studies.epcm.file_client._block_layer cimport BlockLayer
from misspenalty_studies.epcm.file_client._file_calls cimport COMPONENTS


cdef struct inode_t:
    int64_t size                    # bytes; NOTHING = the file does not exist
    int64_t ahead                   # time of the engine's first prefetch of it since its last use, ns; NOTHING = none
    int64_t due                     # event by which it is used if the prediction is right; valid if `ahead` is set
    int32_t first                   # its first entry
    int32_t pages                   # entries
    int32_t present                 # pages in the page cache or being read into it
    bint awaited                    # prefetched, and not opened or executed since
    int32_t stored                  # leading pages that are on disk even if no recorded call has written them


cdef class PageCache(BlockLayer):
    cdef inode_t* inodes            # one per path
    cdef int32_t* inode_of          # inode of each path
    cdef int32_t* owners            # inode of each entry; blocks of metadata have none
    cdef Py_ssize_t paths
    cdef const int64_t[::1] walk_at # start of each path's metadata blocks in `walks`, then the end of the last path's
    cdef const int32_t[::1] walks   # each path's blocks of metadata, from the root down to its own inode
    cdef int64_t kilobyte           # time to copy 1024 bytes to the reader, ns
    cdef int64_t buffer_kilobyte    # time to copy 1024 bytes from a buffer to a page, ns
    cdef int64_t block              # block size of the file system, bytes
    cdef int64_t[COMPONENTS] spent  # ns
    cdef readonly int64_t copied    # blocks copied from buffers to pages in read calls
    cdef readonly int64_t copied_ahead  # blocks that the engine copied
    cdef readonly int64_t copied_in_faults
    cdef readonly int64_t pages_used    # pages that the engine fetched or copied and that were used
    cdef readonly int64_t leads     # files used after a prefetch
    cdef readonly int64_t lead_time # total time from prefetch to use, ns
    cdef readonly int64_t foretold  # files used after a prefetch, no later than the event `due`
    cdef readonly int64_t foretold_time # total time from prefetch to use of these files, ns
    cdef int64_t event              # number of events that the predictor has seen in the run

    # These functions look up, create and rename files.
    cdef int64_t walk(self, int32_t path, bint found, int64_t now, int32_t waits) except -1 nogil
    cdef int64_t new_inode(self, int32_t path, int64_t now) except -1 nogil
    cdef int64_t rename(self, int32_t path, int32_t target, int64_t now) except -1 nogil
    cdef void note_size(self, inode_t* inode, int64_t size) noexcept nogil
    # These functions read, write and drop the pages of a file.
    cdef int64_t bring(self, inode_t* inode, int64_t page, int64_t now, int32_t why) except -1 nogil
    cdef int64_t settle_page(self, inode_t* inode, int64_t page, int64_t now, int32_t waits) except -1 nogil
    cdef int64_t need(self, inode_t* inode, int64_t page, int64_t cluster, int64_t now, int32_t copies,
                      int32_t waits) except -1 nogil
    cdef void note_use(self, inode_t* inode, int64_t now) noexcept nogil
    cdef int64_t write(self, inode_t* inode, int64_t at, int64_t length, int64_t now) except -1 nogil
    cdef int64_t wait_read(self, int32_t entry, int64_t now) except -1 nogil
    cdef int64_t cut(self, inode_t* inode, int64_t page, int64_t now) except -1 nogil
