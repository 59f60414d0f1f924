# Declare the record of a call in the file client's kernels, and the components of the elapsed time.

from libc.stdint cimport int32_t, int64_t

cdef enum:
    SHIFT = 12                      # a page is 4096 bytes
    BYTES = 4096

cdef enum call_t:                   # kinds of call
    COMPUTE = 0                     # no call, only the compute before it
    EXEC = 1
    INTERPRETER = 2                 # the kernel opens an exec's interpreter
    OPEN = 3
    CREATE = 4                      # an open that creates or truncates the file
    READ = 5
    WRITE = 6
    FAULT = 7
    LOOKUP = 8                      # a lookup of a path that exists
    SEARCH = 9                      # a lookup of a path that does not exist
    TRUNCATE = 10                   # the file's size becomes `offset` bytes
    UNLINK = 11
    RENAME = 12                     # the file moves to the path in `asked`
    CALLS = 13

cdef enum:                          # components of the elapsed time
    GAPS = 0                        # compute between the calls
    READ_CALLS = 1                  # processor time of read calls, except buffer copies
    COPIES_IN_READS = 2             # buffer-to-page copies
    COPIES_IN_FAULTS = 3
    COPIES_AHEAD = 4                # copies by the prefetch engine, inside open, create and exec
    ENGINE = 5                      # processor time of predictor and prefetch engine, except copies
    WAIT_READ = 6                   # I/O wait of read calls
    WAIT_FAULT = 7
    WAIT_OPEN = 8                   # I/O wait of open, stat and all other calls that walk a path
    WAIT_EXEC = 9                   # I/O wait of exec and of opening its interpreter, which WAIT_OPEN leaves out
    WAIT_OTHER = 10                 # I/O wait to drop or write data, and to get frames for pages and prefetches
    COMPONENTS = 11


cdef struct call_record_t:
    int64_t gap                     # recorded compute before the call, ns
    int64_t offset                  # bytes
    int64_t length                  # bytes moved; open, exec: size of the file
    int64_t asked                   # bytes requested; rename: the target's path
    int32_t path                    # number of the path; NOTHING = none
    int32_t file                    # the predictor's number of the file; NOTHING = the call is not an event
    int32_t kind                    # call_t
    int32_t unused                  # pads the record to a whole number of 8-byte words
