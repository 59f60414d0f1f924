"""Test the sequential prefetcher on traces worked out by hand and against closed forms, and test kernels against
references."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.behind import BehindReference

from misspenalty import ParameterError, Trace, hit_ratio_curve, simulate
from misspenalty.cli.arguments import parse_prefetch
from misspenalty.cli.main import main
from misspenalty.policies import find_policy, libcachesim
from misspenalty.policies.track_cache import ASYNCHRONOUS, DEMAND, SYNCHRONOUS
from misspenalty.policies.track_layout import places
from misspenalty.policies.tracks import TrackLists
from misspenalty.prefetch.sequential._behind import Behind
from misspenalty.prefetch.sequential.prefetcher import track_cache

LISTED = ["sarc", "lru_top", "lru_bottom"]
OTHERS = ["lru", "arc", "mq", "lirs", "s3fifo"]
OWN = {
    "sarc": st.fixed_dictionaries(
        {
            "delta": st.sampled_from([0.0, 0.05, 0.3, 1.0]),
            "large_ratio": st.sampled_from([0.0, 1.0, 20.0]),
            "count_writes": st.integers(0, 1),
        }
    ),
    "lru_bottom": st.fixed_dictionaries({"insertion": st.sampled_from([0.0, 0.1, 0.3, 1.0])}),
}


def whole_tracks(cache, *tracks):
    """Access whole tracks; return the missing pages and the reads of each access."""
    return [cache.access_pages(track) for track in tracks]


def test_synchronous_and_asynchronous_prefetch_traced_by_hand():
    # With threshold 2, track 10 has counter 1 and track 11 has counter 2, so 11 is a sequential miss, which also
    # fetches 12, 13 and 14. The trigger is one track from the end, on 13: the hit there fetches 15, 16 and 17 and puts
    # a trigger on 16.
    cache = track_cache("lru_top", 50, 100, prefetch={"threshold": 2, "degree": 3, "trigger": 1})
    assert whole_tracks(cache, 10, 11, 12, 13, 14, 15, 16) == [
        (1, [(10, 1, DEMAND)]),
        (1, [(11, 1, DEMAND), (12, 1, SYNCHRONOUS), (13, 1, SYNCHRONOUS), (14, 1, SYNCHRONOUS)]),
        (0, []),
        (0, [(15, 1, ASYNCHRONOUS), (16, 1, ASYNCHRONOUS), (17, 1, ASYNCHRONOUS)]),
        (0, []),
        (0, []),
        (0, [(18, 1, ASYNCHRONOUS), (19, 1, ASYNCHRONOUS), (20, 1, ASYNCHRONOUS)]),
    ]
    assert (cache.tracks_staged, cache.sequential_misses) == ((2, 3, 6), 1)
    assert (cache.seq_pages, cache.random_pages) == (10, 1)


def test_tracks_of_pages_traced_by_hand():
    # Tracks have four pages. Pages 0 and 1 of track 5 are read alone, and so is page 2 later. Track 6 continues the run
    # of track 5, so all of 6 is read although one page is requested, and all of 7 is read, too. Page 3 of track 5 is a
    # miss in a track that is cached.
    cache = track_cache("lru_top", 40, 100, track_pages=4, prefetch={"threshold": 2, "degree": 1, "trigger": -1})
    assert cache.access_pages(5, 0b0011) == (0b0011, [(5, 0b0011, DEMAND)])
    assert cache.access_pages(5, 0b0110) == (0b0100, [(5, 0b0100, DEMAND)])
    assert cache.access_pages(6, 0b0001) == (0b0001, [(6, 0b1111, DEMAND), (7, 0b1111, SYNCHRONOUS)])
    assert cache.access_pages(5, 0b1000) == (0b1000, [(5, 0b1000, DEMAND)])
    assert cache.access_pages(7, 0b1000) == (0, [])
    assert (cache.seq_pages, cache.random_pages, cache.resident) == (8, 4, 12)


@pytest.mark.parametrize("policy", [*LISTED, *OTHERS])
def test_track_0_has_no_track_before_it(policy):
    # At threshold 1 every track continues a run if the one before it is cached. Track 0 has none before it and is read
    # alone, whatever lies in memory before the first slot.
    cache = track_cache(policy, 50, 100, prefetch={"threshold": 1, "degree": 2, "trigger": 0})
    for _ in range(2):
        assert cache.access_pages(99) in ((1, [(99, 1, DEMAND)]), (0, []))
    assert cache.access_pages(0) == (1, [(0, 1, DEMAND)])
    assert cache.sequential_misses == 0
    assert cache.access_pages(1) == (1, [(1, 1, DEMAND), (2, 1, SYNCHRONOUS), (3, 1, SYNCHRONOUS)])
    assert cache.sequential_misses == 1


def test_writes_enter_but_read_nothing():
    # Writes count towards a run: 9 is its second track, goes to SEQ with its two pages, and nothing is fetched. The
    # read of a page of 9 that was not written reads all the rest, as 9 is sequential; then 10 is a sequential miss.
    settings = {"threshold": 2, "degree": 1, "trigger": 0}
    cache = track_cache("lru_top", 40, 100, track_pages=4, prefetch=settings)
    assert cache.access_pages(8, 0b1111, write=True) == (0b1111, [])
    assert cache.access_pages(9, 0b0011, write=True) == (0b0011, [])
    assert (cache.seq_pages, cache.random_pages, cache.sequential_misses) == (2, 4, 0)
    assert cache.access_pages(9, 0b0100) == (0b0100, [(9, 0b1100, DEMAND)])
    assert cache.access_pages(10) == (0b1111, [(10, 0b1111, DEMAND), (11, 0b1111, SYNCHRONOUS)])
    assert cache.access_pages(11, write=True) == (0, [])  # the trigger stays where it is
    assert cache.access_pages(11) == (0, [(12, 0b1111, ASYNCHRONOUS)])
    plain = track_cache("lru_top", 40, 100, track_pages=4, prefetch=settings | {"writes_sequential": 0})
    for track in (8, 9):
        plain.access_pages(track, write=True)
    assert (plain.seq_pages, plain.random_pages) == (0, 8)


def test_a_volume_ends():
    # With degree 4, the miss on 18 in a volume that ends with 20 fetches only 19 and 20, and sets no trigger.
    cache = track_cache("lru_top", 50, 100, prefetch={"threshold": 2, "degree": 4, "trigger": 0})
    cache.access_pages(17, end=21)
    assert cache.access_pages(18, end=21)[1] == [(18, 1, DEMAND), (19, 1, SYNCHRONOUS), (20, 1, SYNCHRONOUS)]
    assert whole_tracks(cache, 19, 20) == [(0, []), (0, [])]


def test_the_counter_stays_until_the_track_leaves():
    # 4 is read alone and has counter 1; that 3 enters the cache later does not change this, so 5 has counter 2, not 3.
    cache = track_cache("lru_top", 50, 100, prefetch={"threshold": 3, "degree": 2, "trigger": -1})
    whole_tracks(cache, 4, 3, 4, 5)
    assert cache.sequential_misses == 0
    assert cache.access_pages(6)[1] == [(6, 1, DEMAND), (7, 1, SYNCHRONOUS), (8, 1, SYNCHRONOUS)]


def test_a_prefetched_track_has_no_counter_before_its_first_access():
    # The miss on 11 fetches 12 to 14. 15 follows a track that nothing has accessed, so it has counter 1 and is read
    # alone, as is 17, which follows an absent track. Once 12, 13 and 14 are read in order they are sequential, and 16
    # continues the run of 15.
    cache = track_cache("lru_top", 50, 100, prefetch={"threshold": 2, "degree": 3, "trigger": -1})
    whole_tracks(cache, 10, 11)
    assert whole_tracks(cache, 15, 17) == [(1, [(15, 1, DEMAND)]), (1, [(17, 1, DEMAND)])]
    whole_tracks(cache, 12, 13, 14)
    assert cache.sequential_misses == 1
    assert cache.access_pages(16)[1] == [(16, 1, DEMAND)] + [(track, 1, SYNCHRONOUS) for track in (18, 19)]
    # If the same group is read out of order, it is not a stream: 14, which follows the unread 13, has counter 1.
    cache = track_cache("lru_top", 50, 100, prefetch={"threshold": 3, "degree": 3, "trigger": -1})
    whole_tracks(cache, 10, 11, 12, 15)
    assert whole_tracks(cache, 14, 16) == [(0, []), (1, [(16, 1, DEMAND)])]


@pytest.mark.parametrize("policy", [*LISTED, "lru", "fifo"])
@pytest.mark.parametrize("degree", [0, 1, 3, 8])
@pytest.mark.parametrize("threshold", [2, 5])
def test_without_triggers_a_stream_misses_once_per_group(policy, degree, threshold):
    """The miss ratio must fall to 1 / (m + 1), as section II-B says."""
    length = 2000
    prefetch = {"degree": degree, "trigger": -1, "threshold": threshold}
    cache = track_cache(policy, 200, length + degree, prefetch=prefetch)
    misses = sum(missing != 0 for missing, _ in whole_tracks(cache, *range(length)))
    assert misses == threshold - 1 + -(-(length - threshold + 1) // (degree + 1))


@pytest.mark.parametrize("trigger", [0, 3, 7])
def test_a_stream_has_one_sequential_miss_with_triggers(trigger):
    """With asynchronous prefetching, no further miss may occur, as section II-B says."""
    cache = track_cache("lru_top", 200, 3000, prefetch={"degree": 8, "trigger": trigger, "threshold": 2})
    missing = [missing for missing, _ in whole_tracks(cache, *range(2000))]
    assert np.flatnonzero(missing).tolist() == [0, 1]


def round_robin(capacity, remedy, trigger=4, streams=10, length=400):
    """Count the misses of interleaved streams."""
    cache = track_cache(
        "lru_top",
        capacity,
        streams * 1000,
        prefetch={"degree": 8, "trigger": trigger, "threshold": 2, "remedy": remedy},
    )
    return sum(cache.access_pages(s * 1000 + at)[0] != 0 for at in range(length) for s in range(streams))


def test_more_cache_can_mean_more_misses_but_not_with_the_remedy():
    """The new group must enter above the unread rest of the current one, which is needed sooner (section II-C)."""
    sizes = range(20, 260, 10)
    plain, remedied = ([round_robin(size, remedy) for size in sizes] for remedy in (0, 1))
    assert any(more > less for less, more in itertools.pairwise(plain))
    assert remedied == sorted(remedied, reverse=True)
    assert all(ours <= theirs for ours, theirs in zip(remedied, plain, strict=True))
    assert remedied[-1] == plain[-1] == 2 * 10  # the first two tracks of each stream


@pytest.mark.parametrize("threshold", [2, 4])
def test_lru_behind_the_prefetcher_is_lru_top(threshold):
    """LRU and LRU Top must do the same, except that LRU Top promotes a prefetched track that is already cached.

    To avoid that case, random tracks are far apart here, and the cache holds every group until it is read.
    """
    rng = np.random.default_rng(4)
    streams, n = 1000 * rng.integers(0, 3, 6000), np.zeros(3, int)
    tracks = []
    for stream, random in zip(streams, rng.random(6000) < 0.5, strict=True):
        tracks.append(5000 + 10 * int(rng.integers(0, 60)) if random else int(stream + n[stream // 1000]))
        n[stream // 1000] += not random
    prefetch = {"degree": 4, "trigger": 2, "threshold": threshold, "remedy": 0}
    ours, plain = (track_cache(name, 90, 6000, prefetch=prefetch) for name in ("lru_top", "lru"))
    assert whole_tracks(ours, *tracks) == whole_tracks(plain, *tracks)
    assert (ours.evictions, ours.resident) == (plain.evictions, plain.resident)
    assert ours.sequential_misses < 6 and ours.evictions > 3000


def test_tracks_evicted_unread_are_counted_when_they_are_requested_again():
    """A policy does not report its victims, so 12, 13 and 14, evicted unread, are counted only when they come back."""
    cache = track_cache("lru", 4, 100, prefetch={"threshold": 2, "degree": 3, "trigger": -1})
    whole_tracks(cache, 10, 11, 50, 60, 70, 80)
    assert not any(track in cache for track in (12, 13, 14)) and cache.unused == 0
    whole_tracks(cache, 12)
    assert cache.unused == 1
    assert whole_tracks(cache, 13)[0][1][1:] == [(14, 1, SYNCHRONOUS), (15, 1, SYNCHRONOUS), (16, 1, SYNCHRONOUS)]
    assert cache.unused == 3
    whole_tracks(cache, 90, 91, 92, 93, 50)
    assert cache.unused == 3  # 15 and 16 have not come back


def test_ghost_hits_behind_the_prefetcher_are_the_policys():
    """Nothing is prefetched, so ARC must see the accesses themselves."""
    tracks = np.random.default_rng(6).zipf(1.2, 4000) % 300
    behind, alone = track_cache("arc", 40, 300), find_policy("arc").kernel(40, 300)
    whole_tracks(behind, *tracks.tolist())
    alone.replay(tracks.astype(np.uint32), np.zeros(tracks.size, np.uint8))
    assert (behind.ghost_hits, behind.evictions) == (alone.ghost_hits, alone.evictions)
    assert alone.ghost_hits > 100


class Pages:
    """A policy's kernel with the interface that the reference calls."""

    def __init__(self, name, capacity, pages):
        definition = find_policy(name)
        self.capacity, self.kernel = capacity, definition.kernel(capacity, pages, **definition.check({}))

    def __contains__(self, page):
        return page in self.kernel

    def access_block(self, page):
        self.kernel.replay(np.array([page], np.uint32), np.empty(1, np.uint8))


