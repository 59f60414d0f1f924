"""Test the client caches against their references, by invariants, and on runs traced by hand."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import COUNTS, FPC, GOM, HAC, LEVELS, Clock
from misspenalty_studies.hac.objects.format import ARRAY, OID_BITS, PAGE, STRING, Class, Pages, read_object
from misspenalty_studies.hac.objects.traversals import STATIC, Program
from studies.hac.tests.reference.gom import GOMReference
from studies.hac.tests.reference.object_cache import BUFFER, ClockReference, FPCReference, HACReference

NODE = Class("node", ("key", "left", "right", "far"), frozenset({"left", "right", "far"}))
SYSTEMS = (HAC, FPC, Clock, GOM)
REFERENCES = ((HAC, HACReference), (FPC, FPCReference), (Clock, ClockReference), (GOM, GOMReference))
ONE = oo7.Parameters(parts=1, composites=1)
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Graph:
    """A database of any shape, with the attributes that `ClientCache` and `Program` need."""

    pages: np.ndarray
    classes: tuple
    roots: tuple
    orefs: np.ndarray
    parameters: oo7.Parameters = ONE


def make_graph(kinds, lengths, targets):
    """Make objects of the given classes; `targets` has the object's number for each reference, or -1 for null."""
    pages = Pages((NODE,), kinds, lengths)
    numbers = iter(targets)
    for i, (kind, length) in enumerate(zip(kinds, lengths, strict=True)):
        words = range(2, 2 + length) if kind == ARRAY else (2, 3, 4) if kind == 0 else ()
        for word in words:
            number = next(numbers)
            pages.fill(np.array([i]), word, 0 if number < 0 else pages.orefs[number])
        if kind == 0:
            pages.fill(np.array([i]), 1, 1000 + i)
    return Graph(pages.pages, (NODE,), (int(pages.orefs[0]),), pages.orefs)


