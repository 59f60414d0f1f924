"""Place objects on pages in the given order; no object crosses a page boundary."""

from libc.stdint cimport uint32_t

from misspenalty_studies.hac.objects._format cimport OID_BITS, PAGE, PAGE_HEADER


def place(const uint32_t[::1] sizes, uint32_t[::1] orefs, uint32_t[::1] offsets, uint32_t first_page):
    """Assign every object an oref and an offset in its page; return the number of pages used.

    A page is full if the next object and its 2-byte offset do not fit, or if the object's number in the page would need
    more than `OID_BITS` bits.
    """
    cdef uint32_t page = first_page, at = PAGE_HEADER, oid = 0, size
    cdef Py_ssize_t i
    with nogil:
        for i in range(sizes.shape[0]):
            size = sizes[i]
            if at + size + 2 * (oid + 1) > PAGE or oid == (1 << OID_BITS):
                page += 1
                at = PAGE_HEADER
                oid = 0
            orefs[i] = page << OID_BITS | oid
            offsets[i] = at
            at += size
            oid += 1
    return page - first_page + 1 if sizes.shape[0] else 0
