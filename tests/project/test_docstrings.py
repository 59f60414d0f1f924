"""Every example in a docstring of the packages runs, and functions of the public interface have examples."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import misspenalty
import misspenalty_studies

MODULES = sorted(
    module.name
    for package in (misspenalty, misspenalty_studies)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.rpartition(".")[2].startswith("_")
)
PUBLIC = [name for name in misspenalty.__all__ if name != "policies"]


@pytest.mark.parametrize("name", ["misspenalty", *MODULES])
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples_to_run():
    found = [test for name in ("misspenalty", *MODULES) for test in _examples(importlib.import_module(name))]
    assert len(found) >= 15
    for package in (misspenalty, misspenalty_studies):
        (folder,) = package.__path__
        files = [path.relative_to(folder) for path in Path(folder).rglob("*.py")]
        files = [path for path in files if not {"tests", "play"} & set(path.parts)]  # play runs in a browser only
        inside = {path.with_suffix("").as_posix().removesuffix("/__init__") for path in files}
        names = {f"{package.__name__}.{name.replace('/', '.')}" for name in inside if "/_" not in f"/{name}"}
        assert names <= {*MODULES}, "a folder without __init__.py hides its examples"


def _examples(module):
    return [test for test in doctest.DocTestFinder(exclude_empty=True).find(module) if test.examples]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_a_docstring_and_functions_an_example(name):
    documented = getattr(misspenalty, name)
    assert inspect.getdoc(documented)
    if inspect.isfunction(documented):
        assert ">>> " in inspect.getdoc(documented) and "Returns\n-------" in inspect.getdoc(documented)
