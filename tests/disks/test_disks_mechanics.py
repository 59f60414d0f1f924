"""The mechanics of drives agree with closed forms and published values."""

import copy
import pickle

import numpy as np
import pytest
from reference import drive_layout as reference_layout

from misspenalty import disks
from misspenalty.disks.drive._replay import as_they_arrive, one_by_one
from misspenalty.disks.drive.slices import cut
from misspenalty.disks.requests import Requests, replay
from misspenalty.errors import ParameterError


@pytest.fixture(scope="module")
def hp():
    return disks.load("hp97560").mechanics


def test_published_values_of_the_hp_97560(hp):
    assert hp.seek(1) == 3_640_000
    assert hp.seek(383) == pytest.approx(11.07e6, rel=5e-4)
    assert hp.seek(1961) == pytest.approx(23.69e6, rel=5e-4)
    assert hp.revolution_ns == pytest.approx(14.99e6, rel=5e-4)


@pytest.mark.parametrize("name", disks.names("disk"))
def test_a_revolution_is_rounded_up(name):
    """A fraction of a nanosecond, as in the HP 97560's 14,992,503.7 ns, must not be truncated."""
    kind = disks.load(name)
    assert kind.mechanics.revolution_ns == -(-reference_layout.TURN // kind.data["mechanics"]["rpm"])


@pytest.mark.parametrize("name", disks.names("disk"))
def test_contiguous_transfers_lose_no_revolution(name):
    kind = disks.load(name)
    tracks = [kind.mechanics.locate(lbn)[4] for lbn in range(6000)]
    crossed = [lbn for lbn in range(1, len(tracks)) if tracks[lbn] != tracks[lbn - 1]]
    assert crossed
    for lbn in crossed:
        assert kind.drive().service(0, lbn - 1, 2)["switch"] < kind.mechanics.revolution_ns * 9 // 10


def test_blocks_and_sectors_are_each_others_inverse(hp):
    rng = np.random.default_rng(1)
    for _ in range(200):
        lbn = rng.integers(0, hp.blocks)
        _, _, sector, _, track = hp.locate(int(lbn))
        assert hp.lbn_at(track, sector) == lbn


def test_the_components_of_a_request_add_up_to_its_time():
    drive, now = disks.load("hp97560").drive(), 5
    for lbn, count, write in ((1000, 8, False), (1008, 8, False), (700_000, 200, True), (3, 300, False)):
        record = drive.service(now, lbn, count, write)
        assert sum(record[name] for name in disks.COMPONENTS) == record["done"] - now
        now = record["done"] + 1000


def test_a_whole_track_whose_next_sector_begins_as_the_arm_lands_takes_no_rotation():
    drive = disks.load("atlas10k").drive()
    assert drive.service(17_920, 0, 334)["rotation"] == 0


@pytest.mark.parametrize("name", ["hp97560", "dc_p3700"])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda kind: pickle.loads(pickle.dumps(kind))])
def test_descriptions_can_be_copied_and_sent_to_other_processes(name, copied):
    kind = disks.load(name)
    again = copied(kind)
    requests = Requests([0, 800, 9000], [8, 16, 8], [False, True, False], [0, 5, 0])
    assert (again.name, again.path, again.blocks) == (kind.name, kind.path, kind.blocks)
    assert replay(again, requests).simulated.tolist() == replay(kind, requests).simulated.tolist()


def test_a_changed_value_may_be_of_numpy_or_a_tuple():
    kind = disks.load("hp97560")
    plain = kind.replace({"mechanics.rpm": 5400, "mechanics.seek": {"table_ms": [[1, 1.5], [100, 5.0]]}})
    table = ([1, 1.5], np.array([100, 5.0]))
    assert kind.replace({"mechanics.rpm": np.int16(5400), "mechanics.seek": {"table_ms": table}}).data == plain.data
    ahead = disks.load("cheetah9lp").replace({"cache.write_behind": np.False_})
    assert ahead.data["cache"]["write_behind"] is False


@pytest.mark.parametrize("turned", ["half", 1, -0.5, None])
def test_an_impossible_rotation_is_refused(turned):
    with pytest.raises(ParameterError, match="expected a share of a revolution"):
        disks.load("hp97560").drive(turned=turned)


def test_times_that_go_back_are_refused():
    drive = disks.load("hp97560").drive()
    done = drive.service(5, 1000, 8)["done"]
    for wrong in (drive.service, drive.position):
        with pytest.raises(ParameterError, match=f"expected {done}.*times must not decrease"):
            wrong(done - 1, 0, 1)
    one, none = np.ones(1, np.int32), np.zeros(1, np.uint8)
    with pytest.raises(ParameterError, match=f"expected {done}.*times must not decrease"):
        as_they_arrive(drive, np.array([done - 1]), np.array([0]), one, none)
    assert one_by_one(drive, np.array([0]), one, none, np.array([0]))["start"] == done
    several = (np.array([0, 0]), np.ones(2, np.int32), np.zeros(2, np.uint8))
    with pytest.raises(ParameterError, match="request 2"):
        as_they_arrive(disks.load("hp97560").drive(), np.array([2, 1]), *several)
    with pytest.raises(ParameterError, match="request 2"):
        one_by_one(drive, *several, np.array([0, -1]))


def test_requests_outside_the_drive_are_refused(hp):
    drive = disks.load("hp97560").drive()
    for lbn, count in ((-1, 1), (0, 0), (hp.blocks, 1), (hp.blocks - 1, 2), (0, 2**62)):
        with pytest.raises(ParameterError, match=f"the drive has blocks 0 to {hp.blocks - 1}"):
            drive.service(0, lbn, count)


def test_places_that_the_drive_does_not_have_are_refused(hp):
    """The HP 97560 has 1,962 cylinders of 19 tracks of 72 sectors."""
    tracks = 1962 * 19
    assert hp.reposition(0, tracks - 1) == hp.reposition(tracks - 1, 0) == hp.seek(1961)
    assert hp.lbn_at(tracks - 1, 71) == tracks * 72 - 1
    for wrong in (-1, tracks):
        for function, *arguments in [hp.reposition, wrong, 0], [hp.reposition, 0, wrong], [hp.lbn_at, wrong, 0]:
            with pytest.raises(ParameterError, match="track"):
                function(*arguments)
    for sector in (-1, 72):
        with pytest.raises(ParameterError, match="no such sector"):
            hp.lbn_at(0, sector)
    for distance in (-1, 1962):
        with pytest.raises(ParameterError, match="the drive has 1962"):
            hp.seek(distance)
    for angle in (-1, reference_layout.TURN):
        with pytest.raises(ParameterError, match="angle"):
            hp.rotation(0, angle)


def test_a_changed_overhead_is_that_of_every_command():
    """On the HP C2247A, a write that follows a write elsewhere must have an overhead of its own."""
    drive = cut(disks.load("hp_c2247a"), 20, overhead_ms=100).drive()
    first = drive.service(0, 0, 8, True)
    second = drive.service(first["done"], 3000, 8, True)
    assert min(first["overhead"], second["overhead"]) >= 100_000_000
