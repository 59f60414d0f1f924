"""The requirements, their locks, environment.yml and pyproject.toml name the same environment."""

import asyncio
import json
import re
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import metadata
from pathlib import Path

import pytest
import rattler
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler.exceptions import SolverError

ROOT = Path(__file__).parents[2]
# On conda-forge, `matplotlib` is `matplotlib-base` with graphical back ends.
CONDA_TO_PYPI = {"matplotlib-base": "matplotlib"}
# A conda environment needs these in addition to Python packages; with pip, the machine provides them.
CONDA_ONLY = {"python", "pip", "c-compiler", "make"}


LOCKS = {  # the lock file of each group of dependencies
    "run": "requirements.lock",
    "build": "requirements-build.lock",
    "docs": "requirements-docs.lock",
    "lab": "requirements-lab.lock",
    "test": "requirements-test.lock",
}


def read_requirements(group="test"):
    """Return the direct requirements of a group, by name; the tests' group has all of them."""
    found = {}
    for entry in tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"][group]:
        if isinstance(entry, dict):
            found |= read_requirements(entry["include-group"])
        else:
            requirement = Requirement(entry)
            found[canonicalize_name(requirement.name)] = requirement
    return found


def read_lock(group="test"):
    """Return {name: [(requirement, hashes), …]}; a name may be locked once per environment marker."""
    locked = {}
    for entry in re.split(r"\n(?=[A-Za-z])", (ROOT / LOCKS[group]).read_text().strip()):
        lines = [line for line in entry.splitlines() if not line.lstrip().startswith("#")]
        requirement = Requirement(lines[0].removesuffix("\\").strip())
        hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", "\n".join(lines[1:]))
        locked.setdefault(canonicalize_name(requirement.name), []).append((requirement, hashes))
    return locked


def read_environment():
    """Return the conda specs and the pip requirements of environment.yml."""
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = [entry for entry in dependencies if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    return conda, pip


def locked_version(name):
    return Version(next(iter(next(iter(read_lock()[name]))[0].specifier)).version)


def test_direct_dependencies_are_the_same_for_pip_and_conda():
    conda, pip = read_environment()
    conda_names = {re.split(r"[=<> ]", spec)[0] for spec in conda}
    assert conda_names >= CONDA_ONLY
    named = {CONDA_TO_PYPI.get(name, name) for name in conda_names - CONDA_ONLY}
    named |= {canonicalize_name(Requirement(entry).name) for entry in pip if entry != "."}
    assert named == set(read_requirements())


def test_versions_agree_between_pip_and_conda():
    requirements = read_requirements()
    conda, pip = read_environment()
    assert conda and pip
    for spec in conda:
        name, _, version = spec.partition("=")
        if name in requirements or name in CONDA_TO_PYPI:
            wanted = str(requirements[CONDA_TO_PYPI.get(name, name)].specifier)
            assert wanted == f"=={version}.*", spec
    for entry in pip:
        if entry != ".":
            assert Requirement(entry) == requirements[canonicalize_name(Requirement(entry).name)]


def test_lock_satisfies_direct_dependencies_and_package():
    locked = read_lock()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    assert locked and declared
    for requirement in [*read_requirements().values(), *map(Requirement, declared)]:
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not locked"
        for pinned, _ in locked[name]:
            (pin,) = pinned.specifier
            assert requirement.specifier.contains(pin.version), f"{requirement} against {pinned}"


def test_every_dependency_of_the_package_is_direct_and_needed_by_a_run():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    assert {canonicalize_name(Requirement(text).name) for text in declared} <= set(read_requirements("run"))


@pytest.mark.parametrize("group", sorted(LOCKS))
def test_groups_have_the_same_versions(group):
    everything = read_lock()
    assert read_lock(group) and set(read_requirements(group)) <= set(read_requirements())
    for name, entries in read_lock(group).items():
        versions = {str(requirement.specifier) for requirement, _ in everything[name]}
        assert {str(requirement.specifier) for requirement, _ in entries} <= versions, name


def test_a_run_needs_none_of_what_tests_documentation_and_notebooks_need():
    assert set(read_lock("build")) < set(read_lock("run"))
    large = {"playwright", "jupyterlab", "sphinx", "mypy", "libcachesim", "py-rattler", "botocore", "vl-convert-python"}
    assert large.isdisjoint(read_lock("run")) and len(read_lock("run")) < len(read_lock()) / 2


def test_python_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    conda, _ = read_environment()
    (python,) = [spec for spec in conda if re.match(r"python[^\w-]", spec)]
    assert python.startswith("python" + project["requires-python"])


def test_lock_is_exact_and_hashed():
    assert len(read_lock()) > 50
    for entries in (entries for group in LOCKS for entries in read_lock(group).values()):
        for requirement, hashes in entries:
            assert [clause.operator for clause in requirement.specifier] == ["=="], requirement
            assert hashes, f"{requirement} has no hash"


@pytest.mark.parametrize("name", sorted(LOCKS.values()))
def test_no_host_and_no_folder_is_written_down(name):
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert not re.search(r"^\s*--(?!hash)", text, re.MULTILINE), "the lock has an option other than hashes"
    assert not re.search(r" /\w", text)


def test_channels_are_conda_forge_alone():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["channels"] == ["conda-forge", "nodefaults"]


def test_match_specs_parse_strictly():
    conda, _ = read_environment()
    assert conda
    for spec in conda:
        parsed = rattler.MatchSpec(spec, strict=True)
        assert parsed.name is not None
        assert parsed.version or spec in CONDA_ONLY, f"{spec} states no version"


def write_channel(folder, packages):
    """Write the index of a conda channel with the packages `{name: version}`, but no files of packages."""
    for subdir, records in (("noarch", packages), ("linux-64", {})):
        index = {
            f"{name}-{version}-0.tar.bz2": {
                "name": name,
                "version": str(version),
                "build": "0",
                "build_number": 0,
                "depends": [] if name in CONDA_ONLY else ["python"],
                "subdir": subdir,
                "timestamp": 1_700_000_000_000,
            }
            for name, version in records.items()
        }
        (folder / subdir).mkdir(parents=True)
        (folder / subdir / "repodata.json").write_text(
            json.dumps({"info": {"subdir": subdir}, "packages": index, "packages.conda": {}})
        )
    return rattler.Channel(folder.as_uri())


def solve(channel, specs, cache):
    """Solve in a separate thread, because tests with a browser leave an event loop in this one."""

    async def solved():
        gateway = rattler.Gateway(cache_dir=cache)
        return await rattler.solve(
            [channel], specs, gateway=gateway, platforms=["linux-64", "noarch"], timeout=timedelta(minutes=10)
        )

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, solved()).result()


