"""Test OO7's database and traversals: counts, structure, layout, bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import FPC, HAC
from misspenalty_studies.hac.objects.format import (
    ARRAY,
    CLASS_SHIFT,
    LARGEST,
    LONGEST,
    OID_BITS,
    PAGE,
    STRING,
    Class,
    Pages,
    object_sizes,
)
from misspenalty_studies.hac.objects.oo7_plan import COMPOSITE, PART
from misspenalty_studies.hac.objects.traversals import HIT_STEPS, Dynamic, Ladder, Program
from studies.hac.tests.reference import oo7 as oo7_reference

TINY = replace(oo7.SMALL, parts=4, composites=3, levels=2, document_bytes=9000, manual_bytes=100)
NAMES = [one.name for one in oo7.CLASSES]


def make(parameters, seed=1):
    return oo7.generate(parameters, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def medium():
    return make(oo7.MEDIUM)


@pytest.fixture(scope="module")
def tiny():
    return make(TINY)


def fields(database, oref, *path):
    """Follow named fields from an object; return the value of the last field."""
    for name in path:
        thing = database.read(oref)
        oref = thing.values[name] if isinstance(name, int) else thing.values[oo7.CLASSES[thing.kind].fields.index(name)]
    return oref


def reach(database, root):
    """Return a dict of all objects to which references lead from `root`, by oref."""
    found, waiting = {}, [root]
    while waiting:
        oref = waiting.pop()
        if oref in found or oref == 0:
            continue
        found[oref] = thing = database.read(oref)
        if thing.kind == ARRAY:
            waiting += thing.values
        elif thing.kind != STRING:
            kind = oo7.CLASSES[thing.kind]
            waiting += [v for name, v in zip(kind.fields, thing.values, strict=True) if name in kind.references]
    return found


# --- the database


def test_medium_has_the_benchmarks_counts(medium):
    headers = headers_of(medium)
    kinds = np.bincount(headers >> CLASS_SHIFT & 15, minlength=16)
    assert dict(zip(NAMES, kinds.tolist(), strict=False)) == {
        "module": 1,
        "manual": 1,
        "complex": 364,
        "base": 729,
        "composite": 500,
        "part": 100_000,
        "connection": 300_000,
        "document": 500,
    }
    assert kinds.sum() == medium.objects


def headers_of(database):
    """Return the headers of all objects, page by page, and check that each page's objects are numbered in order."""
    headers = []
    for page in database.pages:
        _, packed = page[:8].view(np.uint32)
        count, end = int(packed) & 0xFFFF, int(packed) >> 16
        offsets = page[PAGE - 2 * count :].view(np.uint16)[::-1].astype(int)
        assert offsets[0] == 8
        assert (np.diff(offsets) > 0).all()
        assert end <= PAGE - 2 * count
        words = page.view(np.uint32)
        headers.append(words[offsets // 4])
        assert (headers[-1] & 0x1FF == np.arange(count)).all()
    return np.concatenate(headers)


def test_sizes_are_those_of_the_objects_read_back(tiny):
    orefs, sizes = object_sizes(tiny.pages)
    assert len(orefs) == tiny.objects and (np.diff(orefs.astype(np.int64)) > 0).all()
    for oref, size in zip(orefs.tolist(), sizes.tolist(), strict=True):
        thing = tiny.read(oref)
        if thing.kind in (ARRAY, STRING):
            own = 8 + len(thing.values) * (4 if thing.kind == ARRAY else 1)
        else:
            own = oo7.CLASSES[thing.kind].size
        assert size == own + 7 & ~7


def test_every_object_is_reached_and_back_references_agree(tiny):
    found = reach(tiny, tiny.roots[0])
    assert len(found) == tiny.objects
    for oref, thing in found.items():
        kind = NAMES[thing.kind] if thing.kind < len(NAMES) else None
        if kind == "part":
            out, into = found[fields(tiny, oref, "to")].values, found[fields(tiny, oref, "from")].values
            assert len(out) == 3
            assert all(fields(tiny, link, "from") == oref for link in out)
            assert all(fields(tiny, link, "to") == oref for link in into)
        elif kind == "composite":
            parts = found[fields(tiny, oref, "parts")].values
            assert fields(tiny, oref, "root_part") == parts[0]
            assert all(fields(tiny, part, "composite") == oref for part in parts)
            assert fields(tiny, oref, "document", "composite") == oref
            for use, link in (("used_private", "private"), ("used_shared", "shared")):
                for base in found[fields(tiny, oref, use)].values:
                    assert oref in found[fields(tiny, base, link)].values
        elif kind in ("complex", "base"):
            parent = fields(tiny, oref, "parent")
            if parent:
                assert oref in found[fields(tiny, parent, "children")].values
    incoming = sum(len(found[fields(tiny, o, "from")].values) for o, t in found.items() if t.kind == PART)
    assert incoming == TINY.composites * TINY.parts * TINY.connections


def test_connections_form_a_ring(tiny):
    composites = [o for o, t in reach(tiny, tiny.roots[0]).items() if t.kind == COMPOSITE]
    assert composites
    for composite in composites:
        parts = tiny.read(fields(tiny, composite, "parts")).values
        first = [fields(tiny, part, "to", 0, "to") for part in parts]
        assert first == [*parts[1:], parts[0]]


def test_texts_are_trees_of_strings_of_the_right_length(tiny):
    composite = next(o for o, t in reach(tiny, tiny.roots[0]).items() if t.kind == COMPOSITE)
    pieces = tiny.read(fields(tiny, composite, "document", "text")).values
    assert [len(tiny.read(piece).values) for piece in pieces] == [4000, 4000, 1000]
    assert tiny.read(fields(tiny, composite, "type")).values.startswith(b"type00")
    assert tiny.read(fields(tiny, tiny.roots[0], "manual", "text", 0)).values.startswith(b"I am the manual")


def test_values_lie_in_their_ranges(medium):
    parts = [thing for thing in (medium.read(oref) for oref in parts_of(medium, 3)) if thing.kind == PART]
    values = np.array([thing.values for thing in parts])
    assert len(parts) == 600
    assert values[:, 2].max() < 1000
    assert 50_000 < values[:, 3:5].max() < 100_000
    assert values[:, 5].min() >= 1
    assert values[:, 5].max() <= 500


def parts_of(database, composites):
    root = fields(database, database.roots[0], "root")
    found = []
    for i in range(composites):
        base = fields(database, root, *(["children", i] + ["children", 0] * 5))
        found += database.read(fields(database, base, "private", i, "parts")).values
    return found


def test_clustering_is_by_time_of_creation(tiny):
    order = [t.oref for t in reach(tiny, tiny.roots[0]).values() if t.kind in (COMPOSITE, PART)]
    expected = []
    for number in range(1, TINY.composites + 1):
        (composite,) = [
            t.oref for t in reach(tiny, tiny.roots[0]).values() if t.kind == COMPOSITE and t.values[0] == number
        ]
        expected += [composite, *tiny.read(fields(tiny, composite, "parts")).values]
    assert sorted(order) == expected


def test_a_document_is_next_to_its_composite_part_or_behind_all_of_them():
    for documents in ("between", "apart"):
        database = make(replace(TINY, composites=40, documents=documents))
        parts = {o: t for o, t in reach(database, database.roots[0]).items() if t.kind in (COMPOSITE, PART)}
        composite = next(o for o, t in parts.items() if t.kind == COMPOSITE)
        document = fields(database, composite, "document")
        behind = document > max(parts)
        assert behind == (documents == "apart")
        assert behind or 0 <= (document >> OID_BITS) - (composite >> OID_BITS) <= 1


@settings(max_examples=15, deadline=None)
@given(
    parts=st.integers(1, 9),
    connections=st.integers(1, 4),
    composites=st.integers(1, 12),
    levels=st.integers(1, 4),
    fan_out=st.integers(1, 3),
    composites_per_base=st.integers(1, 4),
    modules=st.integers(1, 3),
    document_bytes=st.integers(1, 9000),
    manual_bytes=st.integers(1, 20_000),
    documents=st.sampled_from(["apart", "between"]),
    seed=st.integers(0, 2**32),
)
def test_bytes_are_those_of_the_reference(seed, **sizes):
    parameters = oo7.Parameters(**sizes)
    pages, roots = oo7_reference.generate(parameters, np.random.default_rng(seed))
    data = make(parameters, seed)
    assert list(data.roots) == roots
    assert data.pages.tobytes() == pages
    assert data.objects == parameters.objects


def test_equal_seeds_give_equal_bytes():
    assert (make(TINY, 7).pages == make(TINY, 7).pages).all()
    assert (make(TINY, 7).pages != make(TINY, 8).pages).any()


@pytest.mark.parametrize(
    "change",
    [
        {"parts": 0},
        {"levels": 20},
        {"documents": "elsewhere"},
        {"parts": 10**9},
        {"composites": 1.5},
        {"fan_out": 20, "levels": 7},
        {"manual_bytes": 10**12},
        {"parts": LONGEST + 1},
        {"document_bytes": 4000 * LONGEST + 1},
    ],
)
def test_impossible_parameters_are_refused(change):
    with pytest.raises(ParameterError):
        replace(TINY, **change)


def test_an_object_larger_than_a_page_is_refused():
    with pytest.raises(ParameterError, match="does not fit"):
        Pages((), [STRING], [LARGEST - 7])
    assert len(Pages((), [STRING], [LARGEST - 14]).pages) == 1
    with pytest.raises(ParameterError, match="does not fit"):
        Pages((), [ARRAY], [LONGEST + 1])
    assert len(Pages((), [ARRAY], [LONGEST]).pages) == 1


def test_pages_are_filled_in_order():
    thing = Class("thing", ("a", "b", "c"), frozenset())
    pages = Pages((thing,), np.zeros(1000), np.zeros(1000))
    assert thing.size == 16
    full = (PAGE - 8) // 18  # 16 bytes and an offset of 2
    assert pages.orefs[full - 1] == 1 << OID_BITS | full - 1
    assert pages.orefs[full] == 2 << OID_BITS


# --- traversals


def program(database, size=2**25):
    return Program(FPC(database, size), database)


def test_traversals_return_the_benchmarks_numbers(medium):
    run = program(medium, 2**26).run
    assert [run(name) for name in ("T1", "T6", "T2a", "T2b", "T1+", "T1-")] == [
        437_400,
        2_187,
        2_187,
        437_400,
        437_400,
        218_700,
    ]


def test_small_traversals():
    run = program(make(oo7.SMALL)).run
    assert (run("T1"), run("T6")) == (43_740, 2_187)


def test_about_494_composites_are_visited(medium):
    p = program(medium, 2**26)
    p.run("T6")
    installed = [t for f in p.cache.contents() for t, _, inside, _ in f["things"] if inside and t.kind == COMPOSITE]
    assert 485 <= len(installed) <= 500


def accesses(name, parameters=TINY):
    p = program(make(parameters))
    p.run(name)
    return p.cache.log()[1][-1, 0]


def test_accesses_follow_from_the_structure():
    """There must be one access to the module, one to every assembly, one to every assembly's array of children or
    private parts, and the accesses of the 9 visits to composites."""
    tree = 1 + (1 + 3) * 2
    visits, n = 9, TINY.parts
    assert accesses("T6") == tree + visits * 2
    part = 1 + 3 * 2  # an array, and three times a connection and its target; the root part costs one more access
    assert accesses("T1") == tree + visits * (2 + n * part)
    assert accesses("T1+") == tree + visits * (2 + 4 + n * (part + 2 + 3))
    assert accesses("T1-") < accesses("T1- by calls")


def test_t1_minus_by_calls_follows_every_link_of_the_parts_it_visits():
    p = program(make(TINY))
    half, visits = TINY.parts // 2, 9
    assert p.run("T1- by calls") == visits * half
    tree = 1 + (1 + 3) * 2
    assert p.cache.log()[1][-1, 0] == tree + visits * (2 + half * (1 + 3 * 2))


def test_t2b_swaps_every_part_in_the_database_after_its_commit():
    database = make(TINY)
    p = Program(FPC(database, 2**25, writable=True), database)
    before = {o: t for o, t in reach(database, database.roots[0]).items() if t.kind == PART}
    visits = 9 * TINY.parts
    assert p.run("T2b") == visits
    size, count = p.cache.commit()
    changed = replace(database, pages=p.cache.pages)
    swapped = 0
    for oref, old in before.items():
        new = changed.read(oref)
        x, y = old.values[3:5]
        assert new.values[3:5] in ((x, y), (y, x))
        assert new.values[:3] + new.values[5:] == old.values[:3] + old.values[5:]
        swapped += new.values[3:5] != (x, y)
    assert count >= swapped > 0
    assert size == 40 * count
    assert p.cache.commit() == (0, 0)
    assert (database.pages == make(TINY).pages).all()


@pytest.mark.parametrize(
    ("hot", "shift", "used"), [(1.0, 1.0, {0}), (1.0, 0.0, {1}), (0.0, 1.0, {1}), (1.0, 0.5, {0, 1})]
)
def test_dynamic_traversals_swap_the_roles_of_the_modules(hot, shift, used):
    database = make(replace(TINY, modules=2, composites=40))
    p = program(database)
    done = p.run_dynamic(Dynamic(60, shift, hot, mix={"T6": 0.5, "T1": 0.5}), np.random.default_rng(1))
    assert set(done) == {1, TINY.parts}
    installed = [t for f in p.cache.contents() for t, _, inside, _ in f["things"] if inside and t.kind == COMPOSITE]
    assert {(thing.values[0] - 1) // 40 for thing in installed} == used


def test_dynamic_traversals_need_two_modules(tiny):
    with pytest.raises(ParameterError, match="two modules"):
        program(tiny).run_dynamic(Dynamic(), np.random.default_rng(1))


def test_unknown_traversal_is_refused(tiny):
    with pytest.raises(ParameterError, match="T9"):
        program(tiny).run("T9")


@pytest.mark.parametrize("name", ["T1", "T6"])
def test_every_step_of_the_ladder_visits_and_reads_what_the_cache_does(name):
    data = make(replace(oo7.SMALL, composites=40, levels=3))
    p = Program(HAC(data, 2**23), data)
    p.run(name)
    before = p.checksum
    done = p.run(name)
    ladder = Ladder(p, name)
    assert len(HIT_STEPS) > 1
    for step in range(len(HIT_STEPS)):
        ladder.prepare(step)
        assert ladder.run(step) == (done, p.checksum - before)


def test_checks_of_the_ladder_see_what_is_not_in_the_cache():
    data = make(replace(oo7.SMALL, composites=40, levels=3))
    p = Program(HAC(data, 2**23), data)
    p.run("T6")  # T6 leaves the parts' references as they are on disk
    ladder = Ladder(p, "T1")
    ladder.prepare(len(HIT_STEPS) - 1)
    assert ladder.run(len(HIT_STEPS) - 1)[0] == -1
    with pytest.raises(ParameterError, match="T1 or T6"):
        Ladder(p, "T1+")


def test_a_program_of_another_database_is_refused(tiny):
    with pytest.raises(ParameterError, match="another database"):
        Program(HAC(tiny, 2**20), make(TINY, 2))
