"""Kernel: lines of text to columns of integers, as fast as the bytes arrive."""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define EIGHT_AT_ONCE 1
    #else
    #define EIGHT_AT_ONCE 0
    #endif
    """
    int EIGHT_AT_ONCE
    int trailing_zeros "__builtin_ctzll" (unsigned long long) noexcept nogil

cdef int64_t LIMIT = 0x7FFFFFFFFFFFFFFF

cdef enum:
    QUOTE = 34
    BRACKET = 91                # [
    SKIP = -1                   # returned instead of a field at fault: the line is not one of those selected


cdef inline bint _blank(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or c == 13  # space, tab, carriage return


cdef inline int _digits(const uint8_t* p, uint64_t* value) noexcept nogil:
    """How many of the eight bytes at `p` are decimal digits before any other byte, and the number they form."""
    cdef uint64_t eight, others
    cdef int digits
    memcpy(&eight, p, sizeof(uint64_t))                 # the first digit is the lowest byte
    eight ^= <uint64_t>0x3030303030303030               # digits are 0 to 9 now
    others = (eight | (eight + <uint64_t>0x7676767676767676)) & <uint64_t>0x8080808080808080
    digits = trailing_zeros(others) >> 3 if others else 8
    if not digits:
        return 0
    eight <<= 8 * (8 - digits)                          # zeros before the digits
    eight = eight * 10 + (eight >> 8)                   # pairs, then fours, then all
    eight = (((eight & <uint64_t>0x000000FF000000FF) * <uint64_t>0x000F424000000064)
             + (((eight >> 16) & <uint64_t>0x000000FF000000FF) * <uint64_t>0x0000271000000001)) >> 32
    value[0] = eight
    return digits


cdef inline const uint8_t* _unsigned(const uint8_t* p, const uint8_t* end, const uint8_t* text_end,
                                     int64_t* value) noexcept nogil:
    """Decimal digits before `end`; NULL if there are none or the number does not fit 63 bits."""
    cdef uint64_t v = 0
    cdef const uint8_t* start = p
    cdef const uint8_t* safe = start + 18 if start + 18 < end else end  # 18 digits always fit
    cdef int digits
    if EIGHT_AT_ONCE and text_end - p >= 8:             # the byte at `end` is not a digit
        digits = _digits(p, &v)
        p += digits
        if digits < 8:
            value[0] = <int64_t>v
            return p if digits else NULL
    while p < safe and 48 <= p[0] <= 57:
        v = v * 10 + (p[0] - 48)
        p += 1
    while p < end and 48 <= p[0] <= 57:
        if v > <uint64_t>(LIMIT - (p[0] - 48)) // 10:
            return NULL
        v = v * 10 + (p[0] - 48)
        p += 1
    if p == start:
        return NULL
    value[0] = <int64_t>v
    return p


cdef inline const uint8_t* _decimal(const uint8_t* p, const uint8_t* end, const uint8_t* text_end, int places,
                                    int64_t* value) noexcept nogil:
    """A non-negative decimal number in units of 10**-places, exact; further digits are dropped."""
    cdef int64_t whole = 0, part = 0, one = 1
    cdef int place = 0
    if p < end and p[0] != 46:
        p = _unsigned(p, end, text_end, &whole)
        if p == NULL:
            return NULL
    elif p + 1 >= end or not 48 <= p[1] <= 57:
        return NULL
    if p < end and p[0] == 46:
        p += 1
        while p < end and 48 <= p[0] <= 57:
            if place < places:
                part = part * 10 + (p[0] - 48)
                one *= 10
                place += 1
            p += 1
    while place < places:
        part *= 10
        one *= 10
        place += 1
    if whole > (LIMIT - part) // one:
        return NULL
    value[0] = whole * one + part
    return p


cdef inline const uint8_t* _hexadecimal(const uint8_t* p, const uint8_t* end, int64_t* value) noexcept nogil:
    """Hexadecimal digits, with or without a leading 0x; NULL as in `_unsigned`."""
    cdef int64_t v = 0
    cdef int digit
    cdef const uint8_t* start
    if p + 1 < end and p[0] == 48 and (p[1] | 32) == 120:
        p += 2
    start = p
    while p < end:
        if 48 <= p[0] <= 57:
            digit = p[0] - 48
        elif 97 <= (p[0] | 32) <= 102:
            digit = (p[0] | 32) - 87
        else:
            break
        if v > LIMIT >> 4:
            return NULL
        v = v << 4 | digit
        p += 1
    if p == start:
        return NULL
    value[0] = v
    return p


cdef inline const uint8_t* _word(const uint8_t* p, const uint8_t* end, uint8_t separator) noexcept nogil:
    """End of the text that begins at `p`; blanks within it are part of it if they are not separators."""
    cdef const uint8_t* begin = p
    while p < end and p[0] != separator and not (separator == 32 and _blank(p[0])):
        p += 1
    while p > begin and separator != QUOTE and _blank(p[-1]):
        p -= 1
    return p


cdef inline bint _spells(const uint8_t* p, Py_ssize_t n, const char* word) noexcept nogil:
    """Whether these n letters, in either case, are the first letter or all of `word`."""
    cdef Py_ssize_t i
    for i in range(n):
        if word[i] == 0 or (p[i] | 32) != <uint8_t>word[i]:
            return False
    return n == 1 or (n > 1 and word[n] == 0)


cdef inline const uint8_t* _choice(const uint8_t* p, const uint8_t* end, const char* zero, const char* one,
                                   int64_t* value) noexcept nogil:
    """One of two words or their first letters, or equivalently 0 or 1."""
    cdef const uint8_t* q = p
    while q < end and (97 <= (q[0] | 32) <= 122):
        q += 1
    if q == p and p < end and 48 <= p[0] <= 49:
        value[0] = p[0] - 48
        return p + 1
    if not (_spells(p, q - p, zero) or _spells(p, q - p, one)):
        return NULL
    value[0] = _spells(p, q - p, one)
    return q


cdef inline const uint8_t* _field(const uint8_t* p, const uint8_t* end, const uint8_t* text_end, uint8_t kind,
                                  uint8_t separator, uint8_t chosen, int64_t* value, bint* skip) noexcept nogil:
    cdef const uint8_t* q
    cdef uint64_t h
    if kind == b"u":
        return _unsigned(p, end, text_end, value)
    if kind == b"d" or kind == b"6" or kind == b"3":
        return _decimal(p, end, text_end, 9 if kind == b"d" else kind - 48, value)
    if kind == b"x":
        return _hexadecimal(p, end, value)
    if kind == b"o":
        return NULL if p < end and 48 <= p[0] <= 57 else _choice(p, end, "read", "write", value)
    if kind == b"b":
        return _choice(p, end, "false", "true", value)
    if kind == b"U":
        skip[0] = p < end and p[0] == BRACKET
        return _unsigned(p, end, text_end, value)
    q = _word(p, end, separator)
    if kind == b"h":                                    # FNV-1a
        h = 0xCBF29CE484222325ULL
        while p < q:
            h = (h ^ p[0]) * 0x100000001B3ULL
            p += 1
        value[0] = <int64_t>((h ^ (h >> 32)) & <uint64_t>LIMIT)
    elif kind == b"=":
        skip[0] = q - p != 1 or p[0] != chosen
    elif kind == b"+":
        skip[0] = p[0] != 43
    elif kind == b"f":
        value[0] = -1
        while p < q:
            if p[0] == 82 or p[0] == 87:                # R, W
                value[0] = p[0] == 87
            p += 1
        skip[0] = value[0] < 0
    return q


cdef Py_ssize_t _line(const uint8_t* p, const uint8_t* end, const uint8_t* text_end, const uint8_t[::1] kinds,
                      uint8_t separator, bint open_ended, uint8_t chosen, int64_t[:, ::1] columns,
                      Py_ssize_t row) noexcept nogil:
    """Parse one line into `row`; returns the field at fault, counted from 1, or 0, or SKIP."""
    cdef Py_ssize_t k, n = kinds.shape[0]
    cdef const uint8_t* q
    cdef const uint8_t* stop
    cdef bint skip = False
    for k in range(n):
        while p < end and _blank(p[0]):
            p += 1
        if k and separator != 32:
            if p >= end or p[0] != separator:
                return k + 1
            p += 1
            while p < end and _blank(p[0]):
                p += 1
        if p >= end and (kinds[k] != b"s" or separator == 32):
            return k + 1
        if p < end and p[0] == QUOTE and separator != 32:
            stop = p + 1
            while stop < end and stop[0] != QUOTE:
                stop += 1
            if stop >= end or _field(p + 1, stop, text_end, kinds[k], QUOTE, chosen, &columns[k, row], &skip) != stop:
                return k + 1
            q = stop + 1
        else:
            q = _field(p, end, text_end, kinds[k], separator, chosen, &columns[k, row], &skip)
        if skip:
            return SKIP
        if q == NULL or (q < end and q[0] != separator and not _blank(q[0])):
            return k + 1
        p = q
    while p < end and _blank(p[0]):
        p += 1
    if p >= end or (open_ended and (separator == 32 or p[0] == separator)):
        return 0
    return n if open_ended else n + 1                   # text after a blank belongs to the last field


cdef inline const uint8_t* _plain_line(const uint8_t* p, const uint8_t* text_end, Py_ssize_t n,
                                       int64_t[:, ::1] columns, Py_ssize_t row) noexcept nogil:
    """Parse a line of `n` short numbers separated by one space; returns the byte after its newline, or NULL."""
    cdef uint64_t value = 0
    cdef Py_ssize_t k
    cdef int digits
    for k in range(n):
        if text_end - p < 9:
            return NULL
        digits = _digits(p, &value)
        p += digits
        if not digits or p[0] != (32 if k + 1 < n else 10):
            return NULL
        p += 1
        columns[k, row] = <int64_t>value
    return p


def parse(const uint8_t[::1] text, const uint8_t[::1] kinds, uint8_t separator, bint open_ended,
          const uint8_t[::1] passed_over, uint8_t chosen, int64_t[:, ::1] columns):
    """Parse whole lines.

    Parameters
    ----------
    text : bytes
        Whole lines; the last one may lack its newline.
    kinds : bytes
        One letter per field, see `misspenalty.traces.text.Lines`.
    separator : int
        Byte between fields; a space means any run of blanks.
    open_ended : bool
        Whether further fields may follow.
    passed_over : bytes, length 256
        Not 0 for the first bytes of lines to skip.
    chosen : int
        The byte that a field ``=`` has to be, or the line is skipped.
    columns : int64, shape (len(kinds), at least the number of rows)
        Where the values go.

    Returns
    -------
    rows, lines, field : int
        Rows filled; lines read, including the bad one; the field at fault in that line (from 1), or 0 if there is none.
    """
    cdef const uint8_t* p
    cdef const uint8_t* stop
    cdef const uint8_t* end
    cdef const uint8_t* first
    cdef Py_ssize_t rows = 0, lines = 0, field = 0, n = kinds.shape[0]
    cdef bint plain = EIGHT_AT_ONCE and separator == 32 and bytes(kinds) == b"u" * n
    if text.shape[0] == 0:
        return 0, 0, 0
    with nogil:
        p = &text[0]
        stop = p + text.shape[0]
        while p < stop:
            if plain:
                end = _plain_line(p, stop, n, columns, rows)
                if end != NULL:
                    p = end
                    lines += 1
                    rows += 1
                    continue
            end = <const uint8_t*>memchr(p, 10, stop - p)
            if end == NULL:
                end = stop
            lines += 1
            first = p
            while first < end and _blank(first[0]):
                first += 1
            if first < end and not passed_over[first[0]]:
                field = _line(first, end, stop, kinds, separator, open_ended, chosen, columns, rows)
                if field > 0:
                    break
                if field == 0:
                    rows += 1
                field = 0
            p = end + 1
    return rows, lines, field
