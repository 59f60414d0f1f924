"""A test that skips fails in continuous integration, unless its reason is listed in `tests/permitted_skips.txt`."""

import re
from pathlib import Path

import pytest

import conftest

pytest_plugins = "pytester"

ROOT = Path(__file__).parents[2]
SOURCE = """
import pytest

def test_permitted():
    pytest.skip("the reference traces are missing (set X)")

def test_fails():
    pytest.skip("there is no such thing here")

@pytest.mark.skipif(True, reason="no luck")
def test_is_marked():
    pass

@pytest.fixture
def missing():
    pytest.importorskip("no_such_module")

def test_with_a_fixture(missing):
    pass

@pytest.mark.xfail(reason="a known fault")
def test_expected():
    assert False

def test_passes():
    pass
"""
OTHER = """
import pytest
pytest.importorskip("no_such_module")
"""


@pytest.fixture
def folder(pytester, monkeypatch):
    pytester.makepyfile(test_one=SOURCE, test_other=OTHER)
    pytester.makeconftest((ROOT / "conftest.py").read_text())
    pytester.mkdir("tests")
    pytester.makefile(".txt", **{"tests/permitted_skips": conftest.PERMITTED.read_text()})
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


def test_skips_fail_in_continuous_integration(folder, monkeypatch):
    monkeypatch.setenv("CI", "true")
    done = folder.runpytest_subprocess("-rs", "--continue-on-collection-errors")
    done.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1, errors=3)
    done.stdout.fnmatch_lines(
        ["*there is no such thing here*", "A test may skip here only for a reason in permitted_*"]
    )
    done.stdout.fnmatch_lines(["SKIPPED*the reference traces are missing*"])
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_skips_elsewhere_are_skips(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    done = folder.runpytest_subprocess()
    done.assert_outcomes(passed=1, skipped=5, xfailed=1)
    assert done.ret == pytest.ExitCode.OK


def test_the_list_is_short_and_each_reason_is_one_that_a_test_gives():
    lines = [line for line in conftest.PERMITTED.read_text().splitlines() if line and not line.startswith("#")]
    assert 0 < len(lines) <= 3
    sources = "\n".join(
        path.read_text()
        for folder in (ROOT, ROOT / "tests", ROOT / "studies")
        for path in folder.glob("*.py" if folder == ROOT else "**/*.py")
        if path != Path(__file__)
    )
    assert [line for line in lines if not re.search(line, sources)] == []
    assert not conftest.is_permitted("there is no browser here")


def test_continuous_integration_says_that_it_is():
    """GitHub sets CI; `.ci/run`, which runs the tests on any machine, sets it as well."""
    assert "export CI=" in (ROOT / ".ci" / "run").read_text()
