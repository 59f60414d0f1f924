"""The importer makes packaged drives from DiskSim's parameter files, and refuses wrong files."""

import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest

from misspenalty import disks
from misspenalty.cli.main import main
from misspenalty.disks.disksim import importer, parameter_file
from misspenalty.disks.drive import layout
from misspenalty.disks.drive.description import Description, check
from misspenalty.errors import InputError, ParameterError

SPECS = Path(__file__).parents[1] / "data" / "drives"  # DiskSim's own parameter files
SECTIONS = ("geometry", "mechanics", "overheads", "bus", "cache")
FLASH_SECTIONS = ("geometry", "flash", "overheads", "interface", "cache")
IMPORTED = {
    "atlas10k": "atlas10k.parv", "atlas_iii": "atlas_III.parv", "barracuda": "barracuda.parv",
    "cheetah4lp": "cheetah4LP.parv", "cheetah9lp": "cheetah9LP.parv", "dec_rz26": "dec_rz26.parv",
    "hp_c2247a": "hp_c2247a.parv", "hp_c2249a": "hp_c2249a.diskspecs", "hp_c2490a": "hp_c2490a.parv",
    "hp_c3323a": "hp_c3323a.parv", "ibm18es": "ibm18es.parv", "st41601n": "st41601n.parv",
}  # fmt: skip
MADE = """
disksim_disk MADE {
   Model = source made.model,   # next to this file
   Bulk sector transfer time = 0.02,
   Number of buffer segments = 2, Segment size (in blks) = 64,
   Buffer continuous read = 1, Enable caching in buffer = 1,
   Read hit over. after read = 0.5, Read miss over. after read = 0.7
}
"""
MODEL = """
dm_disk MADE_model {
   Number of data surfaces = 2, Number of cylinders = 10,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0, Sparing scheme used = 0,
      Zones = [ dm_layout_g1_zone {
         First cylinder number = 0, Last cylinder number = 9, Blocks per track = 40,
         Offset of first block = 0.0, Empty space at zone front = 0,
         Skew for track switch = 8.0, Skew for cylinder switch = 9.0,
         Number of spares = 0, slips = [], defects = [] } ]
   },
   Mechanical Model = dm_mech_g1 {
      Rotation speed (in rpms) = 6000, Seek type = extracted, Full seek curve = made.seek,
      Head switch time = 1.0, Add. write settling delay = 0.5
   }
}
"""
SEEK = "Seek distances measured: 2\n1, 1.5\n9, 5.5\n"


