"""Test eager writing: the printed recurrence, the closed forms, and both against the mechanics of the paper's two
disks."""

import numpy as np
import pytest

from misspenalty import ParameterError, disks
from misspenalty.disks.drive.slices import cut, uniform
from misspenalty_studies.vlog.virtual_log import eager_models as models
from misspenalty_studies.vlog.virtual_log._eager import FreeSpace

HP, SEAGATE = cut(disks.load("hp97560"), 36), cut(disks.load("st19101"), 11)
ONE_CYLINDER = FreeSpace(HP.mechanics, 19, 1, np.ones((19, 72), bool))


def sector_ns(kind):
    return kind.mechanics.revolution_ns / uniform(kind)[2]


def track_recurrence(n, k):
    """Return the value of `track_skip` by the printed recurrence, for k free sectors; E(k, k) = 0."""
    expected = 0.0
    for sectors in range(k + 1, n + 1):
        expected = (sectors - k) / sectors * (1 + expected)
    return expected


def block_skip(n, p, logical, physical):
    """Return the mean number of sectors that pass unused while a block of `logical` sectors is written as blocks of
    `physical` sectors: (1-p) n B / (b + p n) for a logical block of B sectors and physical ones of b."""
    return (1 - p) * n * logical / (physical + p * n)


def boundaries(kind, track, rng, size):
    """Draw times at which a random sector of a track begins."""
    _, _, n = uniform(kind)
    time = np.empty(size, np.int64)
    for i, sector in enumerate(rng.integers(0, n, size)):
        *_, angle, _ = kind.mechanics.locate(track * n + int(sector))
        begun = int(rng.integers(10**12))
        time[i] = begun + kind.mechanics.rotation(begun, angle)
    return time


@pytest.mark.parametrize("name", ["hp_c2247a", "hp97560", "atlas10k"])
def test_a_factor_multiplies_the_seeks_of_any_form(name):
    whole = disks.load(name)
    once, twice = (cut(whole, 30, seek_factor=factor).mechanics for factor in (1, 2))
    for distance in (1, 2, 5, 20):
        assert twice.seek(distance) == pytest.approx(2 * once.seek(distance), rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 9, 72, 256])
def test_the_closed_form_solves_the_printed_recurrence(n):
    skips = [models.track_skip(n, k / n) for k in range(1, n + 1)]
    assert skips == pytest.approx([track_recurrence(n, k) for k in range(1, n + 1)], abs=1e-9)


@pytest.mark.parametrize(
    ("used", "track", "cylinder", "kind", "switch"),
    [
        (0.5, 203, 208, HP, 12), (0.8, 779, 776, HP, 12), (0.9, 1646, 1354, HP, 12), (0.95, 3096, 1887, HP, 12),
        (0.98, 6022, 2546, HP, 12), (0.5, 23, 23, SEAGATE, 21), (0.8, 92, 93, SEAGATE, 21),
        (0.9, 203, 188, SEAGATE, 21), (0.95, 413, 300, SEAGATE, 21), (0.98, 961, 437, SEAGATE, 21),
    ],
)  # fmt: skip
def test_times_equal_those_of_an_independent_computation(used, track, cylinder, kind, switch):
    _, heads, n = uniform(kind)
    us = sector_ns(kind) / 1000
    assert us * models.track_skip(n, 1 - used) == pytest.approx(track, abs=0.6)
    assert us * models.cylinder_skip(n, 1 - used, heads, switch) == pytest.approx(cylinder, abs=0.6)


@pytest.mark.parametrize("p", [1, 0.9, 0.3, 0.01, 1e-4])
def test_a_cylinder_of_one_track_has_none_to_switch_to(p):
    """The mean wait must be that of a geometric distribution, (1-p)/p."""
    assert models.cylinder_skip(72, p, 1, 12) == pytest.approx((1 - p) / p, rel=1e-9)


def test_filling_by_an_independent_computation():
    assert models.fill_skip(72, 7) == pytest.approx(92.4, abs=0.05)
    n, m = 72, 7
    harmonic = np.cumsum(1 / np.arange(1, n + 2))
    closed = (n + 1) * (harmonic[n] - harmonic[m]) - (n - m)
    assert models.fill_skip(n, m) == pytest.approx(closed)
    for n, m, skipped in [(72, 3, 246), (72, 7, 175), (72, 18, 75), (256, 12, 1246), (256, 25, 774), (256, 64, 224)]:
        assert models.fill_skip(n, m) + models.crowding(n, m) == pytest.approx(skipped, rel=0.01)


