# Placement of the host's pages: the host stripes each unit over a few arrays, and the controller does not know this.
# The controller sees one volume per array, so a sequential stream of the host looks like several slower ones. A part is
# the share of a unit that one array stores; parts are consecutive in the controller's page numbers.

from libc.stdint cimport int64_t

from misspenalty._divide cimport divisor_t, quotient
from misspenalty_studies.sarc.array._requests cimport arrival_t


cdef struct stripes_t:
    divisor_t strip                 # consecutive pages of a unit on one array; longer than any unit = not striped
    divisor_t width                 # arrays over which a unit is striped
    divisor_t track                 # pages of a track


cdef struct stretch_t:              # contiguous pages of a request in one track
    int64_t track                   # number of the track
    int64_t first                   # first page within the track
    int64_t pages                   # number of pages
    int64_t end                     # track at which the part ends and prefetching stops


cdef inline int64_t placed(const stripes_t* stripes, const arrival_t* asked, int64_t page) noexcept nogil:
    """Return the controller's number of one of the host's pages."""
    cdef int64_t offset = page - asked.base, strip = quotient(offset, &stripes.strip)
    cdef int64_t turn = quotient(strip, &stripes.width)
    return asked.base + (strip - turn * stripes.width.n) * asked.part + offset - (strip - turn) * stripes.strip.n


cdef inline stretch_t next_stretch(const stripes_t* stripes, const arrival_t* asked, int64_t page) noexcept nogil:
    """Return the pages of a request, from a given one on, that are contiguous and in one track."""
    cdef stretch_t found
    cdef int64_t offset = page - asked.base, strip = quotient(offset, &stripes.strip)
    cdef int64_t turn = quotient(strip, &stripes.width)
    cdef int64_t part = strip - turn * stripes.width.n, within = offset - strip * stripes.strip.n
    cdef int64_t at = asked.base + part * asked.part + turn * stripes.strip.n + within
    found.track = quotient(at, &stripes.track)
    found.first = at - found.track * stripes.track.n
    found.pages = min(asked.page + asked.pages - page, stripes.track.n - found.first)
    found.pages = min(found.pages, stripes.strip.n - within)
    found.end = quotient(asked.base + (part + 1) * asked.part, &stripes.track)
    return found
