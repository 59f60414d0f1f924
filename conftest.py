"""Fixtures shared by all tests, and when a test may skip."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from misspenalty.traces import Trace
from misspenalty.traces._compile import Interner

# How long an example takes says something about the machine, not the code: no test may fail on a busy one, or with
# sanitizers, for that.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
PERMITTED = Path(__file__).parent / "tests" / "permitted_skips.txt"


def is_permitted(reason):
    """Whether a test may skip for a reason, by the list of such reasons."""
    lines = PERMITTED.read_text().splitlines()
    return any(re.search(line, reason) for line in lines if line and not line.startswith("#"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that skips fails in continuous integration, unless its reason is permitted."""
    return failed_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """So does a file of tests that skips as a whole."""
    return failed_in_ci((yield))


def failed_in_ci(report):
    """The report, as a failure if the variable CI is set and the report is of a skip that is not permitted."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not is_permitted(reason):
            report.outcome = "failed"
            report.longrepr = (
                f"{reason}\nA test may skip here only for a reason in {PERMITTED.name}: install what it needs."
            )
    return report


@pytest.fixture(scope="session")
def shared_traces():
    """Folder of the shared reference traces, which are read where they are and never copied."""
    root = Path(__file__).parent
    folder = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", root.parent / "shared" / "traces"))
    if not folder.is_dir():
        pytest.skip("the reference traces are not here (set MISSPENALTY_SHARED_TRACES)")
    return folder


@pytest.fixture(scope="session")
def make_trace():
    """``make_trace(addresses)``: the trace that reads these block addresses, any integers, in this order."""

    def make(addresses, name="made"):
        interner = Interner()
        ids = interner.ids(np.ascontiguousarray(addresses, np.uint64))
        return Trace(ids, None, None, interner.addresses_by_id(), 8192, name, "made")

    return make
