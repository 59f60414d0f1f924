# Define the layout of pages and objects, on disk and in the cache. `format.py` defines the same layout in Python.
#
# A page has 8192 bytes: a header of 8 bytes (page id, number of objects, end of the objects), the objects one after
# another, and, growing downwards from the end, the 16-bit offset of each object. An object begins with a 32-bit header;
# its size is a multiple of 8 bytes. Arrays and strings have their length in the second word. A reference has 32 bits.
# On disk it is 0 or an oref: the page id and the number of the object in the page. In the cache, once it has been
# loaded, it is the number of an entry of the indirection table, with the highest bit set.

from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    PAGE = 8192                     # bytes of a page and of a frame
    PAGE_SHIFT = 13
    PAGE_HEADER = 8                 # bytes
    OID_BITS = 9                    # low bits of an oref, the object's number in the page; the page id is above them
    CLASS_SHIFT = 22                # lowest of a header's 4 class bits; lower bits are the entry (cache) or oid (disk)
    CLASSES = 16                    # number of classes that a header can distinguish
    ARRAY = 14                      # class of arrays, which hold references
    STRING = 15                     # class of strings, which hold bytes

cdef extern from *:
    """
    #define SWIZZLED  0x80000000u   /* of a reference: the rest is a table entry */
    #define ENTRY     0x003fffffu   /* of a header: the object's table entry, once installed */
    #define INSTALLED 0x04000000u   /* of a header: the object has an entry that points here */
    #define MODIFIED  0x08000000u   /* of a header: changed by the running transaction */
    #define USED      0x80000000u   /* of a header: highest of the 4 usage bits */
    #define USAGE     0xf0000000u   /* of a header: all 4 usage bits */
    """
    const uint32_t SWIZZLED
    const uint32_t ENTRY
    const uint32_t INSTALLED
    const uint32_t MODIFIED
    const uint32_t USED
    const uint32_t USAGE


cdef struct class_t:
    uint32_t size                   # bytes of an object; 0 = depends on the object's length
    uint32_t references             # bit w set: word w of the object is a reference (0 = header)


cdef inline uint32_t word(const uint8_t* where) noexcept nogil:
    return (<const uint32_t*>where)[0]


cdef inline uint32_t class_of(uint32_t header) noexcept nogil:
    return (header >> CLASS_SHIFT) & (CLASSES - 1)


cdef inline uint32_t usage_of(uint32_t header) noexcept nogil:
    return header >> 28


cdef inline uint32_t size_of(const class_t* classes, const uint8_t* thing) noexcept nogil:
    """Return the size of an object in bytes."""
    cdef uint32_t kind = class_of(word(thing))
    if kind == ARRAY:
        return (8 + 4 * word(thing + 4) + 7) & ~7
    if kind == STRING:
        return (8 + word(thing + 4) + 7) & ~7
    return classes[kind].size


cdef inline uint8_t* reference_of(const class_t* classes, uint8_t* thing, uint32_t which) noexcept nogil:
    """Return the field of an object's reference number `which`, modulo the number of its references; NULL if the object
    has no references or this one is null."""
    cdef uint32_t kind = class_of(word(thing)), bits, count = 0, i
    cdef uint8_t* field = NULL
    if kind == ARRAY:
        if word(thing + 4):
            field = thing + 8 + 4 * (which % word(thing + 4))
    elif kind != STRING:
        bits = classes[kind].references
        for i in range(32):
            count += bits >> i & 1
        if count:
            which %= count
            for i in range(32):
                if bits >> i & 1:
                    if which == 0:
                        field = thing + 4 * i
                        break
                    which -= 1
    return field if field != NULL and word(field) else NULL


cdef inline uint32_t objects_on(const uint8_t* page) noexcept nogil:
    return (<const uint16_t*>(page + 4))[0]


cdef inline uint32_t end_of(const uint8_t* page) noexcept nogil:
    """Return the offset in the page at which the last object ends."""
    return (<const uint16_t*>(page + 6))[0]


cdef inline uint32_t offset_of(const uint8_t* page, uint32_t oid) noexcept nogil:
    return (<const uint16_t*>(page + PAGE))[-1 - <int>oid]
