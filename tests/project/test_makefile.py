"""Test the messages of `make` on a machine that lacks something, the list of targets, how the environment and the
package are made, `make verify`, and `make clean`."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    for name in ("Makefile", "requirements-build.lock", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src").mkdir()
    return tmp_path


def make(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def stand_in(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_reproduce_fetches_unless_it_is_told_not_to():
    for given, passed in (("", False), ("no", False), ("0", False), ("yes", True), ("1", True)):
        told = make(ROOT, "--dry-run", "reproduce", f"OFFLINE={given}").stdout
        assert "reproduce.py" in told and ("--offline" in told) == passed


@pytest.mark.parametrize(
    ("target", "given", "said"),
    [
        ("reproduce", "CORES=0", "give all or a number of cores: 1 or more"),
        ("supplement", "CORES=-3", "give all or a number of cores: 1 or more"),
        ("smoke", "CORES=abc", "give all or a number of cores: 1 or more"),
        ("reproduce", "OFFLINE=maybe", "give yes (fetch nothing) or no"),
        ("verify", "RERUN=maybe", "give yes (reproduce the results first) or no"),
        ("drill", "KILLS=-1", "give a number of kills: 0 or more"),
        ("mutants", "COUNT=0", "give a number of faults: 1 or more"),
        ("fuzz", "EXECUTIONS=ten", "give a number of executions: 1 or more"),
        ("lab", "LAB_PORT=abc", "give the number of a port: at most 65535"),
        ("site-serve", "PORT=70000", "give the number of a port: at most 65535"),
    ],
)
def test_impossible_values_are_refused_before_anything_is_installed(checkout, target, given, said):
    done = make(checkout, target, given)
    assert done.returncode == 2 and f"{given}: {said}" in done.stderr
    assert not (checkout / ".venv").exists()
    assert make(checkout, "help", given).returncode == 0  # other targets do not read the variable


def test_every_target_is_explained(checkout):
    text = (checkout / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    told = make(checkout).stdout
    assert [target for target in phony if not re.search(rf"^  make {target} +\S", told, re.MULTILINE)] == []


def test_missing_python_is_reported(checkout):
    done = make(checkout, "environment", "PYTHON=/nowhere/python3")
    assert done.returncode != 0
    assert "There is no /nowhere/python3 here: install Python 3.11 or newer" in done.stdout
    assert not (checkout / ".venv").exists()


def test_old_python_is_reported(checkout):
    old = stand_in(checkout / "old", 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac')
    done = make(checkout, "environment", f"PYTHON={old}")
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed" in done.stdout
    assert "Python 3.9.2" in done.stdout
    assert not (checkout / ".venv").exists()


def test_missing_headers_are_reported(checkout):
    bare = stand_in(checkout / "bare", f'case "$2" in *Python.h*) exit 1;; *) exec {sys.executable} "$@";; esac')
    done = make(checkout, "environment", f"PYTHON={bare}")
    assert done.returncode != 0
    assert "Python's headers are missing" in done.stdout
    assert not (checkout / ".venv").exists()


def test_missing_compiler_is_reported(checkout):
    tools = checkout / "tools"
    tools.mkdir()
    for name in ("sh", "find", "sed", "awk", "touch", "rm", "uname"):
        (tools / name).symlink_to(shutil.which(name))
    done = make(checkout, "environment", f"PYTHON={sys.executable}", f"PATH={tools}")
    assert done.returncode != 0
    assert "A C compiler is needed" in done.stdout
    assert not (checkout / ".venv").exists()


@pytest.fixture
def unreachable(checkout, monkeypatch):
    """Return a checkout whose two locked packages are in a folder of wheels, while no registry can be reached."""
    (checkout / "wheels").mkdir()
    for name, lock in (("first", "requirements-build.lock"), ("made", "requirements.lock")):
        wheel = checkout / "wheels" / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"{name}.py", "")
            file.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            file.writestr(
                f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            file.writestr(f"{name}-1.0.dist-info/RECORD", "")
        (checkout / lock).write_text(f"{name}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR"):
        monkeypatch.setenv(name, str(checkout / "cache"))
    return checkout


def test_an_unreachable_registry_is_reported_with_a_remedy_that_works(unreachable):
    """The remedy that the message names must lead to an environment, with uv and, where uv does not run, with pip."""
    done = make(unreachable, "environment", f"PYTHON={sys.executable}")
    last = done.stdout.splitlines()[-1]
    assert done.returncode != 0 and last.startswith(
        "Packages that requirements-build.lock names could not be installed."
    )
    assert done.stdout.count("could not be installed") == 1
    named = re.search(r"(\w+=1 \w+=wheels) make build$", last)[1].split()
    assert "pip download --require-hashes --requirement requirements.lock --dest wheels" in last
    uv, made = (unreachable / ".venv" / name for name in ("bin/uv", ".environment"))
    assert not made.exists()
    for tool in ("pip", "uv"):
        if tool == "uv":
            uv.symlink_to(Path(sys.executable).with_name("uv"))
        done = make(unreachable, "environment", *named)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ("uv could not install them" in done.stdout) == (tool == "pip")
        (recorded,) = unreachable.glob(".venv/lib/python*/site-packages/made-1.0.dist-info/INSTALLER")
        assert recorded.read_text().strip() == tool
        made.unlink()
        shutil.rmtree(recorded.parent)


def test_uv_is_given_the_settings_that_tell_pip_where_packages_come_from(checkout, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    (checkout / "pip.conf").write_text(
        "[global]\nindex-url = https://a:b@one/simple?x=y\nextra-index-url =\n  https://two\n  https://three\n"
        "find-links = /never\nproxy = http://proxy:1\ncert = /my certificates\nno-index = false\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(checkout / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels more")
    told = ["--eval", "told: ; @$(LIKE_PIP); env", "told", f"VENV={sys.prefix}"]
    given = dict(line.partition("=")[::2] for line in make(checkout, *told).stdout.splitlines())
    assert given["UV_DEFAULT_INDEX"] == "https://a:b@one/simple?x=y"
    assert given["UV_INDEX"].split() == ["https://two", "https://three"]
    assert given["UV_FIND_LINKS"] == "wheels,more"  # a variable takes precedence over a file
    assert (given["ALL_PROXY"], given["SSL_CERT_FILE"]) == ("http://proxy:1", "/my certificates")
    assert "UV_OFFLINE" not in given
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert "UV_OFFLINE=1" in make(checkout, *told).stdout.splitlines()


@pytest.fixture
def installed(checkout):
    """Return a function that gives the checkout an environment whose Python is a script; the package is missing."""

    def equip(script):
        for folder in (".venv/bin", "tools"):
            (checkout / folder).mkdir(parents=True)
        stand_in(checkout / ".venv" / "bin" / "python", script)
        made = [f".venv/.{name}" for name in ("created", "compilers", "environment")]
        sources = ("pyproject.toml", "meson.build", "tools/cython_modules.py")
        for name in (*sources, "requirements-build.lock", *made):
            (checkout / name).touch()
        return checkout

    return equip


@pytest.mark.parametrize("step", ["wheel", "install"])
def test_a_package_that_cannot_be_built_or_installed_fails_every_time(installed, step):
    """A second `make build` must not assume that the package has been built."""
    checkout = installed(f'case "$3" in {step}) exit 1;; esac')
    for _ in range(2):
        assert make(checkout, "build").returncode != 0
        assert not (checkout / ".venv" / ".package").exists()


def test_a_dry_run_builds_and_installs_nothing(installed):
    """Even in a dry run, make runs recipe lines that call make; these must not install an old wheel."""
    checkout = installed('case "$2" in pip) touch called;; esac')
    done = make(checkout, "--dry-run", "build")
    assert done.returncode == 0, done.stderr
    assert "pip wheel" in done.stdout and "pip install" in done.stdout
    assert not (checkout / "called").exists() and not (checkout / ".venv" / ".package").exists()
    done = make(checkout, "build")
    assert done.returncode == 0, done.stderr
    assert (checkout / "called").exists() and (checkout / ".venv" / ".package").exists()


def test_a_wheel_is_kept_with_its_environment(installed):
    """If only the lock file changes, the same wheel must be installed again, even without the folder build."""
    checkout = installed(
        'for word; do [ "$before" != --wheel-dir ] || { mkdir -p "$word" && touch "$word/misspenalty-1.whl"; }; '
        'before=$word; done; case "$*" in *"pip install"*.whl) [ -f "$word" ];; esac'
    )
    assert make(checkout, "build").returncode == 0
    shutil.rmtree(checkout / "build", ignore_errors=True)
    (checkout / "requirements.lock").write_text("\n")
    done = make(checkout, "build")
    assert done.returncode == 0, done.stderr
    assert "Installing the locked packages" in done.stdout and "Building the package" not in done.stdout


@pytest.mark.parametrize("folder", [".venv", "{checkout}/.venv"])
def test_the_build_finds_the_tools_of_its_environment(installed, folder):
    """The environment must be found by its absolute path, too, which Tox gives."""
    checkout = installed('case "$*" in *"pip wheel"*) echo "$PATH" >path;; esac')
    done = make(checkout, "build", f"VENV={folder.format(checkout=checkout)}")
    assert done.returncode == 0, done.stderr
    first = (checkout / "path").read_text().partition(os.pathsep)[0]
    assert Path(first).resolve() == (checkout / ".venv" / "bin").resolve()


def test_everything_that_the_installed_package_reads_is_a_source_of_the_build():
    """An edited declaration, dialect or template must cause a new build; otherwise the installed copy would stay out of
    date."""
    listed = make(ROOT, "--eval", "listed: ; @echo $(SOURCES)", "listed").stdout.split()
    command = ["git", "ls-files", "src", "studies", "data/drives", "data/conformance", "tools/cython_modules.py"]
    tracked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    elsewhere = re.compile(r"^studies/.*\.(typ|smk|md|csv)$|^studies/\w+/tests/|^data/conformance/sources/")
    assert [name for name in tracked if not elsewhere.search(name) and name not in listed] == []
    assert [name for name in listed if elsewhere.search(name)] == []
    assert {"src/misspenalty/traces/dialects", "studies/common/site/templates"} <= set(listed)


def test_targets_do_not_install_packages_at_the_same_time(installed):
    checkout = installed('case "$3" in install) mkdir busy && sleep 0.5 && rmdir busy;; esac')
    (checkout / ".venv" / ".package").touch()
    for name in ("docs", "lab"):
        (checkout / f"requirements-{name}.lock").touch()
    done = make(checkout, "-j4", ".venv/.docs", ".venv/.lab")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (checkout / ".venv" / ".docs").exists() and (checkout / ".venv" / ".lab").exists()


def test_the_wheel_is_built_while_the_environment_is_installed(installed):
    """The build of the wheel and the installation of the environment must overlap; here each waits until the other has
    begun."""
    wait = "for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e {} ] && exit 0; sleep 1; done; exit 1"
    checkout = installed(
        f'case "$*" in *requirements.lock) touch environment; {wait.format("wheel")};; '
        f'*"pip wheel"*) touch wheel; {wait.format("environment")};; esac'
    )
    (checkout / ".venv" / ".environment").unlink()
    done = make(checkout, "build")
    assert done.returncode == 0, done.stdout + done.stderr


def test_play_says_what_to_do_without_a_registry(installed):
    checkout = installed('case "$*" in *play-requirements.txt*) exit 1;; esac')
    (checkout / ".venv" / ".package").touch()
    done = make(checkout, "play", f"PATH={stand_in(checkout / 'npm', '').parent}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 2 and "make play needs a package registry that pip can reach" in done.stdout


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('[ "$2" != pip ]', "make test-sdist needs a package registry that pip can reach"),
        ('[ "$2" != build ] || truncate -s 5000000 "$4/a.tar.gz"', "The sdist in build/sdist/dist has 5 MB or more"),
    ],
)
def test_a_failed_test_of_the_sdist_says_why(installed, script, said):
    checkout = installed("exit 0")
    python = stand_in(checkout / "python", 'mkdir -p "$3/bin" "$3/../dist"; cp inner "$3/bin/python"')
    stand_in(checkout / "inner", script)
    done = make(checkout, "test-sdist", f"PYTHON={python}")
    assert done.returncode == 2 and said in done.stdout


@pytest.mark.parametrize(("given", "said"), [("", "Name the archive"), ("no.zip", "There is no file no.zip")])
@pytest.mark.parametrize("rerun", ["", "yes"])
def test_verify_asks_for_an_archive_before_it_builds_or_runs_anything(checkout, given, said, rerun):
    done = make(checkout, "verify", f"ARCHIVE={given}", f"RERUN={rerun}")
    assert done.returncode != 0 and said in done.stdout
    assert not (checkout / ".venv").exists()


def test_verify_compares_an_archive_whose_path_has_a_space(installed):
    checkout = installed("exit 0")
    (checkout / "my archive.zip").touch()
    told = make(checkout, "--dry-run", "verify", "ARCHIVE=my archive.zip", "RERUN=yes").stdout
    assert told.index("reproduce.py") < told.index('archive verify "my archive.zip"')
    assert "reproduce.py" not in make(checkout, "--dry-run", "verify", "ARCHIVE=my archive.zip", "RERUN=no").stdout


def test_the_cost_of_a_run_that_was_never_made_is_refused(checkout):
    done = make(checkout, "cost")
    assert done.returncode == 2 and "There is no environment yet" in done.stdout


@pytest.mark.parametrize(
    ("manifest", "missing", "said"),
    [
        (None, None, "error: results: the manifests do not describe complete runs; run `make supplement` in a fresh"),
        ("{", None, "error: results/manifest.json: is not the manifest of a run"),
        (None, "forecasts", "error: results/forecasts.csv: no such file; run `make reproduce`"),
        (None, "recomputed", "error: results/recomputed.csv: no such file; run `make reproduce`"),
    ],
)
def test_a_cost_that_cannot_be_stated_changes_no_file(tmp_path, manifest, missing, said):
    """The message must be one line, and all texts must be left unchanged."""
    (tmp_path / "results").mkdir()
    for path in (*(ROOT / "results").glob("*.csv"), ROOT / "README.md", ROOT / "ARTIFACT.md"):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    for name in ("studies", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    if manifest:
        (tmp_path / "results" / "manifest.json").write_text(manifest)
    if missing:
        (tmp_path / "results" / f"{missing}.csv").unlink()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    command = [sys.executable, ROOT / "workflow" / "scripts" / "refresh_readme.py", "--cost"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith(said) and done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_clean_keeps_the_archived_results(checkout):
    kept = ["results/mq/table4.csv", "results/mq/table4.svg", "results/claims.csv", "results/paper.pdf"]
    taken = [
        "results/traces/a.trace/ids",
        "results/mq/runs/replay/a.csv",
        "results/mq/.table4.12.partial.csv",
        "results/logs/a.log",
        "results/manifest.json",
        "results/manifest_supplement.json",
        "results/report.html",
        "build/a",
        ".snakemake/a",
    ]
    for name in kept + taken:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    done = make(checkout, "clean")
    assert done.returncode == 0, done.stderr
    assert [name for name in kept if not (checkout / name).exists()] == []
    assert [name for name in taken if (checkout / name).exists()] == []


def test_clean_and_gitignore_agree_on_what_is_archived():
    """`make clean` must remove from results/ exactly what git ignores there, because a clone has the rest."""
    ignored = {
        line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/results/")
    }
    recipe = re.search(r"^clean:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)[0]
    assert set(re.findall(r"results/[\w*/.-]+", recipe)) == ignored
