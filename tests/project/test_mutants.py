"""Test the parts of `make mutants`: the faults, the switches, and that a fault is noticed."""

import os
import subprocess
import sys
from pathlib import Path

import faults
import mutants
import pandas as pd
import pytest
import switched

ROOT = Path(__file__).parents[2]
SMALL = '''\
"""A function of each kind of line."""
from __future__ import annotations
LIMIT = 3


def f(a, b):
    """1 < 2."""
    total, found = 0, []
    for i in range(a + 1, min(b, 9)):
        if i < LIMIT and not i == 2:
            total += i * 2
            continue
        elif i > 7:
            break
        found.append(total - i)
    while tick(
        total > 4 and (total % 2 == 0 or found)
    ):
        total -= 3
        found.append(-total)
    return [total, *found] if a is not None else None
'''


def outcome(source, number=0):
    """Return what the function returns, or the type of its exception; an endless loop raises one."""
    ticks = iter([True] * 200)
    space = {"tick": lambda goes_on: goes_on and next(ticks)}
    exec(source, space)
    if number:
        space["_switch_"](number)
    try:
        return [space["f"](a, b) for a, b in ((0, 3), (1, 10), (5, 9), (-2, 2))]
    except Exception as error:
        return type(error)


def test_hints_to_the_processor_have_no_faults():
    text = "def f(ids, i, n):\n    if i + AHEAD < n:\n        prefetch(&nodes[ids[i + AHEAD]])\n    return ids[i]\n"
    assert faults.mutants_of("a.pyx", text) == []
    assert (
        len(faults.mutants_of("a.py", "def f(a):\n    return a < NEAR\n")) == 1
    )  # NEAR is a prefetch hint only in kernels


def test_arguments_that_only_assert_get_no_faults():
    assert faults.mutants_of("a.py", "def f(a, b):\n    return zip(a, b, strict=True)\n") == []
    assert len(faults.mutants_of("a.py", "def f(a):\n    return sorted(a, reverse=True)\n")) == 1


def test_faults_of_a_small_source():
    text = 'def f(a, *b):\n    """1 < 2."""\n    if a < 3 and not b:\n        self.x = a + 1\n    return <int>a\n'
    found = {(m.line, m.before(text.splitlines(keepends=True)), m.after) for m in faults.mutants_of("a.pyx", text)}
    assert found == {
        (3, "<", "<="),
        (3, "3", "4"),
        (3, "and", "or"),
        (3, "not", ""),
        (3, "if a < 3 and not b:", "if not (a < 3 and not b):"),
        (4, "+", "-"),
        (4, "1", "2"),
        (4, "self.x = a + 1", "pass"),
    }


def test_signatures_and_the_words_of_errors_have_no_faults():
    text = "def f(\n    a: int | None = 1,\n) -> int:\n    raise ValueError(\n        1 + 2\n    )\n"
    assert faults.mutants_of("a.py", text) == []


def test_a_switch_makes_the_same_fault_as_the_source_alone():
    """With every switch off, the source with switches must act like the original; with one switch on, like the source
    with that fault alone."""
    found = dict(enumerate(faults.mutants_of("a.py", SMALL), 1))
    changed, inside = switched.switched(SMALL, found, ".py")
    assert outcome(changed) == outcome(SMALL)
    assert set(found) - set(inside) == {number for number, fault in found.items() if fault.line == 3}
    assert len(inside) > 25
    lines = SMALL.splitlines(keepends=True)
    alone = {number: outcome(found[number].text(lines)) for number in inside}
    assert {number: outcome(changed, number) for number in inside} == alone
    assert sum(result != outcome(SMALL) for result in alone.values()) > len(inside) / 2


@pytest.mark.parametrize(
    "line, places",
    [
        ("cdef int a, b = 1 + x, c = f(2, 3)", ["1 + x", "f(2, 3)"]),
        ("cdef int* a", []),
        ("for i in range(a + 1, f(b, 2)):", ["a + 1", "f(b, 2)"]),
        ("for a in b:", []),
        ("with f(1):", []),
        ("while a < 1:", ["a < 1"]),
    ],
)
def test_only_expressions_become_a_choice_in_a_kernel(line, places):
    assert [line[a:b].strip() for a, b in switched.expressions(line, True)] == places


def test_a_switched_kernel_leaves_out_faults_that_do_not_compile(tmp_path):
    text = (faults.SOURCE / "policies" / "_lru.pyx").read_text()
    found = dict(enumerate(faults.mutants_of("policies/_lru.pyx", text), 1))
    line = next(n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith("for i in"))
    wrong = faults.Mutant("policies/_lru.pyx", line, text.splitlines()[line - 1].index("range(") + 6, 0, "")
    number = len(found) + 1
    found[number] = faults.Mutant(wrong.path, line, wrong.begin, wrong.begin + 1, "nowhere + n")
    copy = switched.Copy(tmp_path)
    inside = switched.put_switched(copy, "policies/_lru.pyx", found)
    assert number not in inside and len(inside) > len(found) / 2
    again = switched.Copy(tmp_path / "alone", copy)
    assert "nowhere" in again.put("policies/_lru.pyx", found[number].text(text.splitlines(keepends=True)))
    assert "_fault_" in (tmp_path / "misspenalty" / "policies" / "_lru.pyx").read_text()


