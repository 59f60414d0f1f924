"""Imports go down the floors of the architecture, in Python and in Cython."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = "misspenalty"
FLOORS = (  # from the ground up; a package imports from the floors below its own and from itself
    ("errors", "signals", "_kernel", "_divide"),
    ("io",),
    ("machine", "settings", "traces", "claims", "reporting", "record"),
    ("policies", "plotting"),
    ("prefetch",),
    ("replay", "disks", "objects", "conformance"),
    ("systems",),
    ("latency",),
    ("__init__",),  # the public interface
    ("studies", "characterize"),
    ("cli",),
    ("site",),
    ("__main__",),
)
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}
USERS = ("studies", "characterize", "cli", "site")  # of the library
STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+(c?import)[ \t]+(\([^)]*\)|[^\n#]*)|(c?import)[ \t]+([^\n#]*))", re.MULTILINE
)


def find_modules():
    """Module -> its file; declarations of a kernel (.pxd) are a module of their own, ``<kernel>.pxd``."""
    found = {}
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in (".py", ".pyx", ".pxd"):
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
            found[f"{name}.pxd" if path.suffix == ".pxd" else name] = path
    return found


MODULES = find_modules()


def statements(path):
    """(module, names taken from it, whether declarations) of each import in a file."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                yield node.module, [alias.name for alias in node.names], False
            elif isinstance(node, ast.Import):
                yield from ((alias.name, [], False) for alias in node.names)
        return
    for module, kind, names, plain_kind, plain in STATEMENT.findall(path.read_text()):
        if module:
            yield module, [text.split()[0] for text in names.strip("()").split(",") if text.strip()], kind == "cimport"
        for text in plain.split(",") if plain else ():
            yield text.split()[0], [], plain_kind == "cimport"


def find_imports(name):
    """(module, name taken from it or None) for everything that a module imports from the package."""
    taken = set()
    for module, names, declarations in statements(MODULES[name]):
        if module.split(".")[0] != PACKAGE:
            continue
        for one in names or [None]:
            inner = f"{module}.{one}"
            known, one = (inner, None) if inner in MODULES or f"{inner}.pxd" in MODULES else (module, one)
            taken.add((f"{known}.pxd" if declarations and f"{known}.pxd" in MODULES else known, one))
    return taken


IMPORTS = {name: find_imports(name) for name in MODULES}


def package_of(module):
    return module.split(".")[1] if "." in module else "__init__"


def is_private(module, name=None):
    steps = [*module.removesuffix(".pxd").split("."), name or ""]
    return any(step.startswith("_") and not step.startswith("__") for step in steps)


def test_every_package_has_a_floor():
    assert {package_of(name) for name in MODULES} == set(FLOOR_OF)


def test_the_architecture_page_shows_every_package():
    docs = SOURCE.parent / "docs"
    table = set(re.findall(r"^\| (`[^|]*)\|", (docs / "architecture.md").read_text(), re.MULTILINE))
    listed = {name for cell in table for name in re.findall(r"`(\w+)`", cell)}
    drawn = set(
        re.findall(r"\w+", " ".join(re.findall(r'font-weight="bold">([^<]*)<', (docs / "floors.svg").read_text())))
    )
    packages = set(FLOOR_OF) - {"__init__", "__main__", "_kernel", "_divide"}
    assert (packages - listed, packages - drawn) == (set(), set())


def test_imports_of_kernels_are_seen():
    assert ("misspenalty.policies._log.pxd", "add") in IMPORTS["misspenalty.policies._lru"]
    assert ("misspenalty.policies._policy.pxd", "block_t") in IMPORTS["misspenalty.policies._log.pxd"]
    assert ("misspenalty.errors", "ParameterError") in IMPORTS["misspenalty.policies._tracks"]
    assert len([module for module, _ in IMPORTS["misspenalty.systems.array._array"] if "disks" in module]) > 0


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_down(name):
    own = package_of(name)
    others = {module for module, _ in IMPORTS[name] if package_of(module) != own}
    wrong = {module for module in others if FLOOR_OF[package_of(module)] >= FLOOR_OF[own]}
    assert not wrong, f"{name} may import {sum(FLOORS[: FLOOR_OF[own]], ())} and its own package"


def test_the_library_knows_no_study():
    knowing = {name for name, taken in IMPORTS.items() for module, _ in taken if package_of(module) == "studies"}
    assert {package_of(name) for name in knowing} == {"studies", "site"}


def test_studies_do_not_know_each_other():
    """What two of them need is the library's, or is next to them in `misspenalty.studies`; `whatif` is about them."""
    own = {path.parent.name for path in (SOURCE / PACKAGE / "studies").glob("*/__init__.py")}
    assert len(own) > 5
    for name, taken in IMPORTS.items():
        study = next((step for step in name.split(".")[2:3] if package_of(name) == "studies" and step in own), None)
        known = {module.split(".")[2] for module, _ in taken if package_of(module) == "studies" and "." in module[12:]}
        assert study in (None, "whatif") or known & own <= {study}, name


def test_no_import_comes_back_in_a_circle():
    try:
        TopologicalSorter({name: {module for module, _ in taken} - {name} for name, taken in IMPORTS.items()}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("name", sorted(name for name in MODULES if package_of(name) in USERS))
def test_users_of_the_library_take_nothing_private(name):
    """Kernels and names with a leading underscore are the library's own."""
    others = {(module, one) for module, one in IMPORTS[name] if package_of(module) != package_of(name)}
    assert not {(module, one) for module, one in others if is_private(module, one)}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_private_names_stay_in_their_package(name):
    """Kernels may be shared by packages of the library, a name with a leading underscore of any module may not."""
    others = {(module, one) for module, one in IMPORTS[name] if package_of(module) != package_of(name)}
    assert not {(module, one) for module, one in others if one and is_private("", one)}
