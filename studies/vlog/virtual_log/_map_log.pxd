# The virtual log: sectors that each hold one piece of the indirection map, threaded backwards as a tree.
#
# The tail is the root. Every piece's newest record can be reached from the tail through newest records alone. An older
# copy is therefore free as soon as its successor's transaction is complete: the successor points to the tail before it
# and to those targets of the older copy that are still current. Pointers carry the sequence number of their target, so
# that a pointer to a sector that has been reused is recognised. A record has room for pointers to CHILDREN current
# records; if it would need more, a child is logged again first, which moves it to the tail and off its parent's list.

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    #define MISSPENALTY_RECORD 0x4d697373566c6f67ULL
    #define MISSPENALTY_TAIL 0x4d69737354616973ULL
    #define MISSPENALTY_DATA 0x4d69737344617461ULL
    """
    const uint64_t RECORD_MAGIC "MISSPENALTY_RECORD"
    const uint64_t TAIL_MAGIC "MISSPENALTY_TAIL"
    const uint64_t DATA_MAGIC "MISSPENALTY_DATA"

cdef enum:
    SECTOR = 512                    # bytes of a record
    CHILDREN = 5                    # current records that one record can point to
    POINTERS = 6                    # pointers of a record: CHILDREN, and one to the tail before an unfinished transaction
    ENTRIES = 100                   # map entries per record
    NONE = -1


cdef packed struct pointer_t:
    int32_t address                 # sector; -1 = none
    int64_t sequence                # sequence number of the record expected there


cdef packed struct record_t:
    uint64_t magic                  # RECORD_MAGIC
    int64_t sequence                # grows by one per record
    int64_t first                   # sequence number of its transaction's first record
    int32_t piece                   # piece of the map
    int16_t last                    # 1 = it completes its transaction
    int16_t pointers                # number of pointers in use
    pointer_t[POINTERS] pointer     # pointers to older records
    int32_t[ENTRIES] entry          # physical blocks of the piece's logical blocks; -1 = none
    uint64_t checksum               # checksum of the preceding bytes


cdef packed struct tag_t:
    uint64_t magic                  # DATA_MAGIC; the tag represents the sector's content
    int64_t version                 # number of the write that stored it
    int32_t logical                 # logical block
    int32_t part                    # index of the sector in its block


cdef packed struct tail_t:
    uint64_t magic                  # TAIL_MAGIC
    int32_t address                 # sector of the last complete record
    int32_t unused
    int64_t sequence                # sequence number of that record
    uint64_t checksum               # checksum of the preceding bytes


cdef struct piece_t:
    int64_t sequence                # sequence number of its newest record; -1 = never written
    int32_t address                 # sector of that record
    int32_t parent                  # piece whose newest record points to it; -1 = the tail
    int32_t child                   # first of the pieces to which its record points; -1 = none
    int32_t before                  # neighbours in its parent's list; -1 = none
    int32_t after
    int32_t degree                  # number of its children


cdef inline uint64_t checksum(const void* content, Py_ssize_t size) noexcept nogil:
    """Compute the 64-bit FNV-1a hash."""
    cdef const uint8_t* byte = <const uint8_t*>content
    cdef uint64_t sum = <uint64_t>0xCBF29CE484222325
    cdef Py_ssize_t i
    for i in range(size):
        sum = (sum ^ byte[i]) * <uint64_t>0x100000001B3
    return sum


cdef inline void detach(piece_t* pieces, int32_t piece) noexcept nogil:
    """Remove a piece from its parent's list of children, if it has a parent."""
    cdef piece_t* p = &pieces[piece]
    if p.parent == NONE:
        return
    if p.before == NONE:
        pieces[p.parent].child = p.after
    else:
        pieces[p.before].after = p.after
    if p.after != NONE:
        pieces[p.after].before = p.before
    pieces[p.parent].degree -= 1
    p.parent = p.before = p.after = NONE


cdef inline void adopt(piece_t* pieces, int32_t parent, int32_t piece) noexcept nogil:
    """Insert a piece that has no parent at the head of another piece's list of children."""
    cdef piece_t* p = &pieces[piece]
    p.parent = parent
    p.before = NONE
    p.after = pieces[parent].child
    if p.after != NONE:
        pieces[p.after].before = piece
    pieces[parent].child = piece
    pieces[parent].degree += 1


cdef inline int32_t slimmest(const piece_t* pieces, int32_t parent) noexcept nogil:
    """Return the child with the fewest children; on a tie, the first one in the list."""
    cdef int32_t best = pieces[parent].child, child = pieces[parent].child
    while child != NONE:
        if pieces[child].degree < pieces[best].degree:
            best = child
        child = pieces[child].after
    return best


cdef inline void fill_record(
    record_t* record, const piece_t* pieces, int32_t piece, const int32_t* map, int32_t blocks
) noexcept nogil:
    """Fill in the record of a piece whose children and sequence number are up to date; the caller sets `first`, `last`
    and the checksum, and may add a pointer."""
    cdef int32_t child = pieces[piece].child, i
    memset(record, 0, sizeof(record_t))
    record.magic = RECORD_MAGIC
    record.sequence = pieces[piece].sequence
    record.piece = piece
    while child != NONE:
        record.pointer[record.pointers].address = pieces[child].address
        record.pointer[record.pointers].sequence = pieces[child].sequence
        record.pointers += 1
        child = pieces[child].after
    for i in range(ENTRIES):
        record.entry[i] = map[piece * ENTRIES + i] if piece * ENTRIES + i < blocks else NONE
