"""A test that asserts only within loops must also assert that they ran: with nothing to loop over, it would pass."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = {
    "raises",
    "warns",
    "fail",
    "assert_allclose",
    "assert_array_equal",
    "assert_frame_equal",
    "assert_series_equal",
}
LOOPS = (ast.For, ast.While, ast.AsyncFor)
OTHER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def asserts(node):
    """Return whether a statement or an expression is itself an assertion."""
    if isinstance(node, ast.Assert):
        return True
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", None)) in CHECKS


def runs(loop):
    """Return whether a loop has something to run over, judging by its source alone."""
    over = getattr(loop, "iter", None)
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.args:
        if over.func.id == "range":
            limits = [arg.value for arg in over.args if isinstance(arg, ast.Constant)]
            return len(limits) == len(over.args) and len(range(*limits)) > 0
        if over.func.id in ("enumerate", "reversed", "sorted", "list", "set"):
            return runs(ast.For(iter=over.args[0]))
        if over.func.id == "zip":
            return all(runs(ast.For(iter=arg)) for arg in over.args)
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr in ("items", "values"):
        return runs(ast.For(iter=over.func.value))
    if isinstance(over, ast.Dict):
        return any(key is not None for key in over.keys)
    if isinstance(over, ast.Tuple | ast.List | ast.Set):
        return any(not isinstance(one, ast.Starred) for one in over.elts)
    return isinstance(over, ast.Constant) and bool(over.value)


def vacuous(node):
    """Return whether a node asserts `all(...)` or `not any(...)` over a collection that may be empty."""
    test = node.test if isinstance(node, ast.Assert) else None
    test, name = (
        (test.operand, "any") if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else (test, "all")
    )
    return (
        isinstance(test, ast.Call)
        and getattr(test.func, "id", None) == name
        and isinstance(test.args[0], ast.GeneratorExp)
        and not all(runs(part) for part in test.args[0].generators)
    )


def reached(node):
    """Yield the assertions below a node, except those in loops that may have nothing to run over."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, OTHER_SCOPES) or (isinstance(child, LOOPS) and not runs(child)):
            continue
        if not asserts(child):
            yield from reached(child)
        elif not vacuous(child):
            yield child


def only_in_loops(source):
    """Yield the names of the tests in a source that assert something, but only in loops that may not run."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            within = [one for statement in node.body for one in ast.walk(statement) if asserts(one)]
            if within and not list(reached(node)):
                yield node.name


@pytest.mark.parametrize(
    "body, found",
    [
        ("for x in f(): assert x", True),
        ("for x in f():\n        with pytest.raises(E): x()", True),
        ("for x in (1, 2): assert x", False),
        ("for x in enumerate([a]): assert x", False),
        ("for x, y in zip((1, 2), f()): assert x", True),
        ("for x in {'a': 1}.items(): assert x", False),
        ("for x in {**a}.items(): assert x", True),
        ("for x in [*a]: assert x", True),
        ("for x in range(3): assert x", False),
        ("for x in range(3, 3): assert x", True),
        ("for x in range(n): assert x", True),
        ("for x in (1, 2):\n        for y in x: assert y", True),
        ("while f(): assert x", True),
        ("a = f()\n    assert a\n    for x in a: assert x", False),
        ("def g():\n        assert 1\n    for x in f(): assert x", True),
        ("np.testing.assert_allclose(a, b)", False),
        ("f()", False),
        ("assert all(x for x in f())", True),
        ("assert all(x for x in (1, 2))", False),
        ("assert all(f())", False),
        ("assert not any(x for x in f())", True),
        ("assert any(x for x in f())", False),
    ],
)
def test_tests_that_assert_only_in_loops_are_found(body, found):
    assert list(only_in_loops(f"def test_it():\n    {body}\n")) == (["test_it"] if found else [])


def test_every_test_that_asserts_in_loops_asserts_that_they_ran():
    files = sorted((*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("studies/**/test_*.py")))
    found = [f"{path.relative_to(ROOT)}::{name}" for path in files for name in only_in_loops(path.read_text())]
    assert len(files) > 100
    assert found == [], "assert that each loop has something to run over"
