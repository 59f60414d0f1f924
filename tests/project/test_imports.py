"""The library's packages import only from packages below them; studies import the library, not each other."""

import ast
import importlib.util
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"misspenalty": ROOT / "src" / "misspenalty", "misspenalty_studies": ROOT / "studies"}
FLOORS = (  # a package imports only from earlier rows and from itself
    ("_memory",),
    ("errors", "signals", "_kernel", "_divide"),
    ("io", "engine"),
    ("traces", "record"),
    ("policies", "plotting"),
    ("prefetch",),
    ("replay", "disks", "conformance"),
    ("latency",),
    ("__init__",),  # the public interface
    ("characterize",),
    ("cli",),
    ("__main__",),
)
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}
USERS = ("characterize", "cli")  # packages of the library that may use only what is public in the others
STUDIES = {path.parent.name for path in PACKAGES["misspenalty_studies"].glob("*/__init__.py")} - {"common"}
STATEMENT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+(c?import)[ \t]+(\([^)]*\)|[^\n#]*)|(c?import)[ \t]+([^\n#]*))", re.MULTILINE
)


def find_modules():
    """Map modules to their files; declarations of a kernel (.pxd) count as a separate module, ``<kernel>.pxd``."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".pyx", ".pxd") and "tests" not in path.relative_to(folder).parts:
                parts = (package, *path.relative_to(folder).with_suffix("").parts)
                name = ".".join(parts).removesuffix(".__init__")
                found[f"{name}.pxd" if path.suffix == ".pxd" else name] = path
    return found


MODULES = find_modules()


def statements(path):
    """Yield (module, names taken from it, whether they are declarations) for each import in a file."""
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


@cache
def find_imports(name):
    """Return (module, name taken from it or None) for everything that a module imports from library and studies."""
    taken = set()
    for module, names, declarations in statements(MODULES[name]):
        if module.split(".")[0] not in PACKAGES:
            continue
        for one in names or [None]:
            inner = f"{module}.{one}"
            known, one = (inner, None) if inner in MODULES or f"{inner}.pxd" in MODULES else (module, one)
            taken.add((f"{known}.pxd" if declarations and f"{known}.pxd" in MODULES else known, one))
    return taken


def is_study(module):
    return module.split(".")[0] == "misspenalty_studies"


LIBRARY = sorted(name for name in MODULES if not is_study(name))
ABOVE = sorted(name for name in MODULES if is_study(name))


def package_of(module):
    """Return the package of the library that a module is in; for a module of a study, return the study."""
    return module.split(".")[1] if "." in module else "__init__"


def is_private(module, name=None):
    steps = [*module.removesuffix(".pxd").split("."), name or ""]
    return any(step.startswith("_") and not step.startswith("__") for step in steps)


def test_every_package_has_a_floor():
    assert {package_of(name) for name in LIBRARY} == set(FLOOR_OF)


def test_the_architecture_page_shows_every_package():
    docs = ROOT / "docs"
    table = set(re.findall(r"^\| (`[^|]*)\|", (docs / "architecture.md").read_text(), re.MULTILINE))
    listed = {name for cell in table for name in re.findall(r"`(\w+)`", cell)}
    drawn = set(
        re.findall(r"\w+", " ".join(re.findall(r'font-weight="bold">([^<]*)<', (docs / "floors.svg").read_text())))
    )
    packages = set(FLOOR_OF) - {"__init__", "__main__", "_kernel", "_divide", "_memory"}
    assert (packages - listed, packages - drawn) == (set(), set())


def test_imports_of_kernels_are_seen():
    assert ("misspenalty.policies._log.pxd", "add") in find_imports("misspenalty.policies._lru")
    assert ("misspenalty.policies._policy.pxd", "block_t") in find_imports("misspenalty.policies._log.pxd")
    assert ("misspenalty.errors", "ParameterError") in find_imports("misspenalty.policies._track_cache")
    assert len([module for module, _ in find_imports("misspenalty_studies.sarc.array._array") if "disks" in module]) > 0


def test_imports_go_down():
    wrong = {}
    for name in LIBRARY:
        own = package_of(name)
        others = {module for module, _ in find_imports(name) if package_of(module) != own and not is_study(module)}
        if up := {module for module in others if FLOOR_OF[package_of(module)] >= FLOOR_OF[own]}:
            wrong[name] = up
    assert wrong == {}, f"a module may import its own package and those before it in {FLOORS}"


def test_the_library_imports_no_study():
    assert {name for name in LIBRARY for module, _ in find_imports(name) if is_study(module)} == set()


def test_studies_do_not_import_each_other():
    """Code that two studies need is in the library or `common`; only `common` and `whatif` may import other studies."""
    assert len(STUDIES) > 5
    for name in ABOVE:
        known = {package_of(module) for module, _ in find_imports(name) if is_study(module)} & STUDIES
        assert package_of(name) in ("whatif", "common") or known <= {package_of(name)}, name


def test_imports_form_no_cycle():
    below = {name: {module for module, _ in find_imports(name)} - {name} for name in MODULES}
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def from_others(name):
    """Return (module, name taken from it or None) for what a module imports from packages other than its own."""
    return {(module, one) for module, one in find_imports(name) if package_of(module) != package_of(name)}


def test_users_of_the_library_import_nothing_private():
    """Kernels and names with a leading underscore are private to the library; only kernels of studies build on them."""
    users = [name for name in LIBRARY if package_of(name) in USERS]
    assert len(users) > 10
    assert [(name, *taken) for name in users for taken in from_others(name) if is_private(*taken)] == []


def test_private_names_stay_in_their_package():
    """Packages may share kernels, but not the names with a leading underscore in any module."""
    taken = [(name, module, one) for name in MODULES for module, one in from_others(name)]
    assert [found for found in taken if found[2] and is_private("", found[2])] == []


def test_the_rules_import_names_that_exist():
    found = [
        (path, match[1], name)
        for path in (*ROOT.glob("workflow/**/*.smk"), *ROOT.glob("studies/*/*.smk"))
        for match in STATEMENT.finditer(path.read_text())
        if (match[1] or "").startswith("misspenalty")
        for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", match[3].strip("()"))
    ]
    missing = [
        (path, module, name)
        for path, module, name in found
        if not hasattr(importlib.import_module(module), name) and not importlib.util.find_spec(f"{module}.{name}")
    ]
    assert len(found) > 10 and not missing
