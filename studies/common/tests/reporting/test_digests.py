"""Test the digest of a rule's code: the imports that it follows must include all modules that Python loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from misspenalty.errors import ParameterError
from misspenalty_studies.common.reporting.provenance import Sources, checkout_folders

FOLDERS = checkout_folders(Path(__file__).parents[4])
SOURCES = Sources(FOLDERS)
FUNCTIONS = [
    "misspenalty_studies.mq.runs.replay_policies",
    "misspenalty_studies.mq.figures.fig4",
    "misspenalty_studies.sarc.fit.search",
    "misspenalty_studies.hac.runs.sweeps",
    "misspenalty_studies.epcm.builds.play",
    "misspenalty_studies.vlog.platforms.files",
]
LOADED = """
import importlib, json, sys
import misspenalty  # imported first, so that the modules that this parent package loads are not counted
before = set(sys.modules)
importlib.import_module({module!r})
print(json.dumps(sorted(n for n in set(sys.modules) - before if n.startswith("misspenalty"))))
"""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_python_loads_for_a_function_is_covered(function):
    module = function.rpartition(".")[0]
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module)], capture_output=True, text=True, check=True
    )
    covered = {path.with_suffix("") for path in SOURCES.files(function)}
    loaded = [FOLDERS[name.split(".")[0]].joinpath(*name.split(".")[1:]) for name in json.loads(done.stdout)]
    assert loaded
    modules = [path for path in loaded if not path.is_dir()]  # Python also loads the parent packages
    assert [path for path in modules if path not in covered] == []


def test_figures_and_simulations_do_not_depend_on_each_other():
    assert not [path for path in SOURCES.files("misspenalty_studies.hac.runs.sweeps") if "figures" in path.name]
    assert not [path for path in SOURCES.files("misspenalty_studies.mq.figures.fig4") if path.name == "runs.py"]


def test_kernels_of_a_registry_are_among_the_sources():
    names = {path.name for path in SOURCES.files("misspenalty_studies.mq.runs.replay_policies")}
    assert {"_mq.pyx", "_arc.pyx", "mq.py"} <= names


def test_a_compiled_trace_depends_on_the_descriptions_of_formats():
    named = {path.name for path in SOURCES.files("misspenalty.traces.open_trace")}
    assert {"__init__.py", "spc.yaml"} <= named
    studies = [path for path in SOURCES.files() if path.is_relative_to(FOLDERS["misspenalty_studies"])]
    assert studies and not [path for path in studies if path.suffix == ".yaml"]


@pytest.fixture
def package(tmp_path):
    for name, text in {
        "studies/mq.py": "import os\nfrom misspenalty.replay import simulation\n",
        "library/replay/simulation.py": "import misspenalty.tools\n"
        "def f():\n    from misspenalty.policies import (\n        find_policy,\n    )\n",
        "library/policies/__init__.py": "from misspenalty.policies.registry import find_policy\n",
        "library/policies/registry.py": 'import importlib\nimportlib.import_module(f"misspenalty.policies.{name}")\n',
        "library/policies/_lru.pyx": "from misspenalty.lists._list cimport append\n",
        "library/lists/_list.pxd": "# struct\n",
        "library/tools.py": "",
        "library/files.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {"misspenalty": tmp_path / "library", "misspenalty_studies": tmp_path / "studies"}


@pytest.mark.parametrize(
    "edited",
    [
        "library/replay/simulation.py",
        "library/policies/_lru.pyx",
        "library/lists/_list.pxd",
        "studies/mq.py",
        "library/tools.py",
    ],
)
def test_an_edit_of_what_a_function_imports_changes_its_digest(package, edited):
    before = Sources(package).digest("misspenalty_studies.mq.table")
    path = package["misspenalty"].parent / edited
    path.write_text(path.read_text() + "# edited\n")
    assert Sources(package).digest("misspenalty_studies.mq.table") != before


def test_an_edit_elsewhere_does_not(package):
    before = Sources(package).digest("misspenalty_studies.mq.table")
    (package["misspenalty"] / "files.py").write_text("# edited\n")
    assert Sources(package).digest("misspenalty_studies.mq.table") == before


def test_an_unknown_function_is_an_error(package):
    with pytest.raises(ParameterError, match=r"no function or module 'misspenalty_studies\.nothing\.table'"):
        Sources(package).files("misspenalty_studies.nothing.table")
