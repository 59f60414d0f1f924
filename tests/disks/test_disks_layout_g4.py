"""Zones are read from DiskSim's layout G4, and the two packaged drives that were described from it can be loaded."""

import pytest

from misspenalty import disks
from misspenalty.disks.disksim import importer, layout_g4
from misspenalty.disks.disksim.parameter_file import Block
from misspenalty.errors import InputError

SPECS = """
disksim_disk MADE {
   Model = source made.model, Number of buffer segments = 2, Segment size (in blks) = 64
}
"""
# The drive has two surfaces of six cylinders: four have 40 blocks per track (one block is lost to a defect), and two
# have 20. A step from track to track takes a quarter of a revolution.
MODEL = """
dm_disk MADE_model {
   Number of data surfaces = 2, Number of cylinders = 6,
   Layout Model = dm_layout_g4 {
      TP = [ 0, 39, 40, 0, 19, 20 ],
      IDX = [
         [ 0, 0, 0.0, 40, 1, 0.25, 80, 2, TRACK, 0, 0,   # two cylinders down the first surface
           80, 1, 0.5, 40, 1, 0.25, 80, -2, TRACK, 0, 1 ],
         [ 0, 0, 0.0, 20, 1, 0.25, 40, 2, TRACK, 1, 0, 40, 1, 0.5, 20, 1, 0.25, 40, -2, TRACK, 1, 1 ],
         [ 0, 0, 0.0, 160, 2, 0.5, 160, 2, IDX, 0,
           160, 2, 0.5, 159, 2, 0.5, 159, 2, IDX, 0,
           319, 4, 0.0, 80, 2, 0.5, 80, 2, IDX, 1 ] ],
      Slips = [ 170, 1 ], Remaps = [ ]
   },
   Mechanical Model = dm_mech_g1 {
      Rotation speed (in rpms) = 6000, Seek type = extracted, Full seek curve = made.seek,
      Head switch time = 0.1, Add. write settling delay = 0.0
   }
}
"""
SEEK = "1, 0.5, 0.02, 0.65\n5, 2.5, 0.01, 2.65\n"


@pytest.fixture
def made(tmp_path):
    def write(model=MODEL, seek=SEEK):
        for name, text in (("made.diskspecs", SPECS), ("made.model", model), ("made.seek", seek)):
            (tmp_path / name).write_text(text)
        return tmp_path / "made.diskspecs"

    return write


def test_zones_are_the_means_of_runs(made, tmp_path):
    importer.write(importer.from_disksim(made()), tmp_path / "made.yaml")
    kind = disks.load(tmp_path / "made.yaml")
    zones = kind.data["geometry"]["zones"]
    assert [(z["first_cylinder"], z["last_cylinder"], z["sectors"], z["track_skew"]) for z in zones] == [
        (0, 3, 39, 10), (4, 5, 20, 5)]  # fmt: skip
    assert kind.blocks == 4 * 2 * 39 + 2 * 2 * 20
    assert kind.mechanics.seek(1) == 500_000 and kind.mechanics.seek(5) == 2_500_000


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("surfaces = 2", "surfaces = 0", "Number of data surfaces = 0"),
        (
            "160, 2, 0.5, 159",
            "160, 3, 0.5, 159",
            "the run at cylinder 3 does not follow .* expected a run at cylinder 2",
        ),
        ("159, 2, IDX, 0", "159, 0, IDX, 0", "the run at cylinder 2 has 0 cylinders and 159 blocks"),
        ("80, 2, IDX, 1 ]", "80, 2, IDX ]", "an index node"),
        ("80, 2, IDX, 1 ]", "80, 2, TRACK, 1 ]", "an index node"),
        ("160, 2, 0.5, 160, 2, IDX", "160, 2, 0.5, 160, two, IDX", "a run"),
        ("1, 0.25, 80, 2, TRACK", "1, 1.25, 80, 2, TRACK", "no tracks"),
        ("1, 0.25, 80, 2, TRACK", "1, 1, 80, 2, TRACK", "no tracks"),
        ("IDX = [\n", "INDEX = [\n", "has no index"),
        ("Layout Model = dm_layout_g4", "Layout Model = dm_layout_g2", "dm_layout_g1 or dm_layout_g4"),
    ],
)
def test_a_broken_layout_is_refused(made, old, new, said):
    assert MODEL.count(old) == 1
    with pytest.raises(InputError, match=said):
        importer.from_disksim(made(MODEL.replace(old, new)))


@pytest.mark.parametrize(
    ("seek", "said"),
    [
        ("", "line 1: does not begin with a seek curve"),
        ("1, 0.5\n", "line 1: does not begin with a seek curve"),
        ("1, 0.5, 0.02, 0.6, 0.7\n", "line 1: does not begin with a seek curve"),
        ("1, 0.5, 0.02\nx, 1, 1\n", "line 2: 'x, 1, 1'; expected distance, milliseconds"),
    ],
)
def test_a_broken_seek_curve_is_refused(made, seek, said):
    with pytest.raises(InputError, match=said):
        importer.from_disksim(made(seek=seek))


def test_no_tracks_at_all():
    layout = Block("dm_layout_g4", None, "mine.layout")
    layout["IDX"] = [[0, 0, 0.0, 8, 1, 0.5, 8, 1, "IDX", 0]]
    with pytest.raises(InputError, match="no tracks"):
        layout_g4.geometry(layout, 1, 1, "x")


# The numbers of blocks are those that DiskSim's files state.
@pytest.mark.parametrize(
    ("name", "blocks", "rpm", "heads"), [("atlas10k_v", 585_937_499, 10001, 8), ("lba64_4tb", 7_542_225_920, 7200, 10)]
)
def test_drives_of_the_recent_past(name, blocks, rpm, heads):
    kind = disks.load(name)
    assert blocks * 0.9995 < kind.blocks <= blocks
    assert (kind.data["mechanics"]["rpm"], kind.data["geometry"]["heads"]) == (rpm, heads)
    last = kind.drive().service(0, kind.blocks - 8, 8)
    assert last["done"] > 0 and last["lbn"] == kind.blocks - 8
