"""A full disk causes one line on standard error and no half-written file; closed pipes and odd names do no harm."""

import csv
import errno
import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from misspenalty.cli.main import main

COMMAND = [sys.executable, "-m", "misspenalty"]
TRACE = "".join(f"0,{8 * (n * n % 977)},4096,R,{n / 1000}\n" for n in range(20_000))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "x.spc"
    path.write_text(TRACE)
    return path


@pytest.fixture
def full_disk():
    """Make writes beyond 3000 bytes of a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def run(*arguments, stdout=subprocess.PIPE, unbuffered=False):
    return subprocess.run(
        [*COMMAND, *map(os.fsencode, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1" if unbuffered else ""},
        check=False,
    )


def refused(done):
    error = done.stderr.decode()
    assert done.returncode == 2 and error.startswith("misspenalty: ") and error.count("\n") == 1, error
    return error


@pytest.mark.parametrize("arguments", [["trace", "info"], ["curve", "--size", "all", "--csv"]])
def test_standard_output_on_a_full_disk(trace, arguments):
    """A full disk must be reported for a short output and for one that is longer than the stream's buffer."""
    with open("/dev/full", "wb") as full:
        done = run(*arguments, trace, stdout=full)
    assert "the output: cannot be written (No space left on device)" in refused(done)


@pytest.mark.parametrize("unbuffered", [False, True])
def test_help_on_a_full_disk_and_into_a_closed_pipe(unbuffered):
    with open("/dev/full", "wb") as full:
        refused(run("curve", "--help", stdout=full, unbuffered=unbuffered))
    reading, writing = os.pipe()
    os.close(reading)
    done = run("curve", "--help", stdout=writing, unbuffered=unbuffered)
    os.close(writing)
    assert done.stderr == b""


def test_a_table_into_a_closed_pipe(trace):
    done = subprocess.run(
        f"{' '.join(COMMAND)} curve {trace} --size all --csv | head -1", shell=True, capture_output=True, check=True
    )
    assert done.stdout.startswith(b"policy,") and done.stderr == b""


def test_a_failed_check_into_a_closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    done = run("conformance", "check", "fifo", "--policy", "lru", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        *((["curve", "{trace}", "--size", "10,20,30", "--plot"], f"x.{suffix}") for suffix in ("pdf", "svg", "png")),
        (["trace", "convert", "{trace}"], "x.trace"),
        (["conformance", "vectors", "--policy", "arc", "--out"], "v"),
    ],
)
def test_a_file_that_does_not_fit(trace, tmp_path, full_disk, capsys, words, output):
    assert main([*(word.format(trace=trace) for word in words), str(tmp_path / output)]) == 2
    out, error = capsys.readouterr()
    assert error.startswith("misspenalty: ") and error.count("\n") == 1 and str(tmp_path) in error
    assert out == "" and list(tmp_path.iterdir()) == [trace]


def test_a_spooled_pipe_that_does_not_fit():
    done = subprocess.run(
        [*COMMAND, "trace", "info", "-"],
        input=TRACE.encode(),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
        check=False,
    )
    assert "standard input: copying stopped (File too large); set TMPDIR" in refused(done)


