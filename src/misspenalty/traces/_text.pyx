"""Kernel: lines of text to columns of integers, as fast as the bytes arrive."""

from libc.stdint cimport int64_t, uint8_t

cdef int64_t LIMIT = 0x7FFFFFFFFFFFFFFF


cdef inline bint _blank(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or c == 13  # space, tab, carriage return


cdef inline const uint8_t* _unsigned(const uint8_t* p, const uint8_t* end, int64_t* value) noexcept nogil:
    """Decimal digits; NULL where there are none or the number does not fit 63 bits."""
    cdef int64_t v = 0
    cdef const uint8_t* start = p
    cdef int digit
    while p < end and 48 <= p[0] <= 57:
        digit = p[0] - 48
        if v > (LIMIT - digit) // 10:
            return NULL
        v = v * 10 + digit
        p += 1
    if p == start:
        return NULL
    value[0] = v
    return p


cdef inline const uint8_t* _decimal(const uint8_t* p, const uint8_t* end, int64_t* value) noexcept nogil:
    """A non-negative decimal number in units of 1e-9, exact; digits beyond the ninth are dropped."""
    cdef int64_t whole = 0, part = 0
    cdef int places = 0
    if p < end and p[0] != 46:
        p = _unsigned(p, end, &whole)
        if p == NULL:
            return NULL
    elif p + 1 >= end or not 48 <= p[1] <= 57:
        return NULL
    if p < end and p[0] == 46:
        p += 1
        while p < end and 48 <= p[0] <= 57:
            if places < 9:
                part = part * 10 + (p[0] - 48)
                places += 1
            p += 1
    while places < 9:
        part *= 10
        places += 1
    if whole > (LIMIT - part) // 1000000000:
        return NULL
    value[0] = whole * 1000000000 + part
    return p


cdef inline const uint8_t* _field(const uint8_t* p, const uint8_t* end, uint8_t kind, uint8_t separator,
                                  int64_t* value) noexcept nogil:
    if kind == 117:                                     # u: unsigned decimal
        return _unsigned(p, end, value)
    if kind == 100:                                     # d: decimal number, in 1e-9
        return _decimal(p, end, value)
    if kind == 111:                                     # o: operation, R or W in either case
        if p >= end or (p[0] | 32) not in (114, 119):
            return NULL
        value[0] = (p[0] | 32) == 119
        return p + 1
    while p < end and p[0] != separator and not _blank(p[0]):  # s: skipped
        p += 1
    return p


cdef Py_ssize_t _line(const uint8_t* p, const uint8_t* end, const uint8_t[::1] kinds, uint8_t separator, bint open_ended,
                      int64_t[:, ::1] columns, Py_ssize_t row) noexcept nogil:
    """Parse one line into `row`; the number of the field at fault, counted from 1, or 0."""
    cdef Py_ssize_t k, n = kinds.shape[0]
    cdef const uint8_t* q
    for k in range(n):
        while p < end and _blank(p[0]):
            p += 1
        if k and separator != 32:
            if p >= end or p[0] != separator:
                return k + 1
            p += 1
            while p < end and _blank(p[0]):
                p += 1
        if p >= end:
            return k + 1
        q = _field(p, end, kinds[k], separator, &columns[k, row])
        if q == NULL or (q < end and q[0] != separator and not _blank(q[0])):
            return k + 1
        p = q
    while p < end and _blank(p[0]):
        p += 1
    return 0 if p >= end or open_ended else n + 1


def parse(const uint8_t[::1] text, const uint8_t[::1] kinds, uint8_t separator, bint open_ended, int comment,
          int64_t[:, ::1] columns):
    """Parse whole lines.

    Parameters
    ----------
    text : bytes
        Whole lines; the last one may lack its newline.
    kinds : bytes
        One letter a field: ``u`` unsigned, ``d`` decimal in 1e-9, ``o`` operation (1 = write), ``s`` skipped.
    separator : int
        Byte between fields; a space stands for any run of blanks.
    open_ended : bool
        Whether further fields may follow.
    comment : int
        First byte of lines to skip, -1 for none.
    columns : int64, shape (len(kinds), at least the number of lines)
        Where the values go.

    Returns
    -------
    rows, lines, field : int
        Rows filled; lines read, the bad one included; the field at fault in that line (from 1), 0 where all is well.
    """
    cdef const uint8_t* p
    cdef const uint8_t* stop
    cdef const uint8_t* end
    cdef const uint8_t* first
    cdef Py_ssize_t rows = 0, lines = 0, field = 0
    if text.shape[0] == 0:
        return 0, 0, 0
    with nogil:
        p = &text[0]
        stop = p + text.shape[0]
        while p < stop:
            end = p
            while end < stop and end[0] != 10:
                end += 1
            lines += 1
            first = p
            while first < end and _blank(first[0]):
                first += 1
            if first < end and first[0] != comment:
                field = _line(first, end, kinds, separator, open_ended, columns, rows)
                if field:
                    break
                rows += 1
            p = end + 1
    return rows, lines, field