def channel_packages():
    """Return a version for every conda spec: the locked one or, for a spec outside the lock, a fixed one."""
    conda, _ = read_environment()
    names = {re.split(r"[=<> ]", spec)[0] for spec in conda}
    given = {"python": "3.11.9", "pip": "25.0", "c-compiler": "1.9.0", "make": "4.4.1"}
    return given | {name: locked_version(CONDA_TO_PYPI.get(name, name)) for name in names - CONDA_ONLY}


def test_environment_solves_to_the_locked_versions(tmp_path):
    conda, _ = read_environment()
    packages = channel_packages()
    records = solve(write_channel(tmp_path / "channel", packages), conda, tmp_path / "cache")
    assert {record.name.normalized: str(record.version) for record in records} == {
        name: str(version) for name, version in packages.items()
    }


def test_environment_refuses_other_versions(tmp_path):
    conda, _ = read_environment()
    packages = channel_packages() | {"numpy": "1.26.4"}
    channel = write_channel(tmp_path / "channel", packages)
    with pytest.raises(SolverError, match="numpy"):
        solve(channel, conda, tmp_path / "cache")


def test_installed_versions_are_the_locked_ones():
    """The installed versions must meet the requirements."""
    drifted = []
    for name, requirement in read_requirements().items():
        if requirement.marker and not requirement.marker.evaluate():
            continue
        installed = metadata.version(name)
        if not requirement.specifier.contains(installed):
            drifted.append(f"{requirement}, installed {installed}")
    assert not drifted


@pytest.mark.parametrize("group", sorted(LOCKS))
def test_lock_was_made_from_these_requirements(group):
    """Each lock must list exactly the direct requirements that pyproject.toml states."""
    entries = re.split(r"\n(?=[A-Za-z])", (ROOT / LOCKS[group]).read_text())
    direct = {canonicalize_name(entry.split("==")[0]) for entry in entries if f"(pyproject.toml:{group})" in entry}
    assert direct == set(read_requirements(group))


def test_files_that_others_need_are_not_ignored():
    ignored = subprocess.run(
        ["git", "check-ignore", "requirements.lock", "requirements-test.lock", "CITATION.cff", "results/claims.csv"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if ignored.returncode == 128:
        pytest.skip("not a git checkout")
    assert ignored.stdout == ""
