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


PACKAGES = {"policy": "second_chance", "predictor": "my_files", "format": "my_file", "drive": "my_drive"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Make a package of each kind and install all of them; return the folder of the packages and the folder in which
    they are installed."""
    folder = tmp_path_factory.mktemp("new")
    for kind, name in PACKAGES.items():
        assert main(["new", kind, name, str(folder / kind)]) == 0
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index"]
    run(*pip, "--target", str(folder / "site"), *(f"./{kind}" for kind in PACKAGES), folder=folder)
    return folder, folder / "site"


def test_the_tests_of_the_new_packages_pass(installed):
    packages, site = installed
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"{kind}/tests" for kind in PACKAGES)]
    assert f"{29 + 3 + 2 + 3} passed" in run(*command, folder=packages, found=[site]).stdout


def test_new_packages_register_what_they_hold_and_the_policy_works_like_the_others(installed):
    """The template's FIFO with a second chance must miss as often as the package's CLOCK with one bit."""
    program = (
        "import sys, misspenalty\n"
        "from misspenalty import disks, traces\n"
        "from misspenalty.cli.main import main\n"
        "from misspenalty.prefetch.predictors.registry import known_predictors\n"
        "table = misspenalty.hit_ratio_curve(sys.argv[1], ['second_chance', 'clock'], cache_blocks=[100, 1000, 4000])\n"
        "print(*table['misses'])\n"
        "found = [{*known_predictors()} & {'my_files'}, {*traces.formats()} & {'my_file'}]\n"
        "print(*found[0], *found[1], *{*disks.names()} & {'my_drive'})\n"
        "main(['policies'])\n"
    )
    done = run(sys.executable, "-c", program, str(TRACE), folder=installed[0], found=[installed[1]])
    misses, registered, *shown = done.stdout.splitlines()
    assert len(misses.split()) == 6 and misses.split()[:3] == misses.split()[3:]
    assert registered == "my_files my_file my_drive"
    assert any("second_chance" in line and "FIFO with a second chance" in line for line in shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
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
    ("kind", "name"),
    [("format", "spc"), ("drive", "hp97560"), ("predictor", "pcm"), ("policy", "lru"), ("policy", "min")],
)
def test_taken_names_are_refused(kind, name, tmp_path, capsys):
    assert main(["new", kind, name, str(tmp_path / "x")]) == 2
    assert f"there already is a {kind} {name}" in capsys.readouterr().err


def test_the_next_command_quotes_the_folder(tmp_path, capsys):
    assert main(["new", "policy", "my_own", str(tmp_path / "my policy")]) == 0
    told = capsys.readouterr().out
    assert f"Next: cd '{tmp_path}/my policy' && pip" in told
    # A bare `pytest` may belong to another environment, which lacks the package.
    assert told.endswith(" && python -m pytest\n")


def test_a_plugin_may_use_the_whole_package_and_one_that_fails_is_a_warning(tmp_path):
    """A faulty plugin must affect neither the built-in parts nor other plugins."""
    for name, module in (("bad", "nowhere_at_all"), ("mine", "my_format")):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[misspenalty.formats]\n{name} = {module}\n")
    (tmp_path / "my_format.py").write_text(
        "import misspenalty\n"
        "from misspenalty import InputError, Trace, simulate\n"
        "from misspenalty.traces.reader import Format, register\n"
        "register(Format('mine', 'text: nothing', None, lambda name, head: False, 4096))\n"
    )
    program = "import misspenalty; from misspenalty.traces import formats; print({'spc', 'mine'} <= set(formats()))"
    done = run(sys.executable, "-c", program, folder=tmp_path, found=[tmp_path])
    assert done.stdout == "True\n" and done.stderr.count("was not registered") == 1
    assert "format 'bad' of bad was not registered" in done.stderr


def test_a_name_with_an_underscore_at_its_end_gives_a_valid_package(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "drive", "mine_"]) == main(["new", "drive", "mine", "--", "-mine"]) == 0
    assert 'name = "misspenalty-mine"\n' in (tmp_path / "misspenalty-mine" / "pyproject.toml").read_text()
    assert "cd ./-mine && pip" in capsys.readouterr().out
