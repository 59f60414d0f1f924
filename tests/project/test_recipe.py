"""The conda recipe and the container file require what the project declares."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
CONDA_TO_PYPI = {"matplotlib-base": "matplotlib"}


def asked(part):
    """Return the versions that a part of the recipe requires, by the name of the package."""
    found = (spec.partition(" ") for spec in RECIPE["requirements"][part] if not spec.startswith("${{"))
    return {CONDA_TO_PYPI.get(name, name): version for name, _, version in found}


def declared(requirements):
    return {one.name: str(one.specifier) for one in map(Requirement, requirements)}


def test_recipe_is_of_this_release():
    assert RECIPE["context"]["version"] == PROJECT["project"]["version"]
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]


def test_recipe_builds_only_the_library():
    remove, install = RECIPE["build"]["script"]
    assert remove == "rm -rf studies" and " -m pip install . " in install
    assert "if import('fs').is_dir('studies')" in (ROOT / "meson.build").read_text()


def test_recipe_requires_what_the_package_requires():
    python = {"python": PROJECT["project"]["requires-python"]}
    assert asked("run") == python | declared(PROJECT["project"]["dependencies"])
    build = declared(PROJECT["build-system"]["requires"])
    assert asked("host") == build | {"python": "", "pip": "", "ninja": ""}


def test_container_installs_what_the_documentation_names():
    documented = re.search(r"^apt-get install (.*)$", (ROOT / "docs" / "reproduce.md").read_text(), re.MULTILINE)[1]
    installed = re.search(r"apt-get install (.*?) \\$", (ROOT / "Containerfile").read_text(), re.MULTILINE)[1]
    assert set(documented.split()) <= set(installed.split())


def test_an_image_leaves_out_what_git_ignores():
    """The image must contain no downloaded traces, which may not be redistributed, and no results of this machine,
    which could be mistaken for the image's."""
    ignored = [line for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")]
    left_out = (ROOT / ".dockerignore").read_text().splitlines()
    assert len(ignored) > 10
    assert [line for line in ignored if line.strip("/") not in left_out] == []


def test_a_container_keeps_the_archived_results():
    """No folder may be mounted over results/, because it would hide tables that a run reads if traces cannot be
    downloaded."""
    text = (ROOT / "docs" / "reproduce.md").read_text()
    assert re.search(r"^podman cp \w+:/misspenalty/results ", text, re.MULTILINE)
    assert not re.search(r"(--volume|--mount|-v) ?[^\n]*/misspenalty/results", text)


def test_variants_say_what_the_recipe_leaves_open():
    variants = yaml.safe_load((ROOT / "recipe" / "variants.yaml").read_text())
    asked_of_them = {f"c_{kind}" for kind in re.findall(r"\$\{\{ (\w+)\(\"c\"\) \}\}", str(RECIPE).replace("\\", ""))}
    assert asked_of_them == {"c_compiler", "c_stdlib"} and asked_of_them <= set(variants)


def test_conda_packages_are_built_for_the_versions_of_python_that_wheels_are_built_for():
    variants = yaml.safe_load((ROOT / "recipe" / "variants.yaml").read_text())
    wheels = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert [f"cp{version.removesuffix('.*').replace('.', '')}-*" for version in variants["python"]] == wheels
