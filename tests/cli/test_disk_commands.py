"""``misspenalty disk`` prints the library's results, and refuses wrong arguments, requests and descriptions."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from misspenalty import disks
from misspenalty.cli.main import main
from misspenalty.disks.drive import description
from misspenalty.disks.requests import read_requests
from misspenalty.errors import InputError, ParameterError

LINES = "R miss 1000 8 14000.5 0\nW write 52000 16 9000 250\n# a remark\n\nR hit 1008 8 900 30000000\n"


def run(capsys, *arguments):
    status = main(["disk", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def requests(tmp_path):
    path = tmp_path / "requests.txt"
    path.write_text(LINES)
    return str(path)


def test_list(capsys):
    status, out, _ = run(capsys, "list", "--json")
    rows = json.loads(out)
    assert status == 0 and [row["drive"] for row in rows] == disks.names()
    assert {"drive": "hp97560", "model": "HP 97560", "kind": "disk", "gigabytes": 1.37, "rpm": 4002} in rows


def test_list_has_flash_without_platters(capsys):
    rows = {row["drive"]: row for row in json.loads(run(capsys, "list", "--json")[1])}
    assert rows["dc_p3700"]["kind"] == "flash" and rows["dc_p3700"]["rpm"] is None
    assert rows["constellation_es3"]["gigabytes"] == pytest.approx(2000.4, abs=0.1)


def test_info(capsys):
    row = json.loads(run(capsys, "info", "hp97560", "--json")[1])
    assert (row["heads"], row["cylinders"], row["seek_one_cylinder_ms"]) == (19, 1962, 3.64)
    row = json.loads(run(capsys, "info", "dc_s3700", "--json")[1])
    assert (row["channels"], row["dies"], row["erase_block_kb"], row["power_safe_buffer_kb"]) == (8, 32, 4096, 4096)
    status, out, _ = run(capsys, "info", "hp97560", "--sources", "--csv")
    assert status == 0 and out.startswith("value,status,source,reason,decision,disksim\n")


def test_a_source_may_hold_a_list(capsys):
    """DiskSim leaves no distance out of its seek curve, so the column ``disksim`` must hold an empty list."""
    status, out, _ = run(capsys, "info", "ibm18es", "--sources", "--json")
    assert status == 0
    assert {row["value"]: row["disksim"] for row in json.loads(out)}["mechanics.seek_left_out"] == []


@pytest.mark.parametrize("drive", ["hp97560", "constellation_es3", "dc_s3700"])
def test_replay(capsys, requests, tmp_path, drive):
    records = tmp_path / "records.csv"
    status, out, _ = run(capsys, "replay", drive, requests, "--json", "--records", str(records))
    row = json.loads(out)
    assert status == 0
    assert list(row) == ["drive", "requests", "mean_measured_ms", "mean_simulated_ms", "demerit_ms"]
    assert (row["drive"], row["requests"]) == (drive, 3)
    assert row["mean_measured_ms"] == pytest.approx((14000.5 + 9000 + 900) / 3000)
    header, *lines = records.read_text().splitlines()
    names = header.split(",")
    assert len(lines) == 3
    for line in lines:
        record = dict(zip(names, map(int, line.split(",")), strict=True))
        assert record["done"] - record["arrival"] == sum(record[part] for part in disks.COMPONENTS)


@pytest.mark.parametrize("drive", ["hp97560", "dc_s3700"])
def test_values_that_are_not_from_disksim_cannot_be_read_as_disksim_does(capsys, requests, drive):
    status, _, err = run(capsys, "replay", drive, requests, "--literal")
    assert status == 2 and f"--literal: no value of {drive} was imported from DiskSim; leave out --literal" in err
    assert run(capsys, "replay", "cheetah9lp", requests, "--literal")[0] == 0


def test_a_screen_shows_ten_digits_and_json_all(capsys, requests):
    mean = json.loads(run(capsys, "replay", "cheetah9lp", requests, "--json")[1])["mean_simulated_ms"]
    assert len(repr(mean)) > 12
    assert f"mean_simulated_ms  {mean:.10g}\n" in run(capsys, "replay", "cheetah9lp", requests)[1]


def test_a_fit_names_its_file_unless_an_option_is_wrong(capsys, requests):
    status, out, err = run(capsys, "fit", requests)
    assert (status, out) == (2, "") and err.startswith(f"misspenalty: {requests}: of the reads in the first half, 0 ")
    assert run(capsys, "fit", requests, "--heads", "65")[2].startswith("misspenalty: --heads is 65; expected a whole")


def test_replay_of_the_drives_own_times_has_no_demerit(capsys, tmp_path):
    drive, now, lines = disks.load("ibm18es").drive(), 0, []
    for lbn in (0, 7_000_000, 7_000_016, 123_456):
        record = drive.service(now, lbn, 16)
        lines.append(f"R x {lbn} 16 {record['done'] - now}e-3 1000")
        now = record["done"] + 1_000_000
    path = tmp_path / "own.txt"
    path.write_text("\n".join(lines))
    row = json.loads(run(capsys, "replay", "ibm18es", str(path), "--json")[1])
    assert row["demerit_ms"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "line",
    ["R x 1 8 5", "X x 1 8 5 0", "R x one 8 5 0", "R x 1 0 5 0", "R x -1 8 5 0", "R x 1 8 nan 0", "R x 1 8 5 -1",
     "R x 1 8 5 1e300", "R x 99999999999999999999 8 5 0", "\0\0\xff", "R x 1 8 5 0 7", "R x 1 4294967296 5 0",
     "R x 1 2147483648 5 0"],
)  # fmt: skip
def test_wrong_lines_are_named(capsys, tmp_path, line):
    path = tmp_path / "wrong.txt"
    path.write_text("R x 1 8 5 0\n" + line + "\n", encoding="latin-1")
    with pytest.raises(InputError, match="line 2"):
        read_requests(path)
    status, out, err = run(capsys, "replay", "hp97560", str(path))
    assert status == 2 and not out and "Traceback" not in err


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbfR x 76 16 1e4 5\r\nW y 80 1 1500 0", b"R x 76 16 1e4 5\rW y 80 1 1500 0\r",
     gzip.compress(b"R x 76 16 1e4 5\n") + gzip.compress(b"\n# more\nW y 80 1 1500 0\n")],
    ids=["byte order mark", "old line ends", "gzip"],
)  # fmt: skip
def test_requests_are_read_as_traces_are(tmp_path, content):
    (path := tmp_path / "requests.txt").write_bytes(content)
    read = read_requests(path)
    assert (read.lbn.tolist(), read.write.tolist(), read.measured.tolist()) == ([76, 80], [0, 1], [10, 1.5])


def test_requests_in_another_encoding_are_refused(tmp_path):
    (path := tmp_path / "requests.txt").write_bytes("R x 76 16 1e4 5\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"requests.txt: is written in UTF-16.*save it as UTF-8"):
        read_requests(path)


def test_a_long_line_is_shown_by_its_beginning(tmp_path):
    (path := tmp_path / "wrong.txt").write_text("x" * 200 + "\n")
    with pytest.raises(InputError) as error:
        read_requests(path)
    assert f"'{'x' * 80}'" in str(error.value)


def test_requests_that_cannot_be_played_are_refused(capsys, tmp_path):
    path = tmp_path / "x.txt"
    for text in ("", "# nothing\n", "R x 2684016 1 5 0\n", "R x 0 8 5 9e14\n" * 2000):
        path.write_text(text)
        status, out, err = run(capsys, "replay", "hp97560", str(path))
        assert status == 2 and not out and err.startswith(f"misspenalty: {path}: ")
    assert run(capsys, "replay", "hp97560", str(tmp_path / "missing"))[0] == 2
    assert run(capsys, "replay", "hp97560", str(tmp_path))[0] == 2
    assert run(capsys, "info", "no_such_drive")[0] == 2


@pytest.mark.parametrize(
    "text",
    ["", "[]", "name: x", "a: &a [*a]", "like: nothing", "like: [1]", "\0", "{", "name: !!python/object:os.system {}"],
)
def test_descriptions_that_are_wrong_are_refused(capsys, tmp_path, text):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    status, _, err = run(capsys, "info", str(path))
    assert status == 2 and "Traceback" not in err
    assert not text.startswith("like") or "is not an installed drive; 'misspenalty disk list' lists them" in err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("geometry.cylinders", 10, "the last zone ends beyond cylinder 9"),
        ("geometry.zones", [], r"geometry\.zones: \[\] should be non-empty"),
        ("geometry.heads", 10**9, r"geometry\.heads: 1000000000; expected a whole number, at least 1 and at most"),
        ("mechanics.rpm", 0, r"mechanics\.rpm: 0; expected a whole number, at least 60"),
        ("mechanics.seek", {"table_ms": [[2, 1.0], [1, 2.0]]}, "seek table: expected distances .* in rising order"),
        ("mechanics.seek", {"table_ms": [[1, float("nan")]]}, r"table_ms\.0\.1: not a finite number"),
        ("mechanics.seek", {"table_ms": [["a", "b"], ["c", "d"]]}, r"table_ms\.0\.0: 'a'; expected a whole number"),
        ("mechanics.seek", {"table_ms": [[1, [2]], [3, 4]]}, r"table_ms\.0\.1: \[2\]; expected a number"),
        ("mechanics.head_switch_ms", float("nan"), "head_switch_ms: not a finite number"),
        ("mechanics.head_switch_ms", float("inf"), "head_switch_ms: inf; expected a number, at least 0 and at most"),
        ("bus.read_block_ms", float("nan"), "read_block_ms: not a finite number"),
        ("cache.segments", 0, r"cache\.segments: 0; expected a whole number, at least 1"),
        ("overheads.read_completion", -1, r"overheads\.read_completion: -1; expected a number, at least 0"),
    ],
)
def test_impossible_values_are_refused(key, value, said):
    with pytest.raises(InputError, match=said):
        disks.load("hp97560").replace({key: value})


def test_whole_numbers_may_have_a_point():
    assert disks.load("hp97560").replace({"geometry.heads": 19.0}).blocks == disks.load("hp97560").blocks


def test_unknown_keys_are_refused():
    for key in ("mechanics.nothing", "nothing", "mechanics.rpm.more", "mechanics.seek.nothing", ""):
        with pytest.raises(ParameterError, match=f"^'{key}' is not a key of a drive's description"):
            disks.load("hp97560").replace({key: 1})


def test_a_description_may_be_like_another(capsys, tmp_path):
    path = tmp_path / "faster.yaml"
    path.write_text(yaml.safe_dump({"like": "hp97560", "name": "faster", "mechanics": {"rpm": 8004}}))
    row = json.loads(run(capsys, "info", str(path), "--json")[1])
    assert (row["rpm"], row["revolution_ms"], row["cylinders"]) == (8004, 7.496, 1962)


@pytest.mark.parametrize(("file", "name"), [("faster.yaml", "faster"), ("My disk-2.yaml", "my_disk_2")])
def test_a_description_like_another_has_the_name_of_its_file_unless_it_says_one(tmp_path, file, name):
    path = tmp_path / file
    path.write_text(yaml.safe_dump({"like": "hp97560", "mechanics": {"rpm": 8004}}))
    assert disks.load(path).name == name
    path.write_text(yaml.safe_dump({"like": "hp97560", "name": "mine"}))
    assert disks.load(path).name == "mine"


@pytest.mark.parametrize(
    ("bases", "said"),
    [
        ({"mine": "mine"}, r"mine\.yaml: like: 'mine' is this drive itself; expected another drive"),
        ({"mine": "yours", "yours": "mine"}, r"yours\.yaml: like: 'mine' is like this drive; expected another drive"),
    ],
)
def test_an_installed_description_is_not_like_itself(monkeypatch, tmp_path, bases, said):
    for name, base in bases.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({"like": base, "name": name}))
    monkeypatch.setattr(description, "_installed", lambda: {name: tmp_path / f"{name}.yaml" for name in bases})
    with pytest.raises(InputError, match=said):
        disks.load("mine")


def like(tmp_path, base, **changes):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"like": base, "name": "mine"} | changes))
    return disks.load(path)


@pytest.mark.parametrize("kind", ["ssd", ["disk"], None])
def test_a_kind_is_disk_or_flash(kind):
    data = disks.load("hp97560").data | {"kind": kind}
    with pytest.raises(InputError, match=r"kind is ('ssd'|\['disk'\]|missing); expected disk or flash"):
        description.check(data)


@pytest.mark.parametrize("kind", ["disk", "ssd"])
def test_a_drive_is_of_the_kind_of_the_one_that_it_is_like(tmp_path, kind):
    with pytest.raises(InputError, match=f"kind is '{kind}', but dc_p3700, which it is like, is of kind flash"):
        like(tmp_path, "dc_p3700", kind=kind)
    assert like(tmp_path, "dc_p3700", kind="flash").name == "mine"


@pytest.mark.parametrize("base, key", [("hp97560", "mechanics.rmp"), ("hp97560", "name.x"), ("dc_p3700", "mechanics")])
def test_a_source_of_a_value_that_the_drive_cannot_have_is_refused(tmp_path, base, key):
    own = {"status": "stated", "source": "a data sheet"}
    with pytest.raises(
        InputError, match=rf"mine\.yaml: sources: a drive of kind \w+ has no '{key}'.*; expected one of"
    ):
        like(tmp_path, base, sources={key: own})


def test_a_source_replaces_the_whole_source_of_the_drive_that_is_like_it(tmp_path):
    """The new source records no departure from DiskSim, so reading the drive as DiskSim does keeps the value."""
    own = {"status": "measured", "source": "our bench"}
    kind = like(tmp_path, "ibm18es", mechanics={"head_switch_ms": 2.5}, sources={"mechanics.head_switch_ms": own})
    assert disks.load("ibm18es").source("mechanics.head_switch_ms")["decision"] == "head_switch"
    assert kind.source("mechanics.head_switch_ms") == own
    assert kind.as_disksim().data["mechanics"]["head_switch_ms"] == 2.5


FORMULA = {"short_ms": 1, "short_sqrt_ms": 0.5, "long_from": 100, "long_ms": 4, "long_cylinder_ms": 0.001}


@pytest.mark.parametrize(
    ("base", "seek", "times"),
    [
        ("hp97560", {"table_ms": [[1, 2], [1961, 20]]}, {1: 2_000_000, 981: 11_000_000}),  # 2 ms and half of 18 ms
        ("hp97560", {"short_ms": 4.24}, {1: 4_640_000, 1000: 16_000_000}),  # short seeks take 1 ms more, long ones none
        ("cheetah9lp", FORMULA, {4: 2_000_000, 1000: 5_000_000}),
    ],
)
def test_a_drive_like_another_may_have_its_own_seek_curve(tmp_path, base, seek, times):
    mechanics = like(tmp_path, base, mechanics={"seek": seek}).mechanics
    assert {distance: mechanics.seek(distance) for distance in times} == times


def test_one_value_of_a_seek_curve_can_be_replaced():
    """Only the replaced constant may change; the published curve is 3.24 ms + 0.4 ms times the root of the distance."""
    assert disks.load("hp97560").replace({"mechanics.seek.short_ms": 4.24}).mechanics.seek(4) == 5_040_000


# This program gives all requests to a drive at once, while the process may take no more memory than its records and 16
# MB.
CROWD = """
import resource
from pathlib import Path
import numpy as np
from misspenalty.disks import load
from misspenalty.disks.drive._replay import as_they_arrive
from misspenalty.disks.drive.records import RECORD
n = 1 << 20
zeros, count, write = np.zeros(n, np.int64), np.ones(n, np.int32), np.zeros(n, np.uint8)
drive = load("hp97560").drive("fcfs")
mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = mapped + n * RECORD.itemsize + (1 << 24)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    as_they_arrive(drive, zeros, zeros, count, write)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux reports mapped memory in /proc")
def test_a_queue_that_finds_no_memory_is_named():
    done = subprocess.run([sys.executable, "-c", CROWD], capture_output=True, text=True, timeout=100, check=False)
    message = r"no memory for \d+ requests in the drive's queue, \d+ bytes each\n"
    assert re.fullmatch(message, done.stdout), done.stdout + done.stderr
