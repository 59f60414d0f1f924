"""Each rule's digest covers what its script imports, so that an edit reruns what depends on it."""

import ast
import re
from pathlib import Path

import pytest

from misspenalty.reporting import provenance

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "misspenalty"
RULES = re.compile(r"^(?:use rule (?P<parent>\w+) as (?P<child>\w+) with|rule (?P<name>\w+)):$", re.MULTILINE)


def rules():
    """(rule, script, digest's rooms) of every rule that computes."""
    scripts = {}
    for path in sorted((ROOT / "workflow/rules").glob("*.smk")):
        parts = RULES.split(path.read_text())
        for parent, child, name, body in zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4], strict=True):
            script = re.search(r'script:\s*"\.\./scripts/(\w+\.py)"', body)
            scripts[child or name] = script[1] if script else scripts[parent]
            code = re.search(r"code=source_digest\(([^)]*)\)", body)
            if code:
                yield child or name, scripts[child or name], tuple(ast.literal_eval(f"[{code[1]}]"))


def imported(script):
    """Modules of the package that a script imports; `import misspenalty` stands for opening a trace."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / "workflow/scripts" / script).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("misspenalty."):
            base = node.module.removeprefix("misspenalty.").replace(".", "/")
            within = [f"{base}/{name.name}" for name in node.names if (PACKAGE / base / f"{name.name}.py").is_file()]
            found |= set(within or [base])
        elif isinstance(node, ast.Import) and any(name.name == "misspenalty" for name in node.names):
            found.add("traces")
    return found


@pytest.mark.parametrize("rule, script, rooms", list(rules()))
def test_a_rules_digest_covers_what_its_script_imports(rule, script, rooms):
    if not rooms:
        return  # all of the package
    covered = provenance.sources(*rooms, root=PACKAGE)
    for module in imported(script):
        missing = provenance.sources(module, root=PACKAGE) - covered
        assert not missing, f"{rule}: {script} imports {module}, of which the digest lacks {sorted(missing)[:3]}"


@pytest.mark.parametrize(
    "module", ["studies/vlog", "studies/sarc_machine", "studies/epcm_setup", "systems/page_server"]
)
def test_a_room_imported_by_name_counts(module):
    """`from misspenalty import disks` is an import, too; read here by the parser of Python."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    named = [n.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "misspenalty"
             for n in node.names]  # fmt: skip
    assert named and all((PACKAGE / name / "__init__.py") in provenance.sources(module, root=PACKAGE) for name in named)


def test_the_rules_are_found():
    names = [rule for rule, _, _ in rules()]
    assert {"compile_trace", "mq_replay", "mq_fig7_64mb", "claims", "paper"} <= set(names)
    assert len(names) > 25