@st.composite
def prefetchers(draw):
    degree = draw(st.integers(0, 8))
    settings = {"degree": degree, "trigger": draw(st.integers(-1, max(degree - 1, -1)))}
    settings |= {"threshold": draw(st.integers(1, 4)), "remedy": draw(st.integers(0, 1))}
    return settings | {"writes_sequential": draw(st.integers(0, 1))}


@st.composite
def accesses(draw, track_pages):
    """Draw runs from random tracks, so that streams meet and overlap."""
    run = st.tuples(st.integers(0, 39), st.integers(1, 8), st.integers(1, (1 << track_pages) - 1), st.booleans())
    runs = draw(st.lists(run, min_size=1, max_size=25))
    return [(first + i, pages, write) for first, length, pages, write in runs for i in range(length) if first + i < 40]


@pytest.mark.parametrize("name", LISTED + OTHERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_kernel_equals_reference(name, data):
    track_pages = data.draw(st.sampled_from([1, 2, 8]))
    capacity = track_pages * data.draw(st.integers(1, 12)) + data.draw(st.integers(0, track_pages - 1))
    prefetch, own = data.draw(prefetchers()), data.draw(OWN.get(name, st.just({})))
    kernel = track_cache(name, capacity, 40, track_pages=track_pages, prefetch=prefetch, **own)
    if name in LISTED:
        reference = find_policy(name).reference(capacity, track_pages=track_pages, **prefetch, **own)
    else:
        reference = BehindReference(Pages(name, capacity, 40 * track_pages), track_pages, **prefetch)
    requests = data.draw(accesses(track_pages))
    assert requests
    for track, pages, write in requests:
        end = 40 if track >= 20 else data.draw(st.sampled_from([20, 40]))
        assert kernel.access_pages(track, pages, write, end) == (
            reference.request(track, pages, write, end),
            reference.reads,
        )
        assert kernel.resident <= capacity
        assert (kernel.tracks_staged, kernel.sequential_misses) == (
            tuple(reference.staged),
            reference.sequential_misses,
        )
        if isinstance(reference, TrackLists):
            same_lists(kernel, reference)


def same_lists(kernel, reference):
    assert kernel.seq_pages == reference.size(reference.seq) and kernel.random_pages == reference.size(reference.random)
    assert kernel.resident == kernel.seq_pages + kernel.random_pages
    for name in ("evictions", "unused", "bottom_hits", "seq_miss", "adapt", "last_ratio"):
        assert getattr(kernel, name) == getattr(reference, name)
    assert kernel.running_ratio == reference.ratio()
    assert kernel.desired == getattr(reference, "desired", 0)
    assert 0 <= kernel.desired <= kernel.capacity


@given(
    st.lists(st.integers(0, 300) | st.integers(0, 2**64 - 1), min_size=1, max_size=60, unique=True), st.integers(0, 9)
)
def test_places_preserve_order_and_distances_up_to_the_reach(addresses, reach):
    place, length = places(addresses, reach)
    by_address = sorted(zip(addresses, place.tolist(), strict=True))
    assert by_address[0][1] == 1 and by_address[-1][1] + reach < length
    for (before, at), (after, then) in itertools.pairwise(by_address):
        assert then - at == min(after - before, reach + 2)


def test_a_trace_is_prefetched_as_its_addresses_are():
    """Blocks far apart in the address space must behave as in one large array of tracks."""
    rng = np.random.default_rng(7)
    starts, lengths = rng.integers(0, 3000, 200) * 7, rng.integers(1, 30, 200)
    runs = np.concatenate([start + np.arange(length) for start, length in zip(starts, lengths, strict=True)])
    far = runs.astype(np.uint64) + np.uint64(1 << 40) * (runs > 9000)
    for name in ("sarc", "lru_bottom"):
        hits = np.zeros(runs.size, bool)
        result = simulate(Trace.from_blocks(far), name, 400, prefetch={"degree": 4}, hits=hits)
        reference = find_policy(name).reference(400, degree=4, trigger=2)
        assert hits.tolist() == [reference.access(int(address)) for address in far]
        assert result.evictions == reference.evictions


@pytest.mark.parametrize("definition", [libcachesim.SLRU_DEFINITION, libcachesim.LIRS_DEFINITION])
def test_a_definition_works_behind_the_prefetcher_without_being_registered(definition):
    """W-TinyLFU's definition is left out, because its outcomes depend on how the reference numbers blocks."""
    rng = np.random.default_rng(8)
    addresses = np.concatenate([start + np.arange(12) for start in rng.zipf(1.3, 300) % 900])
    hits = np.zeros(addresses.size, bool)
    simulate(Trace.from_blocks(addresses), definition, 150, prefetch={"degree": 4}, hits=hits)
    reference = BehindReference(Pages(definition, 150, 1000), degree=4, trigger=2)
    assert hits.tolist() == [reference.request(int(address), 1, False, 1000) == 0 for address in addresses]
    assert 0 < np.count_nonzero(hits) < hits.size


def test_a_definition_is_used_itself_and_not_the_policy_that_has_its_name():
    trace = Trace.from_blocks([1, 50, 1, 99, 1, 50])  # LRU hits 1 twice; FIFO has evicted 1 before its last use
    named_so = dataclasses.replace(find_policy("fifo"), name="lru")
    hits = {each.name: simulate(trace, each, 2).hits for each in map(find_policy, ("lru", "fifo"))}
    assert hits == {"lru": 2, "fifo": 1}
    assert simulate(trace, named_so, 2, prefetch={"degree": 0}).hits == hits["fifo"]


def test_prefetching_serves_a_scan():
    trace = Trace.from_blocks(np.arange(10_000))
    table = hit_ratio_curve(trace, "lru", [20, 100, 1000], prefetch="sequential", threads=2)
    assert table["hits"].tolist() == [10_000 - 3] * 3
    assert hit_ratio_curve(trace, "lru", [10])["hits"].tolist() == [0]


@pytest.mark.parametrize("settings", ["Sequential", {"kind": "SEQUENTIAL"}])
def test_a_prefetcher_is_found_in_upper_case(settings):
    trace = Trace.from_blocks(np.arange(1000))
    assert simulate(trace, "lru", 100, prefetch=settings) == simulate(trace, "lru", 100, prefetch="sequential")
    assert parse_prefetch("AMP:most=16") == parse_prefetch("amp:most=16")


@pytest.mark.parametrize(
    "settings, message",
    [
        ("fancy", "prefetch is 'fancy'; expected 'sequential'"),
        (8, "prefetch is 8"),
        ({"degre": 8}, r"prefetch has no parameter 'degre', did you mean 'degree'\?; it has degree, trigger"),
        ({"degree": 257}, "prefetch: degree is 257; expected a whole number from 0 to 256"),
        ({"degree": -1}, "prefetch: degree is -1"),
        ({"degree": 4, "trigger": 4}, "prefetch: trigger is 4, degree 4; expected a trigger below the degree"),
        ({"degree": 0, "trigger": 1}, "prefetch: trigger is 1, degree 0"),
        ({"threshold": 0}, "prefetch: threshold is 0"),
        ({"threshold": float("nan")}, "prefetch: threshold is nan"),
        ({"remedy": 2}, "prefetch: remedy is 2"),
        ({"degree": 256, "trigger": 256}, "prefetch: trigger is 256; expected a whole number from -1 to 255"),
        ({"kind": "amp", "most": 257}, "prefetch: most is 257"),
        ({"kind": "amp", "ahead_above": 257}, "prefetch: ahead_above is 257"),
    ],
)
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ParameterError, match=message):
        simulate(Trace.from_blocks([1, 2, 3]), "lru", 2, prefetch=settings)


