"""Hash texts to numbers, for tables whose keys are text."""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint64_t


def hash_texts(const int32_t[::1] offsets, const uint8_t[::1] data):
    """Return the FNV-1a hashes of texts, folded to 63 bits; uint64, shape (texts,).

    Parameters
    ----------
    offsets : int32, shape (texts + 1,)
        Where each text begins in `data`, and where the last one ends, as in an Arrow array.
    data : uint8
    """
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    cdef int32_t at
    cdef uint64_t h
    result = np.empty(n, np.uint64)
    cdef uint64_t[::1] out = result
    with nogil:
        for i in range(n):
            h = 0xCBF29CE484222325ULL
            for at in range(offsets[i], offsets[i + 1]):
                h = (h ^ data[at]) * 0x100000001B3ULL
            out[i] = (h ^ (h >> 32)) & <uint64_t>0x7FFFFFFFFFFFFFFF
    return result