@st.composite
def graphs(draw):
    """Draw graphs on 1 to some 200 pages, with arrays and strings of up to half a page among the nodes."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(300, 3000))
    kinds = generator.choice([0, 0, 0, ARRAY, STRING], count)
    kinds[0] = 0
    longest = draw(st.sampled_from([4, 40, 900]))
    lengths = np.where(kinds == 0, 0, generator.integers(0, longest, count))
    targets = generator.integers(-1, count, 4 * count + int(lengths.sum()))
    return make_graph(kinds.tolist(), lengths.tolist(), targets.tolist())


def check(cache, database):
    """Check the invariants that hold between fetches."""
    frames, seen, references = cache.contents(), {}, {}
    _, _, entries = cache.kernel.snapshot()
    intact = [frame["page"] for frame in frames if frame["kind"] == 1]
    assert len(intact) == len(set(intact))
    for number, frame in enumerate(frames):
        if frame["kind"] in (1, 2):
            assert len(frame["things"]) == frame["objects"]
            assert sum(inside for _, _, inside, _ in frame["things"]) == frame["installed"]
        for thing, _, inside, _ in frame["things"]:
            assert thing == read_object(database.pages, database.classes, thing.oref)  # no byte is lost
            if inside:
                assert thing.oref not in seen  # an object has one installed copy
                seen[thing.oref] = number
    for address, oref, _, _ in entries[1:].tolist():
        if address:
            references.setdefault(oref, 0)
    buffered = sum(frame["kind"] == 3 for frame in frames)
    if not buffered:
        assert set(references) == set(seen)  # every entry with an address leads to the installed copy
    for frame in frames:
        assert frame["kind"] != 2 or frame["installed"] == frame["objects"] > 0
    used = sum(frame["kind"] != 0 for frame in frames)
    frame_bytes, table_bytes = cache.memory_used
    assert used < len(frames)  # one frame is free for the next fetch
    assert frame_bytes == (used + 1) * PAGE <= cache.size
    assert table_bytes > 0


def walk(database, cache, seed, steps, starts=3):
    generator = np.random.default_rng(seed)
    program = Program(cache, database)
    for start in generator.integers(0, len(database.orefs), starts):
        program.walk(int(database.orefs[start]), generator.integers(0, 2**31, steps))
    return program


def make(system, database, size, **parameters):
    if system is GOM:
        parameters.setdefault("share", 0.4)
    return system(database, size, **parameters)


def places(cache):
    """Return where each installed object is: its frame or, in an object buffer, its first byte."""
    _, frames, entries = cache.kernel.snapshot()
    buffered = [frame["kind"] == BUFFER for frame in frames]
    found = {oref: address for address, oref, _, _ in entries[1:].tolist() if address}
    return {oref: address if buffered[address // PAGE] else address // PAGE for oref, address in found.items()}


# --- invariants


@QUICK
@given(graphs(), st.integers(5, 30), st.integers(0, 99), st.booleans(), st.sampled_from(SYSTEMS))
def test_no_object_is_lost_and_no_frame_leaks(database, frames, seed, table, system):
    cache = make(system, database, frames * PAGE, table=table)
    for part in range(3):
        try:
            walk(database, cache, seed + part, 700)
        except ParameterError as error:  # there are few frames, and the table and the stack need all of them
            assert "no frame could be freed" in str(error) and cache.frames < 14
            return
        check(cache, database)


@QUICK
@given(graphs(), st.integers(6, 30), st.integers(0, 99))
def test_all_caches_show_the_program_the_same_objects(database, frames, seed):
    sums = {
        walk(database, make(system, database, frames * PAGE, table=False), seed, 500).checksum for system in SYSTEMS
    }
    assert len(sums) == 1


@QUICK
@given(graphs(), st.integers(6, 25), st.integers(0, 99), st.booleans(), st.sampled_from(REFERENCES))
def test_kernel_equals_its_reference(database, frames, seed, table, pair):
    kernel, reference = (system(database, frames * PAGE, table=table) for system in pair)
    generator = np.random.default_rng(seed)
    program = Program(kernel, database)
    reference.hold(database.roots[0])  # as the program does
    for start in generator.integers(0, len(database.orefs), 2):
        steps = generator.integers(0, 2**31, 400)
        try:
            program.walk(int(database.orefs[start]), steps)
        except ParameterError:  # the object buffer and the table leave too few frames
            with pytest.raises(ValueError, match="empty"):  # the reference has no frame to choose from
                reference.walk(int(database.orefs[start]), steps.tolist())
            return
        reference.walk(int(database.orefs[start]), steps.tolist())
    fetched, counts = kernel.log()
    got = dict(zip(COUNTS, counts[-1].tolist(), strict=True))
    assert [page for page in fetched if page] == reference.fetched
    assert {key: value for key, value in got.items() if key not in LEVELS} == {
        key: value for key, value in reference.counts.items() if key not in LEVELS
    }
    assert got["entries"] == len(reference.table)
    assert places(kernel) == {
        entry.oref: reference.place(entry.thing) if entry.thing.frame.kind == BUFFER else entry.thing.frame.number
        for entry in reference.table.values()
        if entry.thing is not None
    }
    assert got["pages_kept"] == len(reference.page_frame)
    assert [[thing.oref for thing, *_ in frame["things"]] for frame in kernel.contents()] == [
        [thing.oref for thing in frame.things] for frame in reference.frames
    ]
    assert [[usage for _, usage, *_ in frame["things"]] for frame in kernel.contents() if pair[0] is HAC] == [
        [thing.usage for thing in frame.things] for frame in reference.frames if pair[0] is HAC
    ]


@pytest.mark.parametrize("name", STATIC)
def test_static_traversals_keep_the_invariants(name):
    parameters = oo7.Parameters(parts=20, composites=20, levels=3, document_bytes=2000, manual_bytes=9000)
    database = oo7.generate(parameters, np.random.default_rng(1))
    sums = []
    for system in SYSTEMS:
        cache = make(system, database, 24 * PAGE)
        program = Program(cache, database)
        for _ in range(3):
            program.run(name)
            check(cache, database)
        sums.append(program.checksum)
    assert len(set(sums)) == 1


def test_levels_and_sums_agree():
    database = oo7.generate(oo7.SMALL, np.random.default_rng(1))
    cache = HAC(database, 40 * PAGE)
    Program(cache, database).run("T1")
    fetched, counts = cache.log()
    last = dict(zip(COUNTS, counts[-1].tolist(), strict=True))
    assert last["entries"] == last["entries_made"] - last["entries_freed"]
    assert last["fetches"] == np.count_nonzero(fetched)
    assert last["installed"] == last["discarded"] + sum(frame["installed"] for frame in cache.contents())
    assert (np.diff(counts[:, [COUNTS.index(name) for name in COUNTS if name not in LEVELS]], axis=0) >= 0).all()


# --- traced by hand: nodes of 24 bytes, 314 per page, one after the other


PER_PAGE = (PAGE - 8) // 26


def chain(pages):
    """Make a graph of nodes: left is the next page's first node, right is the next node, and far is null."""
    count = pages * PER_PAGE
    targets = [t for i in range(count) for t in ((i // PER_PAGE + 1) * PER_PAGE % count, (i + 1) % count, -1)]
    return make_graph([0] * count, [0] * count, targets)


def one(cache):
    """Return the counts so far."""
    return dict(zip(COUNTS, cache.log()[1][-1].tolist(), strict=True))


def test_a_miss_fetches_installs_and_swizzles():
    database = chain(6)
    cache = HAC(database, 8 * PAGE, table=False)
    Program(cache, database).walk(database.roots[0], [1, 1, 0])
    counts = one(cache)
    # The walk accesses the first three nodes of page 1 and, by the left reference of the third, the first node of page
    # 2.
    assert (counts["accesses"], counts["fetches"], counts["installed"], counts["swizzled"]) == (4, 2, 4, 3)
    frames = cache.contents()
    assert [(frame["kind"], frame["page"], frame["installed"]) for frame in frames[:2]] == [(1, 1, 3), (1, 2, 1)]
    assert [usage for _, usage, inside, _ in frames[0]["things"] if inside] == [4, 4, 4]


def test_usage_decays_by_half_rounded_up_and_never_to_zero():
    database = chain(12)
    cache = HAC(database, 14 * PAGE, table=False, scan=14, secondary=0)  # every fetch scans all frames with older pages
    program, usages = Program(cache, database), []
    for page in range(6):
        program.walk(int(database.orefs[page * PER_PAGE]), [])
        usages.append(cache.contents()[0]["things"][0][1])
    assert usages == [8, 4, 2, 1, 1, 1]


@pytest.mark.parametrize(("retention", "expected"), [(2 / 3, (4, 0, 3)), (0.667, (0, 2, 3))])
def test_a_share_of_exactly_the_retention_is_not_below_it(retention, expected):
    """One page has two nodes in use and a string that is not, so exactly 2/3 of its objects are hot at every threshold
    below 4."""
    database = make_graph([0, 0, STRING, 0], [0, 0, 8110, 0], [1, -1, -1, 3, -1, -1, -1, -1, -1])
    cache = HAC(database, 4 * PAGE, table=False, retention=retention, secondary=0)
    Program(cache, database).walk(database.roots[0], [0, 0])
    assert [one[1:4] for one in cache.kernel.candidate_set if one[0] == 0] == [expected]


def test_pages_beyond_4_gb_are_found(tmp_path):
    small, page = chain(1), 2**19 + 1
    pages = np.memmap(tmp_path / "sparse", np.uint8, "w+", shape=(page, PAGE))
    pages[-1] = small.pages[0]
    database = Graph(pages, small.classes, (page << OID_BITS,), small.orefs)
    assert Program(FPC(database, 4 * PAGE), database).walk(page << OID_BITS, []) == 1


def compacted():
    """Use ten nodes of page 1 and twenty of each of the next three, in four frames, one of which has to stay free.

    Page 4 takes the last free frame. Page 1 is then the least valuable: its ten used nodes stay, and its frame becomes
    the target. The twenty used nodes of the next victim are moved there, after the ten, which frees the victim's frame.
    """
    database = chain(6)
    cache = HAC(database, 4 * PAGE, table=False, secondary=0)
    program = Program(cache, database)
    program.walk(database.roots[0], [1] * 9)
    for page in (1, 2, 3):
        program.walk(int(database.orefs[page * PER_PAGE]), [1] * 19)
    return database, cache, program


def test_compaction_keeps_the_hot_objects_together_and_in_order():
    database, cache, _ = compacted()
    (mixed,) = [frame for frame in cache.contents() if frame["kind"] == 2]
    survivors = [thing.oref for thing, *_ in mixed["things"]]
    assert survivors[:10] == database.orefs[:10].tolist()
    assert len(survivors) == 30
    assert survivors[10:] in [database.orefs[page * PER_PAGE :][:20].tolist() for page in (1, 2)]
    counts = one(cache)
    assert (counts["frames_compacted"], counts["frames_freed"], counts["retained"]) == (2, 1, 30)
    assert (counts["bytes_moved"], counts["dropped"]) == (20 * 24, 2 * PER_PAGE - 30)
    check(cache, database)


def test_a_page_with_installed_objects_costs_nothing_when_it_is_fetched_again():
    database, cache, program = compacted()
    before = one(cache)
    program.walk(int(database.orefs[20]), [])  # an object of page 1 that is not among the ten that were kept
    after = one(cache)
    assert after["fetches"] == before["fetches"] + 1
    assert after["installed"] == before["installed"] + 1
    copies = [
        inside for f in cache.contents() for thing, _, inside, _ in f["things"] if thing.oref == database.orefs[0]
    ]
    assert sorted(copies) == [False, True]


def test_entries_are_freed_when_nothing_refers_to_them():
    database = chain(40)
    cache = FPC(database, 4 * PAGE, table=False)
    program = Program(cache, database)
    for page in range(40):
        program.walk(int(database.orefs[page * PER_PAGE]), [1, 1])
    counts = one(cache)
    held = 1 + 40  # the program holds the module's reference and the start of each walk
    assert counts["entries_freed"] > 0
    assert counts["entries"] <= held + 3 * 4


def test_frames_on_the_stack_are_not_touched():
    """If a composite is larger than the cache, the run must be refused: the stack refers to the composite's parts
    during T1, so nothing can be freed."""
    parameters = oo7.Parameters(composites=2, levels=2, document_bytes=100, manual_bytes=100)
    database = oo7.generate(parameters, np.random.default_rng(1))
    program = Program(HAC(database, 6 * PAGE), database)
    with pytest.raises(ParameterError, match="no frame could be freed"):
        program.run("T1")


def test_clock_gives_accessed_pages_a_second_chance():
    """Page 4 takes the last frame: pages 1 to 3 were all accessed, so the hand passes each once and evicts page 1.

    Page 2 is then accessed again, so that page 5 displaces page 3, although page 2 was fetched earlier.
    """
    database = chain(8)
    cache = Clock(database, 4 * PAGE)
    program = Program(cache, database)
    for page in (1, 2, 3, 4, 2, 5, 2, 3):
        program.walk(int(database.orefs[(page - 1) * PER_PAGE]), [1])
    assert [page for page in cache.log()[0] if page] == [1, 2, 3, 4, 5, 3]


def test_perfect_lru_is_lru_on_pages():
    database = chain(12)
    cache = FPC(database, 5 * PAGE, table=False)
    program = Program(cache, database)
    order = np.random.default_rng(3).integers(0, 12, 300)
    resident, misses = [], []
    for page in order.tolist():
        program.walk(int(database.orefs[page * PER_PAGE]), [1])
    for page in order.tolist():  # four frames hold pages; the fifth is free
        if page in resident:
            resident.remove(page)
        else:
            misses.append(page + 1)
            resident[:] = resident[-3:]
        resident.append(page)
    fetched = [int(page) for page in cache.log()[0] if page]
    assert fetched == misses


# --- parameters


@pytest.mark.parametrize(
    ("system", "parameters"),
    [
        (HAC, {"retention": 0}),
        (HAC, {"retention": float("nan")}),
        (HAC, {"scan": 0}),
        (HAC, {"secondary": 17}),
        (HAC, {"lifetime": 0}),
        (GOM, {"share": 1.0}),
        (FPC, {"activation_words": 2}),
    ],
)
def test_impossible_parameters_are_refused(system, parameters):
    with pytest.raises(ParameterError):
        system(chain(2), 8 * PAGE, **parameters)


@pytest.mark.parametrize("size", [0, PAGE, -1, float("nan"), float("inf"), 2**33])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(ParameterError):
        FPC(chain(2), size)


def test_an_oref_without_object_is_refused():
    database = chain(2)
    with pytest.raises(ParameterError, match="does not lead to an object"):
        Program(FPC(database, 8 * PAGE), database).walk(9 << 9, [0])


def test_a_failed_cache_refuses_another_run():
    database = oo7.generate(oo7.SMALL, np.random.default_rng(1))
    program = Program(HAC(database, 2 * PAGE), database)
    for _ in range(2):
        with pytest.raises(ParameterError, match="no frame could be freed"):
            program.run("T1")