def test_the_threshold_is_given_once():
    trace = Trace.from_blocks(np.arange(50))
    misses = [simulate(trace, "sarc", 20, prefetch={"threshold": t}).misses for t in (3, 5)]
    assert misses == [3, 5]
    assert simulate(trace, "sarc", 20, prefetch="sequential", threshold=5).misses == 5
    simulate(trace, "s3fifo", 20, prefetch={"threshold": 3}, threshold=1)  # the latter is S3-FIFO's own
    with pytest.raises(ParameterError, match="sarc: threshold is 5, but prefetch has 3; expected only one of them"):
        simulate(trace, "sarc", 20, prefetch={"threshold": 3}, threshold=5)


def test_the_kernel_refuses_settings_and_policies_that_it_cannot_use():
    lru, opt = find_policy("lru").kernel(5, 16), find_policy("opt").kernel(5, 100)
    assert Behind(5, 4, lru, track_pages=4, tracks=4).tracks == 4
    with pytest.raises(TypeError, match="Behind has no setting degre or life_time"):
        Behind(5, 16, lru, degre=8, life_time=3)
    with pytest.raises(TypeError, match=r"LRU of 16 blocks .*; expected an online policy of at least 20 blocks"):
        Behind(5, 5, lru, track_pages=4, tracks=5)
    with pytest.raises(TypeError, match="OPT of 100 blocks cannot be used behind a prefetcher of 16 tracks"):
        Behind(5, 16, opt)


