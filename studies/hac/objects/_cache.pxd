# Declare the base of client caches: frames of real memory, an indirection table and the program's stack. A policy is a
# subclass that defines how a frame is freed. Methods that follow references are here, to be inlined into traversals.

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty_studies.hac.objects._format cimport MODIFIED, PAGE_SHIFT, SWIZZLED, USED, class_t, word
from misspenalty_studies.hac.objects._table cimport IndirectionTable, counts_t

cdef enum:
    FREE = 0                        # kind of frame: empty
    INTACT = 1                      # kind of frame: a page as it was fetched
    MIXED = 2                       # kind of frame: objects that survived compaction
    BUFFER = 3                      # kind of frame: part of an object buffer
    NONE = -1                       # no frame


cdef extern from *:
    """
    #include <time.h>
    #if defined(__x86_64__)
    #include <x86intrin.h>
    static inline int64_t ticks(void) { return (int64_t)__rdtsc(); }
    #else
    static inline int64_t ticks(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return 1000000000LL * t.tv_sec + t.tv_nsec;
    }
    #endif
    """
    int64_t ticks() noexcept nogil

cdef enum:                          # operations whose time a cache measures on request
    REGISTER = 0                    # copying the page into its frame
    STACK = 1
    USAGE = 2
    COMPACTION = 3
    CONVERSION = 4                  # installing and swizzling
    TIMED = 5


cdef struct frame_t:
    uint32_t kind                   # FREE, INTACT, MIXED, BUFFER
    uint32_t page                   # id of the page, if the frame is INTACT
    uint32_t objects                # objects in it, including copies that are not installed
    uint32_t installed              # installed objects
    uint32_t end                    # offset of the end of the last object
    int64_t pinned                  # last fetch at which the stack referred to it; 0 = never
    int64_t used                    # tick of its last tracked use or of its fetch; CLOCK's hand sets it to 0
    bint modified                   # an object was modified here since the last commit, even if it has moved away


cdef struct log_t:
    int64_t page                    # page fetched; 0 = no fetch: the row describes the end of a run
    counts_t before                 # counts when the fetch began, or at the end of the run


cdef class ObjectCache(IndirectionTable):
    cdef class_t[16] classes
    cdef uint8_t* pages             # the server's database, page id 1 first
    cdef Py_ssize_t page_count
    cdef object database            # keeps the pages alive
    cdef uint8_t* memory            # the frames
    cdef frame_t* frames
    cdef uint32_t* free_frames      # stack of the free frames
    cdef uint32_t* frame_of         # by page id: frame + 1 of the intact page; 0 = none
    cdef Py_ssize_t frame_count     # frames that fit in the budget without a table, at most the database's pages + 2
    cdef Py_ssize_t free_count
    cdef int64_t budget             # bytes for frames and table, or for frames alone if the table is not counted
    cdef bint counts_table          # whether the budget includes the table
    cdef int tracks                 # additional work of an access: 0 none, 1 stamp the frame, 2 call `touch`
    cdef int64_t tick               # tracked uses and fetches so far
    cdef int64_t* stack             # the program's activation records, words
    cdef Py_ssize_t stack_top       # number of words in use
    cdef Py_ssize_t stack_room
    cdef Py_ssize_t activation      # words of an activation record
    cdef Py_ssize_t incoming        # frame that a page is being fetched into; NONE = no fetch
    cdef bint timed                 # whether the operations are timed on this machine
    cdef int64_t[5] spent           # ticks so far, by operation
    cdef int64_t* timings           # `spent` at every row of the log; NULL = not timed
    cdef log_t* log
    cdef Py_ssize_t log_size
    cdef Py_ssize_t log_room

    # Each policy overrides this: free one frame and return 0, or return -1 if no frame can be freed.
    cdef int free_one(self) noexcept nogil
    # This is called once per fetch, while the client waits for the page.
    cdef int prepare(self) noexcept nogil
    # This is called at each access if `tracks` is 2.
    cdef void touch(self, uint8_t* thing) noexcept nogil
    cdef uint32_t swizzle(self, uint8_t* field) noexcept nogil
    cdef uint8_t* bring(self, uint32_t index) noexcept nogil
    cdef int fetch(self, uint32_t page) noexcept nogil
    cdef int make_room(self) noexcept nogil
    cdef int64_t lap(self, int what, int64_t begin) noexcept nogil
    cdef int record(self, int64_t page) noexcept nogil
    cdef void scan_stack(self) noexcept nogil
    cdef void discard(self, uint8_t* thing, uint32_t size) noexcept nogil
    cdef void evict(self, Py_ssize_t frame) noexcept nogil
    cdef void give_back(self, Py_ssize_t frame) noexcept nogil
    # Ship the modified objects of a policy's own buffer at a commit; add to the numbers of bytes and objects shipped.
    cdef void ship_buffer(self, Py_ssize_t* shipped, Py_ssize_t* count) noexcept nogil
    cdef void settle(self, uint8_t* thing, uint32_t size, Py_ssize_t* shipped, Py_ssize_t* count) noexcept nogil
    cdef void ship(self, uint8_t* thing, uint32_t size) noexcept nogil
    cdef int64_t* push(self) noexcept nogil

    cdef inline uint8_t* at(self, uint32_t index) noexcept nogil:
        """Return the object of a table entry, installing it if necessary, and mark it as used; NULL on failure."""
        cdef uint8_t* thing
        cdef uint32_t address = self.entries[index].address
        self.counts.accesses += 1
        if address == 0:
            thing = self.bring(index)
            if thing == NULL:
                return NULL
        else:
            thing = self.memory + address
        (<uint32_t*>thing)[0] |= USED
        if self.tracks:
            self.track(thing)
        return thing

    cdef inline uint8_t* follow(self, uint8_t* field) noexcept nogil:
        """Return the object that a field refers to. The stack must refer to the object that contains the field."""
        cdef uint32_t reference = word(field)
        if not reference & SWIZZLED:
            reference = self.swizzle(field)
            if reference == 0:
                return NULL
        return self.at(reference & ~SWIZZLED)

    cdef inline void track(self, uint8_t* thing) noexcept nogil:
        if self.tracks == 1:
            self.tick += 1
            self.frames[(thing - self.memory) >> PAGE_SHIFT].used = self.tick
        else:
            self.touch(thing)

    cdef inline void modify(self, uint8_t* thing) noexcept nogil:
        """Mark an object as changed by the running transaction; the object stays in the cache until the commit."""
        self.counts.modified += not word(thing) & MODIFIED
        (<uint32_t*>thing)[0] |= MODIFIED
        self.frames[(thing - self.memory) >> PAGE_SHIFT].modified = True

    cdef inline void pop(self) noexcept nogil:
        self.stack_top -= self.activation
