"""The conda recipe and the container file require what the project declares."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
CONDA_TO_PYPI = {"matplotlib-base": "matplotlib"}


def asked(part):
    """Return the name and version of what a part of the recipe requires."""
    found = (spec.partition(" ") for spec in RECIPE["requirements"][part] if not spec.startswith("${{"))
    return {CONDA_TO_PYPI.get(name, name): version for name, _, version in found}


def declared(requirements):
    return {one.name: str(one.specifier) for one in map(Requirement, requirements)}


def test_recipe_is_of_this_release():
    assert RECIPE["context"]["version"] == PROJECT["project"]["version"]
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]


def test_recipe_requires_what_the_package_requires():
    python = {"python": PROJECT["project"]["requires-python"]}
    assert asked("run") == python | declared(PROJECT["project"]["dependencies"])
    build = declared(PROJECT["build-system"]["requires"])
    assert asked("host") == build | {"python": "", "pip": "", "ninja": ""}


def test_container_installs_what_the_documentation_names():
    documented = re.search(r"^apt-get install (.*)$", (ROOT / "docs" / "reproduce.md").read_text(), re.MULTILINE)[1]
    installed = re.search(r"apt-get install (.*?) \\$", (ROOT / "Containerfile").read_text(), re.MULTILINE)[1]
    assert set(documented.split()) <= set(installed.split())


def test_variants_say_what_the_recipe_leaves_open():
    variants = yaml.safe_load((ROOT / "recipe" / "variants.yaml").read_text())
    asked_of_them = {f"c_{kind}" for kind in re.findall(r"\$\{\{ (\w+)\(\"c\"\) \}\}", str(RECIPE).replace("\\", ""))}
    assert asked_of_them == {"c_compiler", "c_stdlib"} and asked_of_them <= set(variants)
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"][0]
    assert all(
        version.removesuffix(".*") in SpecifierSet(conda.removeprefix("python")) for version in variants["python"]
    )
