# The indirection table of a client cache, and the cache's counters.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from misspenalty._kernel cimport Kernel

cdef enum:                          # values of `failed`
    NO_FRAME = 1
    NO_MEMORY = 2
    NO_OBJECT = 3


cdef struct entry_t:
    uint32_t address                # address of the object, bytes from the start of the frames; 0 = not in the cache
    uint32_t oref                   # place of the object on disk
    uint32_t references             # number of references to the object, both swizzled and the program's own
    uint32_t next                   # in a real client, next entry in the hash chain; here, next free entry; 0 = none


cdef struct counts_t:
    int64_t accesses                # times that an object was reached through a reference
    int64_t fetches                 # pages requested from the server
    int64_t installed               # installations: table entries set to their object's address
    int64_t swizzled                # references turned into table entries
    int64_t frames_scanned          # frames whose usage was computed
    int64_t objects_scanned         # objects in these frames
    int64_t frames_looked           # frames that a secondary pointer examined
    int64_t frames_compacted        # victims
    int64_t frames_freed            # victims that were free afterwards
    int64_t whole_evictions         # victims from which no object was retained
    int64_t retained                # objects that survived compaction
    int64_t discarded               # installed objects that did not survive
    int64_t dropped                 # copies in victims that were dropped because they had never been installed
    int64_t bytes_moved             # bytes that compaction moved
    int64_t page_objects            # objects in victims that were intact pages
    int64_t page_survivors          # objects in such victims that were retained
    int64_t references_dropped      # references of discarded objects, each of which lowered a reference count
    int64_t entries_made            # entries made in the indirection table
    int64_t entries_freed
    int64_t stack_words             # words of the stack that were scanned for references into frames
    int64_t modified                # objects modified for the first time in a transaction
    int64_t pages_kept              # intact pages in the cache now (not cumulative)
    int64_t entries                 # table entries in use now (not cumulative)


cdef class IndirectionTable(Kernel):
    cdef entry_t* entries           # entry 0 is never used
    cdef uint32_t entry_room
    cdef uint32_t entry_end         # index of the first entry that was never in use
    cdef uint32_t free_entry        # first free entry; 0 = none
    cdef uint32_t* entry_of         # entry of each oref; 0 = none
    cdef uint64_t orefs             # length of `entry_of`
    cdef uint32_t bucket_count      # buckets of a real client's hash table, which `table_bytes` includes
    cdef counts_t counts
    cdef readonly int failed        # 0 = no, 1 = no frame could be freed, 2 = no memory, 3 = oref without an object

    # Allocate the table; a subclass calls this method first in its constructor.
    cdef int make_table(self, uint32_t buckets, Py_ssize_t pages) except -1
    cdef uint32_t find(self, uint32_t oref) noexcept nogil
    cdef uint32_t hold(self, uint32_t oref) noexcept nogil
    cdef int grow_table(self) noexcept nogil
    cdef void release(self, uint32_t index) noexcept nogil
    cdef void free_table_entry(self, uint32_t index) noexcept nogil
    cdef int64_t table_bytes(self) noexcept nogil

    cdef inline void refer(self, uint32_t index) noexcept nogil:
        self.entries[index].references += 1
