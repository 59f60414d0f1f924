"""A rule's digest is derived from imports; here it is compared with what Python actually loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from misspenalty.errors import ParameterError
from misspenalty.reporting.provenance import Sources

PACKAGE = Path(__file__).parents[2] / "src" / "misspenalty"
SOURCES = Sources(PACKAGE)
FUNCTIONS = [
    "misspenalty.studies.mq.runs.replay_policies",
    "misspenalty.studies.mq.figures.fig4",
    "misspenalty.studies.sarc.fit.search",
    "misspenalty.studies.hac.runs.sweeps",
    "misspenalty.studies.epcm.builds.play",
    "misspenalty.studies.vlog.platforms.files",
]
LOADED = """
import importlib, json, sys
import misspenalty.claims  # loading a module runs its parent packages first, which hold no code that it uses
before = set(sys.modules)
importlib.import_module({module!r})
print(json.dumps(sorted(n for n in set(sys.modules) - before if n.startswith("misspenalty."))))
"""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_python_loads_for_a_function_is_covered(function):
    module = function.rpartition(".")[0]
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(module=module)], capture_output=True, text=True, check=True
    )
    covered = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in SOURCES.files(function)}
    loaded = [name.split(".", 1)[1].replace(".", "/") for name in json.loads(done.stdout)]
    assert loaded
    modules = [
        name for name in loaded if not (PACKAGE / name).is_dir()
    ]  # a parent package runs, too, but holds no code
    assert [name for name in modules if name not in covered] == []


def test_figures_and_simulations_do_not_depend_on_each_other():
    assert not [path for path in SOURCES.files("misspenalty.studies.hac.runs.sweeps") if "figures" in path.name]
    assert not [path for path in SOURCES.files("misspenalty.studies.mq.figures.fig4") if path.name == "runs.py"]


def test_kernels_of_a_registry_count():
    names = {path.name for path in SOURCES.files("misspenalty.studies.mq.runs.replay_policies")}
    assert {"_mq.pyx", "_arc.pyx", "mq.py"} <= names


@pytest.fixture
def package(tmp_path):
    for name, text in {
        "studies/mq.py": "import os\nfrom misspenalty.replay import simulation\n",
        "replay/simulation.py": "import misspenalty.tools\n"
        "def f():\n    from misspenalty.policies import (\n        find_policy,\n    )\n",
        "policies/__init__.py": "from misspenalty.policies.registry import find_policy\n",
        "policies/registry.py": 'import importlib\nimportlib.import_module(f"misspenalty.policies.{name}")\n',
        "policies/_lru.pyx": "from misspenalty.lists._list cimport append\n",
        "lists/_list.pxd": "# struct\n",
        "tools.py": "",
        "files.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "edited", ["replay/simulation.py", "policies/_lru.pyx", "lists/_list.pxd", "studies/mq.py", "tools.py"]
)
def test_an_edit_of_what_a_function_imports_changes_its_digest(package, edited):
    before = Sources(package).digest("misspenalty.studies.mq.table")
    (package / edited).write_text((package / edited).read_text() + "# edited\n")
    assert Sources(package).digest("misspenalty.studies.mq.table") != before


def test_an_edit_elsewhere_does_not(package):
    before = Sources(package).digest("misspenalty.studies.mq.table")
    (package / "files.py").write_text("# edited\n")
    assert Sources(package).digest("misspenalty.studies.mq.table") == before


def test_an_unknown_function_is_an_error(package):
    with pytest.raises(ParameterError, match=r"no function or module 'misspenalty\.studies\.nothing\.table'"):
        Sources(package).files("misspenalty.studies.nothing.table")
