"""Traces from pipes and with odd line endings are read correctly or refused, never read in part."""

import contextlib
import gzip
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from misspenalty import open_trace, simulate
from misspenalty.cli.arguments import share
from misspenalty.cli.main import main
from misspenalty.errors import InputError
from misspenalty.traces import spool

SPEC = importlib.util.spec_from_file_location("seeds_of_formats", Path(__file__).parents[1] / "fuzz" / "corpus.py")
sys.modules[SPEC.name] = CORPUS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CORPUS)
SPC = "".join(f"0,{8 * (n * n % 977)},4096,{'RW'[n % 3 == 0]},{n / 1000}\n" for n in range(3000)).encode()
LIS = "".join(f"{n * n % 977} {1 + n % 5} 0 {n}\n" for n in range(3000)).encode()
BINARY = (np.arange(5000, dtype="<u8") ** 2 % 977).tobytes()


@pytest.fixture
def run(capsys, monkeypatch):
    """Return a function that runs a command whose standard input is a pipe with the given data."""
    kept = os.dup(0)

    def run(*arguments, data=b""):
        reading, writing = os.pipe()
        os.dup2(reading, 0)
        os.close(reading)
        monkeypatch.setattr(sys, "stdin", open(0, closefd=False))  # noqa: SIM115, descriptor 0 stays open
        writer = threading.Thread(target=write_until_closed, args=[writing, data])
        writer.start()
        try:
            return told(capsys, *arguments)
        finally:
            os.dup2(kept, 0)
            writer.join()

    yield run
    os.close(kept)


def counts(run, *arguments, data=b""):
    status, out, err = run("simulate", *arguments, "--size", "100", "--json", data=data)
    assert (status, err) == (0, "")  # silent if standard error is not a terminal
    return json.loads(out)


def whole(tmp_path, name, content, format=None):
    """Return the counts of a replay of the content from a regular file."""
    path = tmp_path / name
    path.write_bytes(content)
    return simulate(open_trace(path, format), "lru", 100).row()


def told(capsys, *arguments):
    status = main([os.fspath(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.mark.parametrize(
    "name, content, format",
    [
        ("x.spc", SPC, None),
        ("x.lis", LIS, None),
        ("x.spc.gz", gzip.compress(SPC), None),
        ("x", BINARY, "U64LE --block-size 4096"),
    ],
)
def test_a_pipe_is_read_from_its_first_byte_to_its_last(run, tmp_path, name, content, format):
    options = ["--format", *format.split()] if format else []
    expected = whole(tmp_path, name, content, format and format.split()[0])
    assert expected["requests"] > 1900
    assert counts(run, "-", *options, data=content) == expected
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=[content])
    writer.start()
    assert counts(run, fifo, *options) == expected
    writer.join()


def test_a_pipe_can_be_compiled_and_is_gone_afterwards(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    status, _, err = run("trace", "convert", "-", tmp_path / "x.trace", data=SPC)
    assert (status, err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["x.trace"]
    assert counts(run, tmp_path / "x.trace") == whole(tmp_path, "x.spc", SPC)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "misspenalty: standard input: contains no requests"),
        (b"0,8,4096,R,0\n0,8,4096,Q,0\n", "misspenalty: standard input, line 2: field 4 (opcode)"),
        (gzip.compress(SPC)[:-9], "misspenalty: standard input: cannot be read"),
    ],
)
def test_errors_name_the_pipe(run, data, message):
    status, out, err = run("trace", "info", "-", "--format", "spc", data=data)
    assert (status, out) == (2, "") and err.startswith(message) and err.count("\n") == 1


def test_a_folder_that_cannot_hold_the_copy_is_named(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"fifo: copying stopped \(No such file or directory\); set TMPDIR to"):
        open_trace(tmp_path / "fifo")


def test_endless_white_space_does_not_fill_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "MOST_IDLE", 3 << 20)
    copied = []
    monkeypatch.setattr(spool, "CHUNK", 1 << 20)
    for head, refused in ((b"", True), (b"0,1,512,r,0.5\n", False)):
        fifo = tmp_path / f"fifo{len(head)}"
        os.mkfifo(fifo)
        writer = threading.Thread(target=write_until_closed, args=[fifo, head + b"\n" * (5 << 20)])
        writer.start()
        if refused:
            with pytest.raises(InputError, match="3 MB of white space at its beginning"), spool.spooled(fifo):
                pass
        else:
            with spool.spooled(fifo) as (path, _):
                copied.append(path.stat().st_size)
        writer.join()
    assert copied == [(5 << 20) + 14]