SEVERAL = """
import sys
from misspenalty.cli.main import main
words, told = sys.argv[1:], []
while words:
    end = words.index(";")
    try:
        told.append(main(words[:end]))
    except SystemExit as left:  # after --help
        told.append(left.code)
    print(end="\f")
    words = words[end + 1 :]
print(told)
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("environment, suffix", [({}, ""), ({"LC_ALL": "C"}, ".gz"), (ASCII, ".zst")])
def test_names_that_are_not_utf8_and_plain_locales(tmp_path, environment, suffix):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": lambda data: pa.Codec("zstd").compress(data).to_pybytes()}[suffix]
    path = os.fsencode(tmp_path) + b"/\xff\xc3\xa4$x" + suffix.encode()
    with open(path, "wb") as file:
        file.write(pack(TRACE.encode()))
    compiled, picture = path + b".trace", path + b".png"
    commands = (
        ["trace", "info", path, "--csv"],
        ["curve", path, "--size", "all"],
        ["curve", path, "--size", "9,99", "--plot", picture],
        ["trace", "convert", path, compiled],
        ["trace", "info", compiled],
        ["curve", "--help"],
        ["trace", "info", path + b"-missing"],
    )
    told, error = run_several(*commands, environment=environment)
    assert told[-1] == b"[0, 0, 0, 0, 0, 0, 2]\n" and os.path.exists(picture)
    assert error.startswith(b"misspenalty: ") and error.count(b"\n") == 1  # the message names the last path


def run_several(*commands, environment=None, flags=()):
    """Run commands in one process; return what each prints, then their statuses, and standard error."""
    words = [os.fsencode(word) for command in commands for word in (*command, ";")]
    command = [sys.executable, *flags, "-c", SEVERAL, *words]
    done = subprocess.run(command, env=os.environ | (environment or {}), capture_output=True, check=True)
    return done.stdout.split(b"\f"), done.stderr


def test_a_plot_does_not_depend_on_the_settings_of_other_plots(trace, tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\naxes.facecolor: red\naxes.xmargin: 0.3\n")
    plain, odd = ([tmp_path / f"{name}.{suffix}" for suffix in ("svg", "PNG")] for name in ("plain", "odd"))
    for paths, settings in ((plain, {}), (odd, {"MATPLOTLIBRC": str(tmp_path), "MPLBACKEND": "qt4agg"})):
        commands = (["curve", trace, "--size", "9,99", "--plot", path] for path in paths)
        told, error = run_several(*commands, environment=settings)
        assert (told[-1], error) == (b"[0, 0]\n", b"")
    assert [path.read_bytes() for path in odd] == [path.read_bytes() for path in plain]


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "convert", "{trace}"],
        ["trace", "generate", "spc1", "--requests", "9"],
        ["disk", "import", "{trace}"],
        ["disk", "replay", "hp97560", "{trace}", "--records"],
    ],
)
def test_an_output_is_not_called_as_standard_input_is(trace, tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert main([*(word.format(trace=trace) for word in words), "-"]) == 2
    assert "the output is -" in capsys.readouterr().err and not Path("-").exists()


def test_names_that_are_too_long_get_their_own_message(trace, capsys):
    assert main(["curve", str(trace), "--size", "9", "--policy", f"./{'x' * 300}.py:Mine"]) == 2
    assert "cannot be read: File name too long" in capsys.readouterr().err
    assert main(["curve", str(trace), "--size", "9", "--plot", f"{trace.parent}/{'x' * 300}.png"]) == 2
    assert "the name is too long for this file system; choose a shorter name" in capsys.readouterr().err


def test_what_must_not_be_removed_does_not_hide_the_name_of_the_output(tmp_path, monkeypatch, capsys):
    """In a folder without search permission, removing the temporary file fails as well."""

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", "temporary")

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert main(["new", "drive", "mine", str(tmp_path / "x")]) == 2
    assert f"{tmp_path / 'x'}: cannot be written: Permission denied" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_is_not_replaced(trace, tmp_path, capsys):
    link = tmp_path / "x.trace"
    link.symlink_to("nowhere")
    assert main(["trace", "convert", str(trace), str(link)]) == 2
    assert f"{link} exists" in capsys.readouterr().err and link.is_symlink()


def test_csv_holds_json_where_a_value_has_parts(trace, capsys):
    words = ["trace", "info", str(trace)]
    main([*words, "--json"])
    whole = json.loads(capsys.readouterr().out)
    main([*words, "--csv"])
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert json.loads(row["reading"]) == whole["reading"]


def test_suffixes_of_compressed_traces_may_be_capitals(tmp_path):
    path = tmp_path / "x.spc.GZ"
    assert main(["trace", "generate", "spc1", str(path), "--space", "1GB", "--requests", "9"]) == 0
    assert gzip.decompress(path.read_bytes()).count(b"\n") >= 9


@pytest.mark.parametrize(
    "words",
    [
        ["curve", "{trace}", "--size", "9", "--plot", "{folder}/x.svg"],
        ["disk", "replay", "cheetah9lp", "{requests}", "--records", "{folder}/x.csv"],
        ["trace", "convert", "{trace}", "{folder}/x.trace"],
        ["trace", "generate", "spc1", "{folder}/x.spc", "--space", "1GB", "--requests", "9"],
        ["conformance", "vectors", "--policy", "arc", "--out", "{folder}/x"],
        ["new", "policy", "mine", "{folder}/x"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_every_output_makes_its_folder(trace, tmp_path, words):
    requests = tmp_path / "requests.txt"
    requests.write_text("R x 1 8 5000 0\n")
    folder = tmp_path / "new" / "folder"
    assert main([word.format(trace=trace, requests=requests, folder=folder) for word in words]) == 0
    assert [path.stem for path in folder.iterdir()] == ["x"]


@pytest.mark.parametrize("plot", ["{folder}/nowhere/x.gif", "{folder}/x.gif", "{folder}/x", "{folder}"])
def test_no_plot_path_is_made_by_accident(trace, tmp_path, capsys, plot):
    before = sorted(tmp_path.iterdir())
    assert main(["curve", str(trace), "--size", "9", "--plot", plot.format(folder=tmp_path)]) == 2
    out, error = capsys.readouterr()
    assert "--plot" in error and (out, error.count("\n")) == ("", 1)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "closed, arguments", [([1], ["--help"]), ([1], ["trace", "info"]), ([0, 1, 2], ["trace", "convert"])]
)
def test_a_closed_standard_output_is_reported(trace, tmp_path, arguments, closed):
    """A file that is opened later must not take the place of a closed standard output."""
    if arguments[0] == "trace":
        arguments = [*arguments, trace, *([tmp_path / "x.trace"] if arguments[1] == "convert" else [])]
    done = run_closed(closed, *arguments)
    told = b"" if 2 in closed else b"misspenalty: standard output is closed; send it to a file, or to /dev/null\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", told)
    assert [path.name for path in tmp_path.iterdir()] == ["x.spc"]


def test_a_closed_standard_error_hides_messages_and_nothing_else(trace, tmp_path):
    assert run_closed([2], "curve", trace, "--size", "2").stdout.startswith(b"policy")
    done = run_closed([2], "trace", "info", tmp_path / "missing")
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", b"")
    written = run_closed([0, 2], "trace", "convert", trace, tmp_path / "x.trace")
    assert written.returncode == 0 and (tmp_path / "x.trace").is_dir()


@pytest.mark.parametrize("sink", ["/dev/full", "a closed pipe"])
@pytest.mark.parametrize("size, status, out", [("2", 0, b"policy,"), ("no", 2, b""), ("2 --sizes 3", 2, b"")])
def test_notices_that_nobody_can_read_cost_neither_the_output_nor_the_status(tmp_path, sink, size, status, out):
    table = tmp_path / "x.csv"  # a notice about its times precedes the results
    table.write_text("time,block\n0.25,1\n0.5,2\n")
    if sink == "/dev/full":
        errors = os.open(sink, os.O_WRONLY)
    else:
        reading, errors = os.pipe()
        os.close(reading)
    words = [*COMMAND, "curve", table, "--csv", "--size", *size.split()]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=errors, check=False)
    os.close(errors)
    assert (done.returncode, done.stdout[:7]) == (status, out)


def run_closed(closed, *arguments):
    """Run a command with these file descriptors closed, as ``>&-`` does in a shell."""
    words = " ".join(f"{number}>&-" for number in closed)
    command = f'exec "$@" {words}'
    return subprocess.run(["sh", "-c", command, "sh", *COMMAND, *map(os.fspath, arguments)], capture_output=True)


def test_python_without_docstrings_and_assertions(trace):
    """With -OO, the output must be the same, except for what comes from docstrings."""
    commands = (
        ["--help"],
        ["policies"],
        ["curve", trace, "--policy", "lru,arc,opt", "--size", "9"],
        ["penalty", trace, "--size", "9", "--device", "hp97560,5ms", "--interval", "1ms"],
    )
    (plain, error), (optimised, same) = (run_several(*commands, flags=flags) for flags in ((), ("-OO",)))
    assert optimised[-1] == b"[0, 0, 0, 0]\n" and same == error
    names, named = (re.findall(rb"^\S+", told[1], re.MULTILINE) for told in (plain, optimised))
    assert names == named and len(names) > 20
    assert optimised[2:] == plain[2:]


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
@pytest.mark.parametrize(
    "arguments",
    [
        ["curve", "{trace}", "--size", "9", "--plot", "{output}"],
        ["penalty", "{trace}", "--size", "9", "--device", "5ms", "--interval", "1ms", "--plot", "{output}"],
        ["penalty", "{other}", "--size", "9", "--device", "{trace}", "--interval", "1ms", "--plot", "{output}"],
        ["curve", "{other}", "--size", "9", "--warm-up", "{trace}", "--plot", "{output}"],
        ["disk", "replay", "hp97560", "{trace}", "--records", "{output}"],
        ["disk", "replay", "{trace}", "{other}", "--records", "{output}"],
    ],
)
def test_an_output_never_replaces_an_input(tmp_path, capsys, arguments, link):
    """An input must not be replaced, even if the output is another path to the same file."""
    trace, other, output = tmp_path / "x.png", tmp_path / "other.spc", tmp_path / "y.png"
    trace.write_text(TRACE)
    other.write_text(TRACE)
    if link:
        link(trace, output)
    else:
        output = f"{tmp_path}/./x.png"
    assert main([argument.format(trace=trace, other=other, output=output) for argument in arguments]) == 2
    assert f"{Path(output)} is read by this command" in capsys.readouterr().err
    assert trace.read_text() == other.read_text() == TRACE


@pytest.mark.parametrize("name, options", [("x", ["--format", "u64le"]), ("x.xz", []), ("x.csv", []), ("x.lcs", [])])
def test_a_sparse_file_is_refused_at_once(tmp_path, capsys, name, options):
    """A file that is a terabyte of zeros but takes no space on the disk must be refused at once."""
    with open(tmp_path / name, "wb") as file:
        file.truncate(1 << 40)
    assert main(["trace", "info", str(tmp_path / name), *options]) == 2
    assert "is a sparse file with more than 256 MB of holes" in capsys.readouterr().err


def test_a_large_file_is_read_where_the_system_cannot_find_holes(tmp_path, capsys, monkeypatch):
    """Without `os.SEEK_DATA`, which Python lacks in the browser on the page "Press play", a large file must still
    be read."""
    monkeypatch.delattr("os.SEEK_DATA")
    monkeypatch.setattr("misspenalty.traces.compression.MOST_HOLES", 3)
    (tmp_path / "x.txt").write_text("7\n8\n7\n")
    assert main(["trace", "info", str(tmp_path / "x.txt")]) == 0
    assert re.search(r"references +3\b", capsys.readouterr().out)


def test_small_holes_are_zeros(tmp_path, capsys):
    with open(tmp_path / "x", "wb") as file:
        file.write((7).to_bytes(8, "little") * 512)
        file.seek(8 * 65536)
        file.write((8).to_bytes(8, "little"))
    assert main(["trace", "info", str(tmp_path / "x"), "--format", "u64le", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split(",")[2] == "65537"


def test_the_seed_of_a_sample_needs_a_sample(trace, capsys):
    assert main(["curve", str(trace), "--size", "9", "--sample-seed", "1"]) == 2
    assert "set --sample as well" in capsys.readouterr().err
