"""Mechanics of drives against closed formulas and published values."""

import numpy as np
import pytest

from misspenalty import disks
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
def test_contiguous_transfers_lose_no_revolution(name):
    mechanics = disks.load(name).mechanics
    end, track, _ = mechanics.move(0, 0, 0, 100)
    for lbn in range(100, 1300, 100):
        end, track, parts = mechanics.move(track, end, lbn, 100)
        assert parts["rotation"] + parts["switch"] < mechanics.revolution_ns * 9 // 10


def test_blocks_and_sectors_are_each_others_inverse(hp):
    rng = np.random.default_rng(1)
    for lbn in rng.integers(0, hp.blocks, 200):
        _, _, sector, _, track = hp.locate(int(lbn))
        assert hp.lbn_at(track, sector) == lbn


def test_requests_outside_the_drive_are_refused(hp):
    for lbn, count in ((-1, 1), (0, 0), (hp.blocks, 1), (hp.blocks - 1, 2), (0, 2**62)):
        with pytest.raises(ParameterError):
            hp.move(0, 0, lbn, count)