def write_until_closed(pipe, content):
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as stream:
        stream.write(content)


def test_devices_are_refused(capsys):
    status, _, err = told(capsys, "trace", "info", "/dev/zero", "--format", "u64le")
    assert status == 2 and "/dev/zero: is a device" in err


@pytest.mark.parametrize("ends", [b"\r\n", b"\r", b"\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "name, content",
    [("x.spc", SPC), ("x.lis", LIS), ("x.csv", b"block,op\n" + b"".join(b"%d,R\n" % n for n in range(300)))],
)
def test_line_ends_of_every_system_are_read_alike(tmp_path, name, content, ends, last):
    changed = content.replace(b"\n", ends) if last else content.replace(b"\n", ends)[: -len(ends)]
    assert whole(tmp_path, name, changed) == whole(tmp_path, name, content)


def spoiled(line):
    return SPC + line + SPC


@pytest.mark.parametrize(
    "content, line, what",
    [
        (spoiled(b"0,8,4096,R,0.5 junk\n"), 3001, "field 5 (timestamp) missing or malformed in '0,8,4096,R,0.5 junk'"),
        (spoiled(b"0,8,4096,R,0.5 junk,1\n"), 3001, "field 5 (timestamp)"),
        (spoiled(b"0,8,4096 junk,R,0.5\n"), 3001, "field 3 (size)"),
        (spoiled(b"0,1_000,4096,R,0.5\n"), 3001, "field 2 (LBA)"),
        (spoiled(b"0,8,4096,R,1_0.5\n"), 3001, "field 5 (timestamp)"),
        (spoiled(b"0 8 4096 R 0.5\n"), 3001, "field 2 (LBA)"),
        (spoiled(b"0,8,4096,R,0.5\r0,8,4096,R,0.5\n"), 3001, "a carriage return within the line"),
        (spoiled(b"0,8,4096,R,0.5\r\r\n"), 3001, "a carriage return within the line"),
        (spoiled(b"0,8,4096,R,0.5,a\rb\n"), 3001, "a carriage return within the line"),
        (10 * SPC.replace(b"\n", b"\r") + SPC, None, "a carriage return within the line"),
    ],
)
def test_what_does_not_follow_the_grammar_is_refused(capsys, tmp_path, content, line, what):
    path = tmp_path / "x.spc"
    path.write_bytes(content)
    status, out, err = told(capsys, "simulate", path, "--size", "9", "--format", "spc")
    place = f"{path}, line {line}: " if line else f"{path}"
    assert (status, out) == (2, "") and what in err and place in err and err.count("\n") == 1


@pytest.mark.parametrize("options", [["--warm-up", "1_000"], ["--set", "seed=1_000"], ["--size", "1_0"]])
def test_numbers_are_digits_alone(capsys, tmp_path, options):
    path = tmp_path / "x.spc"
    path.write_bytes(SPC)
    try:
        status, out, err = told(capsys, "simulate", path, "--size", "9", "--policy", "random", *options)
    except SystemExit as left:  # raised by argparse itself
        status, (out, err) = left.code, capsys.readouterr()
    assert (status, out) == (2, "") and "1_0" in err


def test_requests_of_a_drive_are_distinguished_from_a_trace(capsys, tmp_path):
    path = tmp_path / "requests.txt"
    path.write_text("# measured\nR miss 1000 8 14000.5 0\nW write 52000 16 9000 250\n")
    status, _, err = told(capsys, "trace", "info", path)
    assert status == 2 and "misspenalty disk replay DRIVE FILE" in err
    path.write_text("R miss 1_000 8 14000.5 0\n")
    status, _, err = told(capsys, "disk", "replay", "hp97560", path)
    assert status == 2 and "line 1" in err


@pytest.mark.parametrize("name", sorted(CORPUS.TRACES))
def test_every_format_is_read_alike_from_a_pipe(tmp_path, name):
    content = CORPUS.TRACES[name]()
    (tmp_path / "file").write_bytes(content)
    os.mkfifo(tmp_path / "fifo")
    writer = threading.Thread(target=(tmp_path / "fifo").write_bytes, args=[content])
    writer.start()
    piped, file = open_trace(tmp_path / "fifo", name), open_trace(tmp_path / "file", name)
    writer.join()
    assert piped.to_arrow().equals(file.to_arrow()) and len(file) > 0


@pytest.mark.parametrize("words", [["trace", "ifno"], ["crve"], ["disk", "lst"]])
def test_a_misspelt_command_is_answered_with_the_nearest(capsys, words):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2 and "did you mean" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["curve", "x.spc", "--szie", "5%"], "no option --szie, did you mean '--size'?; 'misspenalty curve --help'"),
        (["curve", "x.spc", "-size", "5%"], "no option -size, did you mean '--size'?"),
        (["curve", "x.spc", "--size", "5%", "--polcy=lru"], "no option --polcy, did you mean '--policy'?"),
        (["trace", "info", "--jsno", "x.spc"], "'--json'?; 'misspenalty trace info --help' lists the options"),
        (["--vresion"], "no option --vresion, did you mean '--version'?; 'misspenalty --help' lists the options"),
        (["curve", "x.spc", "--xyzzy"], "no option --xyzzy; 'misspenalty curve --help' lists the options"),
    ],
)
def test_a_misspelt_option_is_answered_with_the_nearest(capsys, words, meant):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2 and meant in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["curve", "x.spc", "--size", "-5%"], "'-5%' is negative"),
        (["penalty", "x.spc", "--size", "5%", "--device", "-5ms"], "'-5ms' is negative"),
        (["curve", "x.spc", "--size", "5%", "--csv", "out.csv"], "--csv and --json take no file: tables are printed"),
    ],
)
def test_what_an_option_does_not_take_is_explained(capsys, words, said):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2 and said in capsys.readouterr().err