def test_a_kernel_whose_faults_are_off_works(tmp_path):
    """The kernel's condition is an `and` of an int and a bint, with faults in both."""
    text = (faults.SOURCE / "policies" / "_limit.pyx").read_text()
    found = dict(enumerate(faults.mutants_of("policies/_limit.pyx", text), 1))
    assert len(switched.put_switched(switched.Copy(tmp_path), "policies/_limit.pyx", found)) > 5
    code = (
        "import numpy as np; from misspenalty.policies._limit import touch; hit = np.empty(3, np.uint8);"
        "touch(np.array([1, 0, 1], np.uint32), np.zeros(2, np.uint32), hit); print(hit)"
    )
    environment = {name: value for name, value in os.environ.items() if name != switched.VARIABLE}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("[0 0 1]\n", 0)


def test_each_source_has_tests_near_to_it():
    chosen = faults.choose(mutants.DEFAULT, 60, 1)
    assert len({mutant.path for mutant in chosen}) == 60
    for mutant in chosen:
        files, importing = mutants.nearest(mutant.path)
        assert files and all((ROOT / file).is_file() for file in files) and set(importing) <= set(files)
    assert "tests/replay/test_curves.py" in mutants.nearest("replay/curves.py")[1]
    assert "tests/policies/test_policies.py" in mutants.nearest("policies/_arc.pyx")[0]


@pytest.mark.parametrize(
    ("source", "near", "far"),
    [
        ("latency/prefill.py", "tests/latency/test_prefill.py", "tests/replay/test_curves.py"),
        ("studies/dispute/runs.py", "studies/dispute/tests/", "studies/mq/tests/"),
        ("studies/common/plan.py", "studies/common/tests/test_plan.py", "studies/common/tests/site/"),
        ("errors.py", "tests/replay/test_curves.py", "studies/"),
    ],
)
def test_a_source_that_no_pattern_names_has_the_tests_of_its_folder_or_all_of_the_library(source, near, far):
    files, _ = mutants.nearest(source)
    assert all((ROOT / file).is_file() for file in files)
    assert any(file.startswith(near) for file in files) and not any(file.startswith(far) for file in files)


@pytest.mark.parametrize(
    "body, by",
    [
        ("assert 1 == 1", None),
        ("assert 1 == 2", "test_a.py::test_it"),
        ("import os; os.abort()", "test_a.py::test_it"),
        ("while True: pass", "test_a.py::test_it"),
        ("1 +", "collection"),
    ],
)
def test_a_fault_is_noticed_in_a_fork(tmp_path, monkeypatch, body, by):
    """A fault must be found by a test that fails, ends the process or runs forever, but not by one that passes."""
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "UNKNOWN", 2)
    monkeypatch.setattr(mutants.Plugin, "pytest_sessionstart", lambda self: None)  # there is no conftest here
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "test_a.py").write_text(f"def test_before():\n    pass\n\n\ndef test_it():\n    {body}\n")
    found, passed = mutants.in_fork(
        tmp_path, mutants.collect, tmp_path, ["test_a.py"], lambda items: mutants.run_items(items, {})
    )
    assert found == by
    assert [name for name in passed if "before" in name] == (["test_a.py::test_before"] if by != "collection" else [])


def test_a_table_grows_and_nothing_is_tried_twice(tmp_path):
    """A second run with the same options must try no fault again, and so add no row."""
    program = "import mutants; mutants.NEAREST = {'*': ('tests/io/test_files.py',)}; mutants.main()"
    options = ["--only", "io/files.py", "--csv", str(tmp_path / "faults.csv")]
    shown = []
    for count in ("3", "3"):
        command = [sys.executable, "-c", program, *options, "--count", count]
        shown.append(subprocess.run(command, cwd=ROOT / "tools" / "qa", capture_output=True, text=True).stdout)
    table = pd.read_csv(tmp_path / "faults.csv")
    assert list(table.columns) == list(mutants.COLUMNS) and len(table) == 3
    assert set(table["verdict"]) <= {"killed", "survived"} and "killed" in set(table["verdict"])
    assert all(" faults: " in text for text in shown)
    assert [text.count(" s  io/files.py:") for text in shown] == [3, 0]


def test_an_error_that_ends_a_trial_is_reported(tmp_path, monkeypatch):
    trial = mutants.Trial(tmp_path, {1: None}, set(), print, 1)
    monkeypatch.setattr(trial, "examine", lambda number: number / 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        trial.with_items([])
