"""Test transactions on the client caches: modified objects stay until the commit, and all of them reach the server."""

import numpy as np
import pytest

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import COUNTS, FPC, GOM, HAC, Clock
from misspenalty_studies.hac.objects.format import PAGE, read_object
from misspenalty_studies.hac.objects.traversals import Program


def test_modified_objects_stay_until_the_commit():
    database = oo7.generate(oo7.SMALL, np.random.default_rng(1))
    cache = HAC(database, 160 * PAGE, writable=True)
    program = Program(cache, database)
    program.run("T2b")
    dirty = {t.oref for frame in cache.contents() for t, _, _, modified in frame["things"] if modified}
    assert len(dirty) == cache.log()[1][-1, COUNTS.index("modified")]
    assert len(dirty) % 20 == 0
    program.run("T6")
    still = {t.oref for frame in cache.contents() for t, _, _, modified in frame["things"] if modified}
    assert still == dirty
    assert cache.commit()[1] == len(dirty)
    with pytest.raises(ParameterError):  # a cache that is too small for the modified objects
        Program(HAC(database, 40 * PAGE), database).run("T2b")


def test_a_cache_that_is_not_writable_refuses_a_commit():
    database = oo7.generate(oo7.SMALL, np.random.default_rng(1))
    before = database.pages.copy()
    cache = HAC(database, 160 * PAGE)
    Program(cache, database).run("T2b")
    with pytest.raises(ParameterError, match="writable=True"):
        cache.commit()
    np.testing.assert_array_equal(database.pages, before)


UPDATES = ("T2a", "T1", "T6", "T2b", "T2a", "T1")


def commits(cache, database):
    """Run and commit the updates; return how many objects each shipped, the server's pages, and the checksum."""
    program, shipped = Program(cache, database), []
    for name in UPDATES:
        program.run(name)
        shipped.append(cache.commit()[1])
        for thing, *_ in (thing for frame in cache.contents() for thing in frame["things"]):
            assert thing == read_object(cache.pages, database.classes, thing.oref)  # no copy is older than the server's
    return shipped, cache.pages, program.checksum


@pytest.fixture(scope="module")
def updated():
    """Return a database of 63 pages, and the results of `UPDATES` in a cache that holds all of it."""
    parameters = oo7.Parameters(parts=20, composites=60, levels=3, document_bytes=2000, manual_bytes=9000)
    database = oo7.generate(parameters, np.random.default_rng(1))
    return database, commits(HAC(database, 2**24, writable=True), database)


@pytest.mark.parametrize(
    ("system", "frames", "parameters"),
    [
        (HAC, 15, {}),
        (HAC, 22, {}),
        (FPC, 28, {"table": False}),
        (Clock, 28, {}),
        (GOM, 28, {"share": 0.03, "table": False}),
        (GOM, 28, {"share": 0.2, "table": False}),
    ],
)
def test_no_update_is_lost(updated, system, frames, parameters):
    database, (shipped, pages, checksum) = updated
    cache = system(database, frames * PAGE, writable=True, **parameters)
    found = commits(cache, database)
    assert (found[0], found[2]) == (shipped, checksum)
    assert np.array_equal(found[1], pages)


@pytest.mark.parametrize("system", [FPC, Clock, GOM])
def test_a_transaction_that_modifies_more_pages_than_there_is_room_for_is_refused(updated, system):
    with pytest.raises(ParameterError, match="or has modified objects"):
        commits(system(updated[0], 15 * PAGE, writable=True), updated[0])


def test_the_checksum_detects_a_swap(updated):
    database, _ = updated
    program = Program(HAC(database, 2**24, writable=True), database)
    program.run("T2b")
    before = program.checksum
    program.run("T1")
    assert program.checksum != 2 * before