@pytest.fixture
def made(tmp_path):
    def write(specs=MADE, model=MODEL, seek=SEEK):
        for name, text in (("made.diskspecs", specs), ("made.model", model), ("made.seek", seek)):
            (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path / "made.diskspecs"

    return write


@pytest.mark.parametrize("name", IMPORTED)
def test_packaged_drives_are_what_the_importer_makes(name):
    bus = SPECS / "hp_c2247a.parv" if name == "hp_c2249a" else None
    found, ours = check(importer.from_disksim(SPECS / IMPORTED[name], bus=bus)), disks.load(name).data
    assert SECTIONS
    for section in SECTIONS:
        assert found[section] == ours[section], section
    literal = importer.from_disksim(SPECS / IMPORTED[name], bus=bus, literal=True)
    for section in SECTIONS:
        assert check(literal)[section] == disks.load(name).as_disksim().data[section], section


@pytest.mark.parametrize("name", ["dec_rz26", "hp_c2247a", "hp_c2249a", "hp_c2490a", "st41601n"])
def test_a_drive_has_the_blocks_that_its_file_says(name):
    """Only self-consistent files are compared; the others count blocks that no zone has, or leave out zones."""
    found = list(SPECS.glob(f"{name}*.model"))
    counts = {int(re.search(r"Block count = +(\d+)", path.read_text())[1]) for path in found}
    assert counts == {disks.load(name).blocks}


@pytest.mark.parametrize("name", disks.names())
def test_every_value_of_a_packaged_drive_has_a_source(name):
    kind = disks.load(name)
    assert kind.path.stem == kind.name == name
    sections = FLASH_SECTIONS if kind.data["kind"] == "flash" else SECTIONS
    for section in sections:
        for key in (key for key, value in kind.data[section].items() if value != []):  # an empty list needs no source
            entry = kind.source(f"{section}.{key}")
            assert entry is not None and len(entry["source"]) > 3, f"{section}.{key}"
    for key in kind.data["sources"]:
        section, _, value = key.partition(".")
        assert section in kind.data and (not value or value.partition(".")[0] in kind.data[section]), key


def test_a_users_own_drive_is_loaded(capsys, made, tmp_path):
    output = tmp_path / "mine.yaml"
    arguments = ["disk", "import", str(made()), str(output), "--name", "mine", "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) | {"output": ""} == {
        "output": "", "drive": "mine", "blocks": 800, "decisions": "head_switch", "assumed": None}  # fmt: skip
    kind = disks.load(output)
    assert kind.mechanics.seek(1) == 1_500_000 and kind.mechanics.seek(5) == 3_500_000
    # This is the track skew of 8 of 40 sectors at 10 ms per revolution, less the write settling.
    assert kind.data["mechanics"]["head_switch_ms"] == 1.5
    assert kind.as_disksim().data["mechanics"]["head_switch_ms"] == 1.0
    record = kind.drive().service(0, 0, 1)
    assert record["overhead"] >= 700_000
    assert main(arguments) == 2  # the output exists already
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize(("level", "assumed"), [(0, None), (1, "cache.write_behind"), (2, None)])
def test_an_import_says_what_it_assumes_a_fast_write_level_to_mean(capsys, made, tmp_path, level, assumed):
    specs, output = MADE.replace("Bulk", f"Fast write level = {level}, Bulk"), tmp_path / "mine.yaml"
    assert main(["disk", "import", str(made(specs)), str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["assumed"] == assumed
    assert disks.load(output).data["cache"]["write_behind"] == (level > 0)
    assert "cache.write_behind" not in importer.from_disksim(made(specs), literal=True)["sources"]


@pytest.mark.parametrize("level", [-1, 3])
def test_a_fast_write_level_that_disksim_does_not_have_is_refused(made, level):
    with pytest.raises(InputError, match=f"Fast write level = {level}; expected 0 to 2"):
        importer.from_disksim(made(MADE.replace("Bulk", f"Fast write level = {level}, Bulk")))


BUFFER = "Buffer continuous read = {}, Enable caching in buffer = {}, Allow read hits on write data = {}"
SEQUENTIAL = {"cache.ahead_when": ("always", "sequential"), "cache.read_ahead": ("next_track", "segment")}


@pytest.mark.parametrize(
    ("drive", "ahead", "caching", "decided"),
    [
        ("MADE", 4, (1, 1), {}),
        ("QUANTUM_QM39100TD-SW", 4, (1, 1), SEQUENTIAL),
        ("QUANTUM_QM39100TD-SW", 1, (1, 1), {}),  # the drive does not read ahead to the next track
        ("HP_C3323A", 4, (1, 1), {"bus.write_water": (0, 0.75)}),
        ("HP_C3323A_validate", 4, (1, 1), {"bus.write_water": (0, 0.75)}),
        ("DEC_RZ26", 4, (1, 1), {"mechanics.write_settle_ms": (-0.5, 0)}),
        ("MADE", 4, (2, 1), {"cache.read_written": (True, False)}),
        ("MADE", 4, (2, 0), {}),  # written blocks cannot be read in any case
    ],
)
def test_decisions_apply_to_drives_that_meet_their_condition(made, drive, ahead, caching, decided):
    """Only the decided values may differ from DiskSim's; `decided` holds DiskSim's value and ours for each."""
    specs = MADE.replace("disksim_disk MADE", f"disksim_disk {drive}").replace("Bulk sector transfer time = 0.02,", "")
    specs = specs.replace("Buffer continuous read = 1, Enable caching in buffer = 1", BUFFER.format(ahead, *caching))
    specs = specs.replace("Number of", "Low (write) water mark = 0.75, Number of")
    path = made(specs, MODEL.replace("delay = 0.5", "delay = -0.5"))
    kind = Description(check(importer.from_disksim(path)))
    literal = Description(check(importer.from_disksim(path, literal=True)))
    found = {}
    for section in SECTIONS:
        for key, value in kind.data[section].items():
            if value != literal.data[section][key] and key != "disksim_buffer":
                found[f"{section}.{key}"] = (literal.data[section][key], value)
    assert found == decided and set(kind.decisions()) == set(decided)
    assert all(kind.as_disksim().data[section] == literal.data[section] for section in SECTIONS)


SPARES = MODEL.replace("Sparing scheme used = 0", "Sparing scheme used = 3").replace("spares = 0", "spares = 2")


def test_defects_are_pairs_of_a_bad_sector_and_its_spare(made):
    """Each track of 40 sectors must keep its last two as spares."""
    model = SPARES.replace("defects = []", "defects = [3, 38, 5, 39]")
    kind = Description(check(importer.from_disksim(made(model=model))))
    assert kind.blocks == 20 * 38
    assert [kind.mechanics.locate(lbn)[2] for lbn in range(2, 7)] == [2, 38, 4, 39, 6]


@pytest.mark.parametrize("points", [[[1, 2], [1, 2.5], [5, 4]], [[1, 2], [5, 4], [3, 3]]])
def test_distances_of_a_seek_table_rise_from_1_on(points):
    with pytest.raises(InputError, match="seek table: expected distances of 1 or more, in rising order"):
        disks.load("hp97560").replace({"mechanics.seek": {"table_ms": points}})


def test_a_slip_before_its_zone_is_refused():
    data = copy.deepcopy(disks.load("hp97560").data)
    for slips in ([-1, 5], [5, 10**9]):
        data["geometry"]["zones"][0]["slips"] = slips
        with pytest.raises(ParameterError, match=r"zone 0: expected slips and defects from 0 to [0-9]+"):
            layout.build(data["geometry"])


@pytest.mark.parametrize(
    ("defects", "message"),
    [
        ("[3, 38, 3, 39]", "a sector is remapped twice"),
        ("[3, 38, 5, 38]", "two blocks lie in one sector: a defect's spare sector"),
    ],
)
def test_a_layout_with_two_places_for_a_block_or_two_blocks_in_a_place_is_refused(made, defects, message):
    with pytest.raises(InputError, match=message):
        Description(check(importer.from_disksim(made(model=SPARES.replace("defects = []", f"defects = {defects}")))))


def test_a_far_seek_shorter_than_one_over_a_cylinder_is_left_out(made):
    points = [(1, 1.0), (8, 0.9), (10, 1.5), (20, 0.4), (30, 2.5)]  # the dip at 8 is not a far seek, so it is kept
    seek = f"Seek distances measured: {len(points)}\n" + "".join(f"{at}, {ms}\n" for at, ms in points)
    kind = Description(
        check(
            importer.from_disksim(
                made(model=MODEL.replace("= 9,", "= 39,").replace("cylinders = 10", "cylinders = 40"), seek=seek)
            )
        )
    )
    assert kind.data["mechanics"]["seek_left_out"] == [20]
    assert kind.mechanics.seek(20) == 2_000_000 and kind.as_disksim().mechanics.seek(20) == 400_000
    assert kind.mechanics.seek(8) == 900_000
    for wrong in ([1], [9]):
        with pytest.raises(InputError, match="seek_left_out"):
            kind.replace({"mechanics.seek_left_out": wrong})


@pytest.mark.parametrize(
    "change",
    [
        {"specs": ""}, {"specs": MADE[: len(MADE) // 2]}, {"specs": MADE + MADE}, {"specs": b"\xff\xfe\0" * 99},
        {"specs": "source made.diskspecs"}, {"specs": "source ../made.model"}, {"specs": "source /etc/passwd"},
        {"specs": "a b { c = " + "[" * 5000}, {"specs": "topology disksim_disk " + "[ a b " * 5000},
        {"specs": "a b { c = " + "d e { f = " * 5000}, {"specs": MADE.replace("0.02", "much")},
        {"specs": MADE.replace("segments = 2", "segments = 2.5")}, {"specs": MADE.replace("= 64", "= 1e300")},
        {"specs": MADE.replace("made.model", "none.model")}, {"specs": MADE.replace("made.model", "ma\0de.model")},
        {"model": MODEL.replace("made.seek", "ma\0de.seek")},
        {"model": ""}, {"model": MODEL.replace("6000", "0")}, {"model": MODEL.replace("= 40", "= 0")},
        {"model": MODEL.replace("= 9,", "= 9000000000,")}, {"model": MODEL.replace("scheme = 0", "scheme = 9")},
        {"model": MODEL.replace("slips = []", "slips = [1, x]")},
        {"model": MODEL.replace("defects = []", "defects = [1]")},
        {"model": MODEL.replace("extracted", "guessed")}, {"model": MODEL.replace("[ dm_layout", "[ [[ dm_layout")},
        {"model": MODEL.replace("dm_mech_g1", "dm_mech_g9")}, {"model": MODEL.replace("surfaces = 2", "surfaces = -2")},
        {"model": MODEL[: MODEL.index("[ dm_layout")] + "[ ]" + MODEL[MODEL.index("\n   },\n   Mech") :]},
        {"model": MODEL.replace("cylinders = 10", "cylinders = 1e999")}, {"model": MODEL.replace("= 8.0", "= 1e999")},
        {"specs": MADE.replace("= 64", "= " + "9" * 5000)},
        {"seek": ""}, {"seek": "Seek distances measured: 3\n1, 1.5\n"}, {"seek": SEEK.replace("1.5", "nan")},
        {"seek": SEEK.replace("1, 1.5", "10, 1.5")}, {"seek": SEEK.replace("1, 1.5", "9" * 400 + ", 1.5")},
        {"seek": SEEK.replace("1, 1.5", "\N{SUPERSCRIPT TWO}, 1.5")}, {"seek": SEEK.replace(": 2", ": " + "2" * 5000)},
        {"seek": SEEK.replace("1.5", "1e9")}, {"seek": b"\xff"},
    ],
)  # fmt: skip
def test_wrong_parameter_files_are_refused(capsys, made, tmp_path, change):
    output = tmp_path / "mine.yaml"
    assert main(["disk", "import", str(made(**change)), str(output)]) == 2
    assert not output.exists() and "Traceback" not in capsys.readouterr().err


def test_a_seek_table_may_have_one_point(capsys, made, tmp_path):
    """The time of the only point must apply to every distance above 0."""
    output = tmp_path / "mine.yaml"
    assert main(["disk", "import", str(made(seek="Seek distances measured: 1\n3, 2.5\n")), str(output)]) == 0
    capsys.readouterr()
    mechanics = disks.load(output).mechanics
    assert [mechanics.seek(distance) for distance in (0, 1, 3, 9)] == [0, 2_500_000, 2_500_000, 2_500_000]


HPL = "Seek type = hplplus10, HPL seek equation values = [ 4.5, 1.0, 0.5, 2.0, 0.1, -1 ]"
TEN = ", First ten seek times = [ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ]"


def test_a_computed_seek_curve_begins_with_its_ten_measured_times(made):
    """If the line begins at 4.5 cylinders, a seek over 5 cylinders must be the first that lies on it."""
    model = MODEL.replace("Seek type = extracted, Full seek curve = made.seek", HPL + TEN)
    seek = importer.from_disksim(made(model=model))["mechanics"]["seek"]
    assert seek["first_ms"] == list(range(1, 11)) and seek["long_from"] == 5


@pytest.mark.parametrize("ten", ["", TEN.replace(", 10", ""), TEN.replace("10 ]", "10, 11 ]"), TEN.replace("10", "x")])
def test_a_computed_seek_curve_without_its_ten_measured_times_is_refused(made, ten):
    model = MODEL.replace("Seek type = extracted, Full seek curve = made.seek", HPL + ten)
    with pytest.raises(InputError, match="First ten seek times are malformed; expected ten numbers"):
        importer.from_disksim(made(model=model))


def test_a_drive_may_have_one_cylinder(made):
    """A head switch must still take as long as a seek over one cylinder in the seek curve."""
    model = MODEL.replace("cylinders = 10", "cylinders = 1").replace("= 9,", "= 0,").replace("= 8.0", "= 20.0")
    assert check(importer.from_disksim(made(model=model)))["mechanics"]["head_switch_ms"] == 1.5
    assert check(importer.from_disksim(made(model=model), literal=True))["mechanics"]["head_switch_ms"] == 1.0


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan")])
def test_a_seek_table_rejects_numbers_beyond_float(value):
    kind = disks.load("cheetah9lp")
    table = kind.data["mechanics"]["seek"]["table_ms"]
    with pytest.raises((InputError, ParameterError)):
        kind.replace({"mechanics.seek": {"table_ms": [*table[:-1], [value, 9.0]]}})
    with pytest.raises((InputError, ParameterError)):
        kind.replace({"mechanics.seek": {"table_ms": [*table[:-1], [table[-1][0], value]]}})


def test_files_that_source_each_other_many_times_are_refused(tmp_path):
    (tmp_path / "d25.parv").write_text("disksim_iosim Stats { I/O Trace Time Scale = 1.0 }\n")
    for depth in range(25):  # the last file would be read 2**25 times
        (tmp_path / f"d{depth}.parv").write_text(f"source d{depth + 1}.parv\n" * 2)
    with pytest.raises(InputError, match="source each other in a cycle"):
        parameter_file.read(tmp_path / "d0.parv")


def test_an_overhead_of_each_request_is_refused(made):
    specs = MADE.replace("Bulk sector", "Per-request overhead time = 0.5, Bulk sector")
    with pytest.raises(InputError, match=r"Per-request overhead time is set.*expected 0"):
        importer.from_disksim(made(specs))


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("enabled", [0, 1])
def test_a_buffer_without_caching_serves_no_hits(made, enabled, literal):
    specs = MADE.replace(
        "continuous read = 1, Enable caching in buffer = 1",
        f"continuous read = 0, Enable caching in buffer = {enabled}",
    )
    drive = Description(check(importer.from_disksim(made(specs), literal=literal))).drive()
    again = drive.service(drive.service(0, 100, 8)["done"], 100, 8)
    assert bool(again["hit"]) == bool(enabled)


@pytest.mark.parametrize(
    ("key", "value", "only"),
    [
        ("Preseeking level", 2, 0), ("Minimum read-ahead (blks)", 8, 0), ("Set watermark by reqsize", 0, 1),
        ("Combine seq writes", 0, 1), ("Disconnect write if seek", 1, 0), ("Write hit stop prefetch", 0, 1),
        ("Read directly to buffer", 0, 1), ("Immed transfer partial hit", 0, 1),
    ],
)  # fmt: skip
def test_what_the_model_cannot_express_is_refused(made, key, value, only):
    with pytest.raises(InputError, match=re.escape(f"{key} = {value}; expected {only}")):
        importer.from_disksim(made(MADE.replace("Bulk", f"{key} = {value}, Bulk")))
    importer.from_disksim(made(MADE.replace("Bulk", f"{key} = {only}, Bulk")))


@pytest.mark.parametrize(
    ("key", "value", "only"),
    [
        ("Access time type", "averageRotation", "trackSwitchPlusRotation"),
        ("Access time type", "constant", "trackSwitchPlusRotation"),
        ("Percent error in rpms", 0.5, 0),
    ],
)
def test_mechanics_that_the_model_cannot_express_are_refused(made, key, value, only):
    with pytest.raises(InputError, match=re.escape(f"made.model: {key} = {value}; expected {only}")):
        importer.from_disksim(made(model=MODEL.replace("Rotation", f"{key} = {value}, Rotation")))
    importer.from_disksim(made(model=MODEL.replace("Rotation", f"{key} = {only}, Rotation")))


@pytest.mark.parametrize("key", ["First reselect overhead", "Read disconnect afterwrite", "Write disconnect overhead"])
def test_a_drive_that_never_disconnects_may_need_no_time_for_it(made, key):
    with pytest.raises(InputError, match="never disconnects has times to disconnect or to reselect; expected"):
        importer.from_disksim(made(MADE.replace("Bulk", f"Never disconnect = 1, {key} = 0.2, Bulk")))
    for flag, ms in ((0, 0.2), (1, 0)):
        importer.from_disksim(made(MADE.replace("Bulk", f"Never disconnect = {flag}, {key} = {ms}, Bulk")))


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize(("most", "over", "last"), [(0, 0, 63), (0, 1, 103), (32, 0, 71), (32, 1, 71)])
def test_read_ahead_without_a_maximum_fills_the_segment(made, most, over, last, literal):
    """A segment has 64 blocks. After a read of 40, 24 are read ahead, or 64 if they may overwrite the 40.

    If there is a maximum, DiskSim counts it from the end of the read in both cases (disk_buffer_get_max_readahead).
    """
    ahead = f"Maximum read-ahead (blks) = {most}, Read-ahead over requested = {over}, Buffer continuous read = 3"
    path = made(MADE.replace("Buffer continuous read = 1", ahead))
    kind = Description(check(importer.from_disksim(path, literal=literal)))
    for block, hit in ((last, True), (last + 1, False)):
        drive = kind.drive()
        assert bool(drive.service(drive.service(0, 0, 40)["done"] + 10**9, block, 1)["hit"]) == hit


def test_an_impossible_seek_curve_names_the_file(made):
    with pytest.raises(InputError, match=r"made\.diskspecs: seek table: expected distances .* in rising order"):
        importer.from_disksim(made(seek=SEEK.replace("1, 1.5", "10, 1.5")))


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a b {\n c = ]\n\n}\n", 2, "]"), ("nothing\n\na b { c = 1 }\n", 1, "nothing"),
        ("a b {\n c\n d = 1\n}\n", 3, "d"), ("a b {\n c = " + "9" * 31 + "\n\n}\n", 2, "number"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_of_the_wrong_word(tmp_path, text, line, found):
    (path := tmp_path / "wrong.parv").write_text(text)
    with pytest.raises(InputError, match=re.escape(f"wrong.parv, line {line}: unexpected ") + f"'?{re.escape(found)}"):
        parameter_file.read(path)


def test_a_file_that_is_not_from_disksim_is_told_what_it_should_hold(tmp_path):
    (path := tmp_path / "mine.yaml").write_text("name: mine\nkind: disk\n")
    with pytest.raises(
        InputError, match=r"mine\.yaml, line 1: unexpected 'name: mine.*'; expected a block of DiskSim's"
    ):
        parameter_file.read(path)


def test_a_parameter_file_may_begin_with_a_byte_order_mark(tmp_path):
    (path := tmp_path / "mine.parv").write_bytes(b"\xef\xbb\xbfa b {\r\n c = 1\r\n}")
    assert [(block.type, block.name, dict(block)) for block in parameter_file.read(path)[0]] == [("a", "b", {"c": 1})]


def test_a_slip_that_is_listed_twice_is_one():
    geometry = copy.deepcopy(disks.load("hp97560").data["geometry"])
    geometry["sparing"]["scheme"] = "track"
    tables = []
    for slips in ([5], [5, 5]):
        geometry["zones"][0]["slips"] = slips
        tables.append(layout.build(geometry))
    assert [np.array_equal(once, twice) for once, twice in zip(*tables, strict=True)] == [True] * 3


def test_a_file_without_a_bus_cannot_give_one(made):
    with pytest.raises(InputError, match=r"made\.diskspecs: has no bus; expected a topology with a bus"):
        importer.from_disksim(made(), bus=made())


BUSES = """
disksim_bus BUS { Read block transfer time = 0.1, Write block transfer time = 0.2 }
instantiate [ disk0 .. disk8 ] as MADE
instantiate [ bus1 .. bus9 ] as BUS
topology disksim_iodriver driver0 [
   disksim_bus bus1 [ disksim_disk disk0 [] ],
   disksim_bus bus2 [ disksim_disk disk1 [] ]
]
"""


def test_instances_may_be_a_range(made):
    bus = importer.from_disksim(made(MADE + BUSES))["bus"]
    assert (bus["read_block_ms"], bus["write_block_ms"]) == (0.1, 0.2)
    with pytest.raises(InputError, match=r"made\.diskspecs: has no bus above the disk"):
        importer.from_disksim(made(MADE + BUSES.replace("bus1 ..", "bus2 ..")))
    for last in ("bus99999999", "bus0"):
        with pytest.raises(InputError, match=rf"unexpected range 'bus1 \.\. {last}'; expected 1 to 10000 names"):
            importer.from_disksim(made(MADE + BUSES.replace("bus9 ]", f"{last} ]")))


def test_words_may_be_separated_by_any_blanks(made):
    """DiskSim's parameter files separate words by any number of blanks and tabs."""
    plain = importer.from_disksim(made(MADE + BUSES))
    for blanks in ("\t", "   "):
        specs, model = (text.replace(" ", blanks) for text in (MADE + BUSES, MODEL))
        assert importer.from_disksim(made(specs, model)) == plain
