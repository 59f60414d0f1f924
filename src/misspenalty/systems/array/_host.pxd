# Where the host puts its pages: it stripes each unit over a few arrays, which the controller does not know.
# The controller sees one volume per array, so a sequential stream of the host looks like several slower ones. A part is
# a unit's share of one array; parts are consecutive in the controller's page numbers.

from libc.stdint cimport int64_t

from misspenalty.systems.array._requests cimport arrival_t


cdef struct stripes_t:
    int64_t strip                   # consecutive pages of a unit on one array; longer than any unit = not striped
    int64_t width                   # arrays a unit is striped over


cdef struct stretch_t:              # contiguous pages of a request in one track
    int64_t track                   # which track
    int64_t first                   # first page within the track
    int64_t pages                   # how many
    int64_t end                     # track at which the part ends: nothing is prefetched from there on


cdef inline int64_t placed(const stripes_t* stripes, const arrival_t* asked, int64_t page) noexcept nogil:
    """The controller's number of one of the host's pages."""
    cdef int64_t strip = (page - asked.base) // stripes.strip
    return (
        asked.base + strip % stripes.width * asked.part + strip // stripes.width * stripes.strip
        + (page - asked.base) % stripes.strip
    )


cdef inline stretch_t next_stretch(
    const stripes_t* stripes, const arrival_t* asked, int64_t page, int64_t track
) noexcept nogil:
    """The next pages of a request, starting with a given one."""
    cdef stretch_t found
    cdef int64_t at = placed(stripes, asked, page)
    found.track = at // track
    found.first = at - found.track * track
    found.pages = min(asked.page + asked.pages - page, track - found.first)
    found.pages = min(found.pages, stripes.strip - (page - asked.base) % stripes.strip)
    found.end = (asked.base + ((at - asked.base) // asked.part + 1) * asked.part) // track
    return found