def test_what_cannot_be_prefetched_is_refused():
    with pytest.raises(ParameterError, match="opt looks into the future: it cannot be used behind a prefetcher"):
        simulate(Trace.from_blocks([1, 2, 3]), "opt", 2, prefetch="sequential")
    written = type("Written", (), {"__init__": lambda self, capacity: None, "access": lambda self, block: False})
    for policy, prefetch in (("tinylfu+gdsf", None), ("TinyLFU+GDSF", "sequential"), (written, None), (written, "amp")):
        with pytest.raises(
            ParameterError, match=r"(tinylfu\+gdsf|Written) is written in Python and cannot .* compiled"
        ):
            track_cache(policy, 70, 100, prefetch=prefetch)
    with pytest.raises(ParameterError, match="lru behind a prefetcher"):
        hit_ratio_curve(Trace.from_blocks([1, 2, 3]), "lru", prefetch="sequential")
    with pytest.raises(ParameterError, match="a track has 8 pages; expected 1 to 8, and no more than the cache"):
        track_cache("sarc", 7, 100, track_pages=8)
    for pages in (-1, 0, 9, 1 << 40):
        with pytest.raises(ParameterError, match=f"sarc: track_pages is {pages}; expected a whole number from 1 to 8"):
            track_cache("sarc", 70, 100, track_pages=pages)
    for wanted in ({}, {"tracks": 5, "address": [1, 2]}):
        with pytest.raises(ParameterError, match="either the number of tracks or the addresses"):
            track_cache("sarc", 70, **wanted)
    for tracks in (-5, 0, 1.5, 0xFFFFFFF1, 1 << 70):
        with pytest.raises(ParameterError, match=f"arc: tracks is {tracks}; expected a whole number from 1 to"):
            track_cache("arc", 70, tracks)
    for capacity in (-5, 0, 1.5, 1 << 70):
        with pytest.raises(ParameterError, match=f"cache size is {capacity} blocks; expected a whole number"):
            track_cache("sarc", capacity, 10)
    with pytest.raises(ParameterError, match=r"arc: 1073741824 tracks of 8 pages; expected fewer than 2\*\*32 pages"):
        track_cache("arc", 70, 1 << 30, track_pages=8)
    cache = track_cache("sarc", 70, 10)
    for wrong in ((-1,), (10,), (5, 2), (5, 0), (5, 1, False, 4), (5, 1, False, 11)):
        with pytest.raises(IndexError):
            cache.access_pages(*wrong)


