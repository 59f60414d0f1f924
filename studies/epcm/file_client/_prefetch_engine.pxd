# Declare the prefetch engine, which fetches predicted files into the page cache.

from libc.stdint cimport int32_t, int64_t

from misspenalty.prefetch.predictors._predictor cimport Predictor
from misspenalty_studies.epcm.file_client._read_ahead cimport ReadAhead


cdef class PrefetchEngine(ReadAhead):
    cdef int32_t* path_of           # path under which each of the predictor's files was last seen
    cdef Py_ssize_t files           # number of the predictor's files
    cdef Predictor predictor        # None = no prefetching
    cdef int64_t engine_time        # processor time of predictor and engine for each open and exec, ns
    cdef int64_t most_pages         # maximum number of pages prefetched per file
    cdef readonly int64_t files_ahead   # prefetches that fetched or copied anything
    cdef readonly int64_t pages_ahead   # pages that the engine fetched or copied
    cdef readonly int64_t right     # events on the first file of the latest prediction
    cdef readonly int64_t right_time    # total time from the prediction to these events, ns
    cdef int64_t predicted_at       # time at which the predictor's current list was made, ns

    cdef int64_t look_ahead(self, int32_t file, int64_t now) except -1 nogil
    cdef int64_t prefetch(self, int32_t path, int64_t place, int64_t now) except -1 nogil