def test_a_block_is_best_written_whole():
    for p in (0.05, 0.2, 0.6):
        skips = [block_skip(72, p, 8, physical) for physical in range(1, 9)]
        assert skips == sorted(skips, reverse=True) and skips[-1] < skips[0]


@pytest.mark.parametrize("kind", [HP, SEAGATE], ids=["hp", "seagate"])
@pytest.mark.parametrize("used", [0.3, 0.8, 0.95])
def test_a_track_with_random_holes(kind, used):
    """With exactly k free sectors on one track and the arm at a sector boundary, the single-track model must hold
    within 5 %."""
    rng, waits = np.random.default_rng(7), []
    _, heads, n = uniform(kind)
    k = round((1 - used) * n)
    for _ in range(400):
        free = np.zeros((heads, n), bool)
        free[0, rng.choice(n, k, replace=False)] = True
        space = FreeSpace(kind.mechanics, heads, 1, free)
        waits.append(space.waits(np.zeros(20, np.int32), boundaries(kind, 0, rng, 20)))
    assert np.mean(waits) / sector_ns(kind) == pytest.approx(track_recurrence(n, k), rel=0.05)


@pytest.mark.parametrize("used", [0.5, 0.8])
def test_blocks_on_a_track(used):
    """For units of eight sectors, the block-size model, whose waits are counted from a block's boundary, must hold
    within 5 %."""
    rng, waits = np.random.default_rng(8), []
    _, heads, n = uniform(SEAGATE)
    k = round((1 - used) * n / 8)
    for _ in range(800):
        free = np.zeros((heads, n // 8), bool)
        free[0, rng.choice(n // 8, k, replace=False)] = True
        space = FreeSpace(SEAGATE.mechanics, heads, 8, np.repeat(free, 8, axis=1))
        waits.append(space.waits(np.zeros(1, np.int32), rng.integers(0, 10**12, 1), True))
    # Writes start anywhere: half a block passes until the next boundary, from which the model counts.
    expected = block_skip(n, 8 * k / n, 8, 8) + 4
    assert np.mean(waits) / sector_ns(SEAGATE) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("kind", [HP, SEAGATE], ids=["hp", "seagate"])
@pytest.mark.parametrize("used", [0.5, 0.8, 0.95, 0.98])
def test_a_cylinder_with_random_holes(kind, used):
    """With sectors free at random on one cylinder, the cylinder model must hold within 5 %."""
    rng, waits = np.random.default_rng(9), []
    _, heads, n = uniform(kind)
    switch = kind.data["mechanics"]["head_switch_ms"] * 1e6 / sector_ns(kind)
    for _ in range(250):
        space = FreeSpace(kind.mechanics, heads, 1, rng.random((heads, n)) < 1 - used)
        waits.append(space.waits(rng.integers(0, heads, 40).astype(np.int32), rng.integers(0, 10**12, 40)))
    # Waits start anywhere within a sector, so they are half a sector longer than from its boundary.
    expected = models.cylinder_skip(n, 1 - used, heads, switch) + 0.5
    assert np.mean(waits) / sector_ns(kind) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("n", "m", "kind"), [(72, 7, HP), (72, 18, HP), (256, 25, SEAGATE), (256, 64, SEAGATE)])
def test_filling_a_track_costs_what_the_model_says(n, m, kind):
    """Filling an empty track must cost more than writing to random holes, and about as much as the corrected model
    predicts."""
    rng = np.random.default_rng(10)
    heads = uniform(kind)[1]
    empty = np.ones((heads, n), bool)
    skipped = []
    for _ in range(150):
        waits = FreeSpace(kind.mechanics, heads, 1, empty).fill(0, rng.integers(0, 10**12, n - m))
        skipped.append(waits.sum() / sector_ns(kind) - 0.5 * (n - m))
    assert np.mean(skipped) > models.fill_skip(n, m)
    assert np.mean(skipped) == pytest.approx(models.fill_skip(n, m) + models.crowding(n, m), rel=0.3)


def test_the_threshold_has_an_inner_optimum():
    for n, switch, sector in ((72, 2.5e6, 208_229), (256, 0.5e6, 23_437)):
        cost = [models.compactor_ns(n, m, switch, sector) for m in range(n)]
        best = int(np.argmin(cost))
        assert 0.5 * n < best < 0.8 * n
        assert cost[0] > cost[best] < cost[-1]


def test_the_nearest_free_sector_is_the_one_found_by_hand():
    """A free sector on a higher cylinder costs the seek; if there is none, the sweep must start at the first
    cylinder."""
    tracks, heads, n = uniform(HP)
    free = np.zeros((tracks, n), bool)
    free[5 * heads, 10] = free[2 * heads + 1, 3] = free[30, 7] = True
    space = FreeSpace(HP.mechanics, heads, 1, free)
    track, unit, ready, _ = space.nearest(3 * heads, 0)
    assert (track, unit, ready) == (5 * heads, 10, HP.mechanics.seek(2))
    assert space.nearest(6 * heads, 0)[:2] == (30, 7)  # not cylinder 2, though it is nearer
    assert FreeSpace(HP.mechanics, heads, 1, np.zeros((heads, n), bool)).nearest(0, 0) is None


@pytest.mark.parametrize("kind", [HP, SEAGATE], ids=["hp", "seagate"])
def test_the_nearest_of_a_few_free_sectors_is_found_by_trying_each(kind):
    """The candidates are the free sectors of this cylinder and of the cylinders above it; if these have none, they are
    the free sectors of the first cylinder that has any."""
    rng, mechanics = np.random.default_rng(12), kind.mechanics
    tracks, heads, n = uniform(kind)
    for _ in range(200):
        places = rng.choice(tracks * n, 5, replace=False)
        free = np.zeros(tracks * n, bool)
        free[places] = True
        at, now, cylinders = int(rng.integers(tracks)), int(rng.integers(10**12)), places // n // heads
        above = cylinders >= at // heads
        reached = above if above.any() else cylinders == cylinders.min()
        start = {}
        for place in places[reached].tolist():
            ready = now + mechanics.reposition(at, place // n, True)
            start[divmod(place, n)] = ready + mechanics.rotation(ready, mechanics.locate(place)[3])
        found = FreeSpace(mechanics, heads, 1, free.reshape(tracks, n)).nearest(at, now)
        assert found[3] == min(start.values()) == start[found[:2]]


@pytest.mark.parametrize("unit", [1, 8])
def test_a_unit_that_begins_under_the_head_is_reached(unit):
    """At the boundary itself there must be no wait; a nanosecond later, the wait must be that for the next free
    unit."""
    kind = cut(HP, 2)
    tracks, heads, n = uniform(kind)
    rng = np.random.default_rng(3)
    assert tracks > 1
    for track in range(tracks):
        free = np.zeros((tracks, n), bool)
        free[track] = np.repeat(rng.random(n // unit) < 0.5, unit)
        units = np.flatnonzero(free[track, ::unit])
        space, angle = FreeSpace(kind.mechanics, heads, unit, free), {}
        for place in units.tolist():
            angle[place] = kind.mechanics.locate(track * n + place * unit)[3]
        assert angle
        for place in angle:
            early = int(rng.integers(10**12))
            now = early + kind.mechanics.rotation(early, angle[place])
            assert space.nearest(track, now, unit > 1) == (track, place, now, now)
            later = min((kind.mechanics.rotation(now + 1, a), other) for other, a in angle.items())
            assert later[0] > 0
            assert space.nearest(track, now + 1, unit > 1) == (track, later[1], now + 1, now + 1 + later[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: models.track_skip(0, 0.5), lambda: models.track_skip(72, 0), lambda: models.fill_skip(72, 72),
        lambda: FreeSpace(HP.mechanics, 19, 1, np.ones((20, 72), bool)),
        lambda: ONE_CYLINDER.nearest(19, 0), lambda: ONE_CYLINDER.nearest(-1, 0),
        lambda: ONE_CYLINDER.waits(np.array([0, 19], np.int32), np.zeros(2, np.int64)),
        lambda: ONE_CYLINDER.waits(np.zeros(2, np.int32), np.zeros(1, np.int64)),
        lambda: ONE_CYLINDER.fill(19, np.zeros(1, np.int64)),
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(call):
    with pytest.raises(ParameterError):
        call()
