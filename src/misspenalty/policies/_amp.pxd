# AMP: sequential prefetching whose degree and trigger distance adapt to each stream; the definition is in
# misspenalty.prefetch.sequential.amp.
# A set is the group of tracks that one prefetch reads. Its last track keeps the degree (number of tracks) of the next
# set and the trigger distance, so there is no table of streams: cached tracks hold all state.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from misspenalty.policies._track_cache cimport (
    AGED, ASYNCHRONOUS, FIRST, SYNCHRONOUS, TRIGGER, UNREAD, TrackCache, bring, mark_t,
)


cdef inline mark_t* last_of(TrackCache cache, int64_t last) noexcept nogil:
    """Return the mark of track `last` if the track is cached and still the last track of a set; else NULL."""
    cdef mark_t* mark = cache.mark(last) if last < cache.tracks else NULL
    return mark if mark != NULL and mark.degree else NULL


cdef inline mark_t* last_in_sequence(TrackCache cache, int64_t last) noexcept nogil:
    """Return the mark of the last track of the set after `last` if that set was fetched, else the mark of `last`."""
    cdef mark_t* own = last_of(cache, last)
    cdef mark_t* after = cache.mark(last + 1) if own != NULL and last + 1 < cache.tracks else NULL
    cdef mark_t* end = last_of(cache, last + 1 + after.to_last) if after != NULL else NULL
    return end if end != NULL else own


cdef inline void fetch_set(TrackCache cache, int64_t before, int64_t length, int64_t end, uint8_t why) noexcept nogil:
    """Put the tracks after `before` into the cache as a set, which takes over the degree and distance of `before`."""
    cdef int64_t last = min(before + length, end - 1), t
    cdef mark_t* mark = last_of(cache, before)
    cdef int32_t degree = mark.degree if mark != NULL else <int32_t>length
    cdef int32_t distance = mark.distance if mark != NULL else 0
    cdef uint8_t missing
    for t in range(before + 1, last + 1):
        mark = bring(cache, t, why, &missing)
        if mark != NULL:
            mark.flags = UNREAD
            if t == before + 1 and missing and why == ASYNCHRONOUS:
                mark.flags |= FIRST
            mark.to_last = <uint16_t>(last - t)
            mark.degree = mark.distance = 0
    if last <= before:
        return
    mark = cache.mark(last)
    if mark != NULL:
        mark.degree = <uint16_t>degree
        mark.distance = <uint16_t>distance
    if degree > cache.sequential.ahead_above and last + 1 < end:
        mark = cache.mark(max(before + 1, last - distance))
        if mark != NULL:
            mark.flags |= TRIGGER


cdef inline void fetch_set_behind_miss(TrackCache cache, int64_t track, int32_t counter, int64_t end) noexcept nogil:
    """Handle a miss on a sequential track: fetch the track, then a set.

    The length of the set is the degree of the preceding track or, if that track has none, the length of the read, up to
    the maximum.
    """
    cdef mark_t* mark = last_of(cache, track - 1)
    cdef int32_t degree = mark.degree if mark != NULL else 0
    cache.insert(track, cache.whole, True)
    cache.set_counter(track, counter)
    mark = cache.mark(track)
    if mark != NULL:
        mark.degree = <uint16_t>min(degree + cache.read_tracks, cache.sequential.most)
        if mark.degree > cache.sequential.ahead_above:
            mark.distance = <uint16_t>(cache.sequential.ahead_above // 2)
    fetch_set(cache, track, degree if degree else min(cache.read_tracks, cache.sequential.most), end, SYNCHRONOUS)


cdef inline void hit_in_set(TrackCache cache, int64_t track, bint new, int64_t end) noexcept nogil:
    """Handle a read of a cached track; `new` says whether this is its first read since it was prefetched."""
    cdef mark_t* mark = cache.mark(track)
    cdef mark_t* kept
    cdef int64_t last = track + mark.to_last, length = 0
    if mark.flags & TRIGGER:
        mark.flags &= ~TRIGGER
        kept = last_of(cache, last)
        length = kept.degree if kept != NULL else min(cache.read_tracks, cache.sequential.most)
    if new and mark.to_last == 0 and not mark.flags & AGED:
        kept = last_in_sequence(cache, last)
        if kept != NULL:
            kept.degree = <uint16_t>min(kept.degree + cache.read_tracks, cache.sequential.most)
    if length:
        fetch_set(cache, last, length, end, ASYNCHRONOUS)


cdef inline void pass_by(TrackCache cache, int64_t track, mark_t* mark) noexcept nogil:
    """Handle a track that reaches the LRU end unread: lower its stream's degree and distance, which are too high."""
    cdef mark_t* kept = last_in_sequence(cache, track + mark.to_last)
    mark.flags = (mark.flags | AGED) & ~TRIGGER
    if kept != NULL:
        kept.degree = max(kept.degree - 1, 1)
        kept.distance = min(max(kept.distance - 1, 0), kept.degree - 1)


cdef inline void grow_distance(TrackCache cache, int64_t track) noexcept nogil:
    """Handle a set fetched ahead that arrives while a read waits for its first track.

    Raise the trigger distance by 1, up to the maximum, and the degree to at least the distance plus 1.
    """
    cdef mark_t* mark = cache.mark(track)
    cdef mark_t* kept
    if mark == NULL or not mark.flags & FIRST:
        return
    mark.flags &= ~FIRST
    kept = last_in_sequence(cache, track + mark.to_last)
    if kept != NULL:
        kept.distance = <uint16_t>min(kept.distance + 1, cache.sequential.most - 1)
        kept.degree = max(kept.degree, kept.distance + 1)
