"""Test AMP on traces worked out by hand, against closed forms and by invariants, and test its kernel against its
reference."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amp import amp

from misspenalty import ParameterError, Trace, simulate
from misspenalty.cli.main import main
from misspenalty.policies import find_policy
from misspenalty.policies.track_cache import ASYNCHRONOUS, DEMAND, SYNCHRONOUS
from misspenalty.prefetch.sequential.prefetcher import check, track_cache

ON_TRACKS = ["lru_top", "lru_bottom", "sarc"]
AMP = {"kind": "amp", "threshold": 2}


def whole_tracks(cache, *tracks):
    """Access whole tracks; return the reads of each access."""
    return [cache.access_pages(track)[1] for track in tracks]


def reads(why, *tracks):
    return [(track, 1, why) for track in tracks]


def test_a_stream_traced_by_hand():
    # 11 is the first sequential miss; 10 keeps nothing, so a set of one track, 12, follows, and 11 and 12 keep p = 1.
    # The hit on 12, the end of its set, raises the p of 12 to 2. The miss on 13 reads two more tracks; 13 and the last
    # of them, 15, keep p = 3, and the hit on 15 raises its p to 4. The miss on 16 reads four more tracks and keeps
    # p = 5: above 4, so that g = 2, and 18, two tracks from the end of the set, carries a trigger. The hit on 18 reads
    # ahead the five tracks 21 to 25, whose trigger is on 23; the hit on 20, which ends its set, raises the p of 25 by
    # one, so that the hit on 23 reads six tracks.
    cache = track_cache("lru_top", 100, 200, prefetch=AMP)
    assert whole_tracks(cache, 10, 11, 12) == [reads(DEMAND, 10), reads(DEMAND, 11) + reads(SYNCHRONOUS, 12), []]
    assert (cache.kept(11), cache.kept(12)) == ((1, 0), (2, 0))
    assert whole_tracks(cache, 13, 14, 15) == [reads(DEMAND, 13) + reads(SYNCHRONOUS, 14, 15), [], []]
    assert (cache.kept(13), cache.kept(14), cache.kept(15)) == ((3, 0), (0, 0), (4, 0))
    assert whole_tracks(cache, 16, 17) == [reads(DEMAND, 16) + reads(SYNCHRONOUS, 17, 18, 19, 20), []]
    assert (cache.kept(16), cache.kept(20)) == ((5, 2), (5, 2))
    assert whole_tracks(cache, 18, 19, 20) == [reads(ASYNCHRONOUS, 21, 22, 23, 24, 25), [], []]
    assert (cache.kept(20), cache.kept(25)) == ((5, 2), (6, 2))
    assert whole_tracks(cache, 21, 22, 23) == [[], [], reads(ASYNCHRONOUS, 26, 27, 28, 29, 30, 31)]
    assert whole_tracks(cache, 24, 25) == [[], []]
    assert (cache.kept(31), cache.sequential_misses) == ((7, 2), 3)


def test_a_read_that_waits_makes_the_trigger_come_sooner():
    # The trace is as above up to the trigger on 18. The set from 21 arrives, and a read waits for its first track: g =
    # 3 for the next set, so that 28, and not 29, is its trigger. A late set counts once, and only if its first track is
    # awaited.
    cache = track_cache("lru_top", 100, 200, prefetch=AMP)
    whole_tracks(cache, *range(10, 19))
    for track in (17, 22, 150, 21, 21):
        cache.late(track)
    assert cache.kept(25) == (5, 3)
    assert whole_tracks(cache, *range(19, 24))[-1] == reads(ASYNCHRONOUS, *range(26, 32))
    assert cache.kept(31) == (6, 3)
    assert whole_tracks(cache, *range(24, 28)) == [[]] * 4
    assert whole_tracks(cache, 28) == [reads(ASYNCHRONOUS, *range(32, 39))]


def test_g_makes_p_at_least_one_more():
    cache = track_cache("lru_top", 100, 200, prefetch=AMP | {"ahead_above": 0})
    whole_tracks(cache, 10, 11, 12)  # The set is one track, 12, with the trigger; the hit reads 13 alone.
    cache.late(13)
    assert cache.kept(13) == (2, 1)
    cache.late(13)
    assert cache.kept(13) == (2, 1)


def test_a_second_chance_traced_by_hand():
    # A cache of six tracks holds 10 to 15; 14 and 15 are unread. 50, 60, 70 and 80 evict 10 to 13; then 90 finds 14 and
    # then 15 at the LRU end. Both move back to the MRU end, and p falls by one each time, from 3 to 2 to 1. 50 is
    # evicted instead.
    cache = track_cache("lru_top", 6, 200, prefetch=AMP)
    whole_tracks(cache, *range(10, 14), 50, 60, 70, 80)
    assert [track for track in range(10, 16) if track in cache] == [14, 15]
    assert cache.kept(15) == (3, 0)
    whole_tracks(cache, 90)
    assert (14 in cache, 15 in cache, 50 in cache, cache.kept(15), cache.unused) == (True, True, False, (1, 0), 0)
    # 14 and 15 get no third chance, and a hit on 15, the last track of their set, no longer raises p.
    assert whole_tracks(cache, 15) == [[]]
    assert cache.kept(15) == (1, 0)
    whole_tracks(cache, 91, 92, 93, 94)
    assert (14 in cache, cache.unused) == (False, 1)


def test_an_aged_track_loses_its_trigger():
    # A cache of seven tracks holds 14 to 20, with the trigger on 18. 80 finds 17 to 20 unread at the LRU end: they move
    # back to the MRU end, p falls by one for each (from 5 to 1), g falls from 2 to 0, and 18 no longer reads ahead.
    cache = track_cache("lru_top", 7, 200, prefetch=AMP)
    whole_tracks(cache, *range(10, 17))
    whole_tracks(cache, 50, 60, 70, 80)
    assert cache.kept(20) == (1, 0)
    assert whole_tracks(cache, 17, 18, 19, 20) == [[]] * 4
    assert cache.kept(20) == (1, 0)


def test_the_first_read_of_a_prefetched_track_does_not_move_it():
    # 12 is fetched with 11 and is older than 50, whether it has been read once or not; a second read moves it.
    for again in (0, 1):
        cache = track_cache("lru_top", 4, 200, prefetch=AMP)
        whole_tracks(cache, 10, 11, 50, 12, *[12] * again)
        whole_tracks(cache, 60, 70)
        assert 12 in cache
        whole_tracks(cache, 80)
        assert (12 in cache) == again


def test_a_volume_ends():
    # At 16 the set would be 17 to 20, but the volume ends with 19, and a set that reaches the end has no trigger.
    cache = track_cache("lru_top", 100, 200, prefetch=AMP)
    for track in range(10, 16):
        cache.access_pages(track)
    assert cache.access_pages(16, end=20)[1] == reads(DEMAND, 16) + reads(SYNCHRONOUS, 17, 18, 19)
    assert [cache.access_pages(track, end=20) for track in (17, 18, 19)] == [(0, [])] * 3


@pytest.mark.parametrize("policy", ON_TRACKS)
@pytest.mark.parametrize("most", [5, 16, 64])
def test_one_stream_in_a_large_cache_reaches_the_maximum_degree(policy, most):
    """The stream must miss until p is large enough for sets to be read ahead, and never after that."""
    cache = track_cache(policy, 4000, 4000, prefetch=AMP | {"most": most})
    missing = [cache.access_pages(track, end=3600)[0] for track in range(3500)]
    assert [track for track, mask in enumerate(missing) if mask] == [0, 1, 3, 6]
    assert max(p for p, _ in filter(None, map(cache.kept, range(3600)))) == most
    # With sets of at most `ahead_above` tracks nothing is read ahead, so every set costs a miss.
    cache = track_cache(policy, 4000, 4000, prefetch=AMP | {"most": most, "ahead_above": most})
    assert sum(cache.access_pages(track)[0] != 0 for track in range(3500)) > 3500 // (most + 1)


def test_streams_in_a_small_cache_waste_little():
    """A large fixed degree overflows the cache; AMP must waste under 2 % of the tracks and halve the misses."""
    unused, misses = {}, {}
    for name, prefetch in (("amp", AMP), ("fixed", {"degree": 32, "threshold": 2})):
        cache = track_cache("lru_top", 600, 400_000, prefetch=prefetch)
        missing = [cache.access_pages(4000 * stream + at)[0] for at in range(1500) for stream in range(50)]
        unused[name], misses[name] = cache.unused, sum(mask != 0 for mask in missing)
    assert unused["amp"] < 0.02 * 75_000 < unused["fixed"]
    assert misses["amp"] < misses["fixed"] / 2


@st.composite
def accesses(draw, track_pages):
    """Draw runs from random tracks, reads of several sizes, and sets that arrive late."""
    run = st.tuples(st.integers(0, 59), st.integers(1, 12), st.integers(1, (1 << track_pages) - 1), st.booleans())
    some = draw(st.lists(st.tuples(run, st.integers(0, 6)), min_size=1, max_size=25))
    return [
        (track, pages, write and late > 2, (track + late) % 60 if late else None)
        for (first, length, pages, write), late in some
        for track in range(first, min(first + length, 60))
    ]


@pytest.mark.parametrize("name", ON_TRACKS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_kernel_equals_reference(name, data):
    track_pages = data.draw(st.sampled_from([1, 2, 8]))
    capacity = track_pages * data.draw(st.integers(1, 25)) + data.draw(st.integers(0, track_pages - 1))
    own = {"most": data.draw(st.sampled_from([1, 2, 5, 8, 32])), "ahead_above": data.draw(st.integers(0, 6))}
    own |= {"threshold": data.draw(st.integers(1, 3)), "writes_sequential": data.draw(st.integers(0, 1))}
    kernel = track_cache(name, capacity, 60, track_pages=track_pages, prefetch={"kind": "amp"} | own)
    reference = amp(find_policy(name).reference)(capacity, track_pages=track_pages, **own)
    requests = data.draw(accesses(track_pages))
    assert requests
    for track, pages, write, late in requests:
        end = 60 if track >= 30 else data.draw(st.sampled_from([30, 60]))
        expected = reference.request(track, pages, write, end), reference.reads
        assert kernel.access_pages(track, pages, write, end) == expected
        if late is not None:
            kernel.late(late)
            reference.arrive_late(late)
        assert [kernel.kept(t) for t in range(60)] == [
            (reference.marks[t].p, reference.marks[t].g) if reference.cached(t) else None for t in range(60)
        ]
        assert kernel.seq_pages == reference.size(reference.seq)
        assert kernel.random_pages == reference.size(reference.random)
        for quantity in ("evictions", "unused", "adapt", "sequential_misses"):
            assert getattr(kernel, quantity) == getattr(reference, quantity)
        assert kernel.tracks_staged == tuple(reference.staged)
        always(kernel, own)


def always(kernel, own):
    """Check that p is from 1 to `most` and above g wherever it is kept, and that the cache is not overfull."""
    for p, g in filter(None, map(kernel.kept, range(60))):
        assert (p, g) == (0, 0) or (1 <= p <= own["most"] and 0 <= g < p)
    assert kernel.resident == kernel.seq_pages + kernel.random_pages <= kernel.capacity


def test_settings():
    assert (
        check("amp")
        == check({"kind": "amp"})
        == {
            "degree": 0,
            "trigger": -1,
            "remedy": 0,
            "most": 32,
            "ahead_above": 4,
            "threshold": None,
            "writes_sequential": 1,
        }
    )
    for wrong, message in (
        ({"kind": "amp", "degree": 4}, "prefetch has no parameter 'degree'; it has most, ahead_above"),
        ({"kind": "amp", "most": 257}, "prefetch: most is 257"),
        ({"kind": "pcm"}, "prefetch is 'pcm'; expected 'sequential' or 'amp'"),
        ({"most": 4}, "prefetch has no parameter 'most'; it has degree"),
    ):
        with pytest.raises(ParameterError, match=message):
            check(wrong)
    for policy in ("lru", "arc"):
        with pytest.raises(ParameterError, match=rf"amp needs a policy on tracks \(sarc, .*\); {policy} is not one"):
            track_cache(policy, 70, 100, prefetch="amp")
    with pytest.raises(ParameterError, match="most is 257; expected 0 to 256 tracks per set"):
        find_policy("sarc").kernel(10, 9, most=257)
    cache = track_cache("sarc", 70, 100, prefetch="amp")
    for call in (cache.late, cache.kept):
        for track in (-1, 100):
            with pytest.raises(IndexError, match=f"track {track}; expected one below 100"):
                call(track)


def test_traces_and_the_command_line(tmp_path, capsys):
    assert simulate(Trace.from_blocks(range(5000)), "lru_top", 300, prefetch="amp").misses == 5
    path = tmp_path / "scan.txt"
    path.write_text("".join(f"{block}\n" for block in range(1000)))
    run = ["simulate", str(path), "--format", "lirs", "--size", "300", "--policy", "sarc", "--quiet", "--json"]
    assert main([*run, "--prefetch", "amp:most=16,threshold=2"]) == 0
    assert '"misses": 4' in capsys.readouterr().out
