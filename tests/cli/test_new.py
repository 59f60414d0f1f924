"""A package that `misspenalty new` writes can be built in a separate folder, registers itself, and passes its tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import misspenalty
from misspenalty.cli.main import main

SOURCE = Path(misspenalty.__file__).parents[1]
TRACE = Path(__file__).parents[1] / "data" / "tpcc_small.parquet"


def run(*command, folder, found=()):
    modules = os.pathsep.join(map(str, [SOURCE, *found]))
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # meson, ninja and cython
    environment = os.environ | {"PYTHONPATH": modules, "PATH": programs}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Make and install a package; return its folder, and the folder in which it is installed."""
    folder = tmp_path_factory.mktemp("new")
    assert main(["new", "policy", "second_chance", str(folder / "mine")]) == 0
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index"]
    run(*pip, "--target", str(folder / "site"), ".", folder=folder / "mine")
    return folder / "mine", folder / "site"


def test_the_tests_of_the_new_package_pass(installed):
    package, site = installed
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    assert "29 passed" in run(*command, folder=package, found=[site]).stdout


def test_the_new_policy_works_like_the_others(installed):
    """The template's FIFO with a second chance must miss as often as the package's CLOCK with one bit."""
    program = (
        "import sys, misspenalty\n"
        "table = misspenalty.hit_ratio_curve(sys.argv[1], ['second_chance', 'clock'], cache_blocks=[100, 1000, 4000])\n"
        "print(*table['misses'])\n"
    )
    done = run(sys.executable, "-c", program, str(TRACE), folder=installed[0].parent, found=[installed[1]])
    misses = done.stdout.split()
    assert len(misses) == 6 and misses[:3] == misses[3:]
    shown = run(
        sys.executable, "-m", "misspenalty", "policies", folder=installed[0].parent, found=[installed[1]]
    ).stdout
    assert "second_chance" in shown and "FIFO with a second chance" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lru"], "there already is a policy lru"),
        (["My-Policy"], "'My-Policy' is not a valid name for a policy; expected lower-case"),
        (["class"], "'class' is not a valid name"),
        (["mine", "here"], "here exists; choose another name or remove it"),
        (["mine", "file/mine"], "file/mine"),
    ],
)
def test_what_cannot_be_written_is_reported(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "file").write_text("")
    assert main(["new", "policy", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "here"]


@pytest.mark.parametrize(
    ("kind", "passed", "listed"),
    [
        ("predictor", "3 passed", "from misspenalty.prefetch.predictors.registry import known_predictors as known"),
        ("format", "2 passed", "from misspenalty.traces import formats as known"),
        ("drive", "3 passed", "from misspenalty.disks import names as known"),
    ],
)
def test_other_packages_register_what_they_hold(kind, passed, listed, tmp_path):
    assert main(["new", kind, "my_own", str(tmp_path / "mine")]) == 0
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index"]
    run(*pip, "--target", str(tmp_path / "site"), ".", folder=tmp_path / "mine")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    assert passed in run(*command, folder=tmp_path / "mine", found=[tmp_path / "site"]).stdout
    done = run(sys.executable, "-c", f"{listed}; print(*known())", folder=tmp_path, found=[tmp_path / "site"])
    assert "my_own" in done.stdout.split()


@pytest.mark.parametrize(
    ("kind", "name"),
    [("format", "spc"), ("drive", "hp97560"), ("predictor", "pcm"), ("policy", "lru"), ("policy", "min")],
)
def test_taken_names_are_refused(kind, name, tmp_path, capsys):
    assert main(["new", kind, name, str(tmp_path / "x")]) == 2
    assert f"there already is a {kind} {name}" in capsys.readouterr().err


def test_the_next_command_quotes_the_folder(tmp_path, capsys):
    assert main(["new", "policy", "my_own", str(tmp_path / "my policy")]) == 0
    assert f"Next: cd '{tmp_path}/my policy' && pip" in capsys.readouterr().out


def entry_point(folder, name, module):
    """Write the metadata of a distribution that registers a module as a trace format."""
    info = folder / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[misspenalty.formats]\n{name} = {module}\n")


def test_a_plugin_that_fails_is_a_warning(tmp_path):
    """A fault in another package must not affect anything that is built in."""
    entry_point(tmp_path, "bad", "nowhere_at_all")
    program = "from misspenalty.traces import formats; print('spc' in formats())"
    done = run(sys.executable, "-c", program, folder=tmp_path, found=[tmp_path])
    assert done.stdout == "True\n" and "format 'bad' of bad was not registered" in done.stderr


def test_a_plugin_may_use_the_whole_package(tmp_path):
    entry_point(tmp_path, "mine", "my_format")
    (tmp_path / "my_format.py").write_text(
        "import misspenalty\n"
        "from misspenalty import InputError, Trace, simulate\n"
        "from misspenalty.traces.reader import Format, register\n"
        "register(Format('mine', 'text: nothing', None, lambda name, head: False, 4096))\n"
    )
    program = "import misspenalty; from misspenalty.traces import formats; print('mine' in formats())"
    done = run(sys.executable, "-c", program, folder=tmp_path, found=[tmp_path])
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_name_with_an_underscore_at_its_end_gives_a_valid_package(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "drive", "mine_"]) == main(["new", "drive", "mine", "--", "-mine"]) == 0
    assert 'name = "misspenalty-mine"\n' in (tmp_path / "misspenalty-mine" / "pyproject.toml").read_text()
    assert "cd ./-mine && pip" in capsys.readouterr().out
