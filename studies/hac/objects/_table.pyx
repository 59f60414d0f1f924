"""Implement the indirection table: an entry is made when its oref is first looked up, and freed when it is no longer
used."""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

from misspenalty._kernel cimport Kernel
from misspenalty_studies.hac.objects._format cimport OID_BITS

cdef enum:
    MOST_ENTRIES = 1 << 22


cdef class IndirectionTable(Kernel):
    """A table with an entry for each object that is installed or that a swizzled reference or the program refers to.

    A real client would look entries up in a hash table with `buckets` buckets: the table's size includes these buckets,
    and entries have a link for the hash chains. This implementation looks entries up in an array indexed by oref, which
    is faster because the objects of a page are requested together.
    """

    cdef int make_table(self, uint32_t buckets, Py_ssize_t pages) except -1:
        self.bucket_count = buckets
        self.entry_end = 1
        self.orefs = <uint64_t>(pages + 1) << OID_BITS
        self.entry_of = <uint32_t*>self.allocate(self.orefs, sizeof(uint32_t))
        return 0

    def __dealloc__(self):
        free(self.entries)

    cdef uint32_t find(self, uint32_t oref) noexcept nogil:
        """Return the entry of an object, creating it if necessary, or 0 if there is no room or the page's id is too
        high."""
        cdef uint32_t index
        if oref >= self.orefs:
            self.failed = NO_OBJECT
            return 0
        index = self.entry_of[oref]
        if index:
            return index
        if self.free_entry:
            index = self.free_entry
            self.free_entry = self.entries[index].next
        else:
            if self.entry_end >= self.entry_room and self.grow_table() < 0:
                return 0
            index = self.entry_end
            self.entry_end += 1
        self.entries[index].address = 0
        self.entries[index].oref = oref
        self.entries[index].references = 0
        self.entries[index].next = 0
        self.entry_of[oref] = index
        self.counts.entries_made += 1
        self.counts.entries += 1
        return index

    cdef uint32_t hold(self, uint32_t oref) noexcept nogil:
        """Look up an oref's entry and add a reference of the program; return the entry, or 0 if `find` failed."""
        cdef uint32_t index = self.find(oref)
        if index:
            self.entries[index].references += 1
        return index

    cdef int grow_table(self) noexcept nogil:
        cdef uint32_t room = max(1024, min(2 * self.entry_room, MOST_ENTRIES))
        cdef entry_t* entries
        if room == self.entry_room:
            self.failed = NO_MEMORY
            return -1
        entries = <entry_t*>realloc(self.entries, room * sizeof(entry_t))
        if entries == NULL:
            self.failed = NO_MEMORY
            return -1
        self.entries = entries
        self.entry_room = room
        return 0

    cdef void release(self, uint32_t index) noexcept nogil:
        """Lower the reference count of an entry; free the entry if no reference and no object is left."""
        self.entries[index].references -= 1
        if self.entries[index].references == 0 and self.entries[index].address == 0:
            self.free_table_entry(index)

    cdef void free_table_entry(self, uint32_t index) noexcept nogil:
        self.entry_of[self.entries[index].oref] = 0
        self.entries[index].next = self.free_entry
        self.free_entry = index
        self.counts.entries_freed += 1
        self.counts.entries -= 1

    cdef int64_t table_bytes(self) noexcept nogil:
        return self.counts.entries * <int64_t>sizeof(entry_t) + self.bucket_count * <int64_t>sizeof(uint32_t)