def test_options_may_be_cut_short_and_files_may_begin_with_a_dash(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--szie").write_bytes(SPC)
    status, out, _ = told(capsys, "simulate", "--size", "9", "--form=spc", "--js", "--", "--szie")
    assert status == 0 and json.loads(out)["misses"] > 0


@pytest.mark.parametrize("way", ["-", "/dev/stdin", "fifo"])
@pytest.mark.parametrize(
    "words, content, shown",
    [
        (["disk", "replay", "hp97560", "{}", "--csv"], b"R x 10 8 5000 0\n", "hp97560,1,5.0,"),
        (["conformance", "check", "{}", "--csv"], b'{"id": "lru/01", "hits": "0011"}\n', "lru/01,differs,"),
        (["disk", "info", "{}", "--csv"], b"like: hp97560\nname: mine\n", "mine,"),
    ],
)
def test_requests_results_and_drives_are_read_from_pipes(run, tmp_path, way, words, content, shown):
    if words[:2] == ["disk", "info"] and way == "-":
        words, content, shown = ["disk", "replay", "hp97560", "-"], b"", "/dev/stdin: contains no requests"
    if way == "fifo":
        way = str(tmp_path / "fifo")
        os.mkfifo(way)
        threading.Thread(target=Path(way).write_bytes, args=(content,), daemon=True).start()
    _, out, error = run(*(word.format(way) for word in words), data=content)
    assert shown in out + error


@pytest.mark.parametrize(
    "words, said",
    [
        (["conformance", "check", "/dev/null"], "/dev/null is a device"),
        (["conformance", "check", "lruu"], "'lruu' is neither a file nor a policy, did you mean 'lru'?"),
    ],
)
def test_what_holds_no_results_is_refused(capsys, words, said):
    status, out, error = told(capsys, *words)
    assert (status, out) == (2, "") and said in error


@pytest.mark.parametrize(
    ("path", "said"), [("/dev/zero", b"/dev/zero: is a device"), ("-", b"line 1: the line is longer than 64 KB")]
)
def test_requests_without_an_end_of_line_are_refused_at_once(path, said):
    memory = 4 << 30
    done = subprocess.run(
        [sys.executable, "-m", "misspenalty", "disk", "replay", "hp97560", path],
        input=bytes(1 << 22),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize("name", ["-1.csv", "-x.spc", "-.5", "-1=2.csv"])
def test_a_file_that_begins_with_a_dash_is_distinguished_from_a_number(capsys, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(SPC)
    with pytest.raises(SystemExit):
        main(["trace", "info", name])
    assert f"write ./{name}" in capsys.readouterr().err
    assert told(capsys, "trace", "info", f"./{name}", "--format", "spc")[0] == 0


@pytest.mark.parametrize(
    "words, said",
    [
        (["penalty", "--device", "５ms"], "５ms: no such drive or file"),
        (["penalty", "--device", "."], ".: no such drive or file"),
        (["penalty", "--device", "5ms,"], "--device '5ms,' has an empty name"),
        (["curve", "--warm-up", "５s"], "５s: no such file"),
    ],
)
def test_what_is_no_time_is_not_taken_for_one(capsys, tmp_path, words, said):
    (tmp_path / "x.spc").write_bytes(SPC)
    status, out, error = told(capsys, words[0], tmp_path / "x.spc", "--size", "9", *words[1:])
    assert (status, out) == (2, "") and said in error


def test_shares_and_counts_may_be_written_as_sizes_may(capsys, tmp_path):
    (tmp_path / "x.spc").write_bytes(SPC)
    command = ["curve", tmp_path / "x.spc", "--size", "900", "--csv"]
    plain, spaced = (told(capsys, *command, "--sample", "0.5", "--warm-up", text) for text in ("300", " 300 "))
    assert plain[0] == 0 and plain == spaced == told(capsys, *command, "--sample", "50%", "--warm-up", "300")
    assert [share(text) for text in ("0.7%", " 0.7 % ", "0.007")] == [0.007] * 3
    with pytest.raises(SystemExit):
        main([*map(str, command), "--sample", "%"])
    assert "'%' is not a share, such as 0.01 or 1%" in capsys.readouterr().err
    prompts = Path(__file__).parents[1] / "data" / "prompts_small.jsonl"
    plain, spaced = (told(capsys, "curve", prompts, "--prefix", "--size=9", "--warm-up", text) for text in ("3", " 3 "))
    assert plain[0] == 0 and plain == spaced


def test_a_list_that_is_given_in_parts_is_whole(capsys, tmp_path):
    table = tmp_path / "x.csv"
    table.write_text("9,a,get\n8,b,put\n7,a,get\n")
    columns = ["--header=no", "--columns=key=2", "--columns=op=3", "--operations=get=read", "--operations=put=write"]
    parts = ["--size", "1", "--size", "2", "--policy", "lru", "--policy", "arc,fifo"]
    _, out, _ = told(capsys, "curve", table, *columns, *parts, "--csv")
    rows = [line.split(",") for line in out.splitlines()]
    assert [row[:3] for row in rows[1:]] == [[name, size, "2"] for name in ("lru", "arc", "fifo") for size in "12"]
    _, out, _ = told(
        capsys, "penalty", table, *columns, "--interval=1s", "--size=1", "--device=5ms", "--device=1ms", "--csv"
    )
    assert [line.split(",")[2] for line in out.splitlines()] == ["device", "5ms", "1ms"]
    assert told(capsys, "simulate", table, *columns, "--size=1", "--size=2", "--csv")[1].splitlines()[1][:6] == "lru,2,"


@pytest.mark.parametrize("warm_up", ["10%", "1s", "300"])
def test_warm_up_by_share_time_and_references(capsys, tmp_path, warm_up):
    (tmp_path / "x.spc").write_bytes(SPC)
    status, out, _ = told(capsys, "simulate", tmp_path / "x.spc", "--size", "9", "--warm-up", warm_up, "--json")
    expected = simulate(open_trace(tmp_path / "x.spc"), "lru", 9, warm_up=1000 if warm_up == "1s" else 300)
    assert status == 0 and json.loads(out)["hits"] == expected.hits


def test_warm_up_by_another_trace(capsys, tmp_path):
    (tmp_path / "x.spc").write_bytes(SPC)
    options = ["--size", "977", "--warm-up", tmp_path / "x.spc", "--json"]
    status, out, _ = told(capsys, "simulate", tmp_path / "x.spc", *options)
    assert status == 0 and json.loads(out)["misses"] == 0


def test_a_trace_that_warms_up_is_read_with_the_same_options_unless_it_is_compiled(capsys, tmp_path):
    file, compiled = tmp_path / "x.txt", tmp_path / "x.trace"
    file.write_text("0 8192 a\n1 0 b\n")
    read = ["--columns", "time=1,offset=2", "--time-unit", "s", "--block-size", "8KB"]
    status, _, _ = told(capsys, "trace", "convert", file, compiled, *read)
    assert status == 0
    for other in (file, compiled):
        options = ["--size", "2", "--warm-up", other, "--json", *read]
        status, out, said = told(capsys, "simulate", file, *options)
        assert (status, json.loads(out)["misses"]) == (0, 0), said


def test_a_closed_standard_input_is_an_error():
    done = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m misspenalty trace info - <&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "standard input: is closed; pipe a trace into it" in done.stderr
