"""Full disks, closed pipes, odd names and encodings: a line on standard error, no traceback, nothing half-written."""

import gzip
import os
import resource
import subprocess
import sys

import pyarrow as pa
import pytest

COMMAND = [sys.executable, "-m", "misspenalty"]
TRACE = "".join(f"{n * n % 977}\n" for n in range(20_000))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "x.lirs"
    path.write_text(TRACE)
    return path


def run(*arguments, stdout=subprocess.PIPE, env=None, limit=None, unbuffered=False):
    def full():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # writing fails as on a full disk

    return subprocess.run(
        [*COMMAND, *map(os.fsencode, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=dict(env or os.environ) | {"PYTHONUNBUFFERED": "1" if unbuffered else ""},
        preexec_fn=full if limit else None,
        check=False,
    )


def refused(done):
    error = done.stderr.decode()
    assert done.returncode == 2 and error.startswith("misspenalty: ") and error.count("\n") == 1, error
    return error


@pytest.mark.parametrize(
    "arguments",
    [
        ["trace", "info"],
        ["curve", "--size", "10,20"],
        ["curve", "--size", "all", "--csv"],
        ["simulate", "--size", "10", "--json"],
    ],
)
def test_standard_output_on_a_full_disk(trace, arguments):
    command = 2 if arguments[0] == "trace" else 1
    with open("/dev/full", "wb") as full:
        done = run(*arguments[:command], trace, *arguments[command:], stdout=full)
    assert "the output: cannot be written (No space left on device)" in refused(done)


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("arguments", [["--help"], ["curve", "--help"]])
def test_help_on_a_full_disk_and_into_a_closed_pipe(arguments, unbuffered):
    with open("/dev/full", "wb") as full:
        refused(run(*arguments, stdout=full, unbuffered=unbuffered))
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*arguments, stdout=writing, unbuffered=unbuffered)
    os.close(writing)
    assert done.stderr == b""


def test_a_table_into_a_closed_pipe(trace):
    done = subprocess.run(
        f"{' '.join(COMMAND)} curve {trace} --size all --csv | head -1", shell=True, capture_output=True, check=True
    )
    assert done.stdout.startswith(b"policy,") and done.stderr == b""


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png"])
def test_a_plot_that_does_not_fit(trace, tmp_path, suffix):
    before = sorted(tmp_path.iterdir())
    done = run(
        "curve",
        trace,
        "--size",
        "10,20,30",
        "--plot",
        tmp_path / f"x.{suffix}",
        limit=4096 * 20 if suffix == "none" else 3000,
    )
    refused(done)
    assert done.stdout == b"" and sorted(tmp_path.iterdir()) == before


def test_a_compiled_trace_that_does_not_fit(trace, tmp_path):
    before = sorted(tmp_path.iterdir())
    error = refused(run("trace", "convert", trace, tmp_path / "x.trace", limit=3000))
    assert "x.lirs" in error or "x.trace" in error
    assert sorted(tmp_path.iterdir()) == before


def test_a_spooled_pipe_that_does_not_fit(trace):
    done = subprocess.run(
        [*COMMAND, "trace", "info", "-"],
        input=TRACE.encode(),
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
        check=False,
    )
    assert "standard input: copying stopped (File too large); set TMPDIR" in refused(done)


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("environment, suffix", [({}, ""), ({"LC_ALL": "C"}, ".gz"), (ASCII, ".zst")])
def test_names_that_are_not_utf8_and_plain_locales(tmp_path, environment, suffix):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": lambda data: pa.Codec("zstd").compress(data).to_pybytes()}[suffix]
    path = os.fsencode(tmp_path) + b"/\xff\xc3\xa4$x" + suffix.encode()
    with open(path, "wb") as file:
        file.write(pack(TRACE.encode()))
    env = os.environ | environment
    for before, after in (
        (["trace", "info"], ["--csv"]),
        (["curve"], ["--size", "all"]),
    ):
        done = run(*before, path, *after, env=env)
        assert (done.returncode, done.stderr) == (0, b""), done.stderr
    done = run("curve", path, "--size", "9,99", "--plot", path + b".png", env=env)
    assert (done.returncode, done.stderr) == (0, b"") and os.path.exists(path + b".png")
    compiled = path + b".trace"
    assert run("trace", "convert", path, compiled, env=env).returncode == 0
    assert run("trace", "info", compiled, env=env).returncode == 0
    refused(run("trace", "info", path + b"-missing", env=env))
    assert run("curve", "--help", env=env).returncode == 0


@pytest.mark.parametrize("plot", ["{folder}/nowhere/x.png", "{folder}/x.gif", "{folder}/x", "{folder}"])
def test_no_plot_path_is_made_by_accident(trace, tmp_path, plot):
    before = sorted(tmp_path.iterdir())
    error = refused(run("curve", trace, "--size", "9", "--plot", plot.format(folder=tmp_path)))
    assert "--plot" in error and sorted(tmp_path.iterdir()) == before