@pytest.mark.parametrize(
    "policy, observe, message",
    [
        ("sarc", {"delta": 0.1}, "sarc: observe is only for lru_top and lru_bottom"),
        ("arc", {"delta": 0.1}, "arc: observe is only for lru_top"),
        ("lru_top", {"detla": 0.1}, "lru_top: cannot observe 'detla'; expected delta or count_writes"),
        ("lru_top", {"threshold": 2}, "lru_top: cannot observe 'threshold'"),
        ("lru_bottom", {"delta": -1}, "lru_bottom: delta is -1; expected a number from 0 to 1"),
        ("lru_bottom", {"count_writes": 2}, "lru_bottom: count_writes is 2"),
    ],
)
def test_what_cannot_be_observed_is_named(policy, observe, message):
    with pytest.raises(ParameterError, match=message):
        track_cache(policy, 70, 100, observe=observe)


def test_observing_changes_no_outcome_but_the_ratio():
    tracks = np.random.default_rng(8).integers(0, 30, 300).tolist()
    plain, watched = (track_cache("lru_top", 20, 30, observe=observe) for observe in (None, {"delta": 0.5}))
    assert whole_tracks(plain, *tracks) == whole_tracks(watched, *tracks)
    assert watched.bottom_hits > plain.bottom_hits


def test_command_line(tmp_path, capsys):
    path = tmp_path / "scan.txt"
    path.write_text("".join(f"{block}\n" for block in range(1000)))
    run = ["simulate", str(path), "--format", "lirs", "--size", "20", "--policy", "lru", "--quiet", "--json"]
    assert main(run) == 0
    assert json.loads(capsys.readouterr().out)["hits"] == 0
    assert main([*run, "--prefetch", "sequential:degree=4,threshold=5"]) == 0
    assert json.loads(capsys.readouterr().out)["misses"] == 5
    for wrong, message in (
        ("pcm", "--prefetch 'pcm'; expected sequential or amp, with or without settings, as in"),
        ("sequential:degree", "--prefetch 'degree'; expected NAME=NUMBER"),
        ("sequential:degree=1.5", "prefetch: degree is 1.5; expected a whole number"),
    ):
        assert main([*run, "--prefetch", wrong]) == 2
        assert message in capsys.readouterr().err
