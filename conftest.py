"""Provide the fixtures that all tests share, and fail tests that skip in CI for reasons that are not permitted."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import settings

# pytest runs one worker per processor, so in the many processes that the tests start, BLAS threads would only wait and
# waste processor time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Set no deadline for examples: their time depends on the machine, and no test may fail because the machine is busy, or
# because the code runs with sanitizers.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
PERMITTED = Path(__file__).parent / "tests" / "permitted_skips.txt"
LONGEST = ("tests/project/test_workflow.py", "tests/project/", "studies/common/tests/")


def pytest_collection_modifyitems(items):
    """Start the longest files first, so that all workers finish at about the same time."""
    items.sort(key=lambda item: [not item.nodeid.startswith(path) for path in LONGEST])


def is_permitted(reason):
    """Tell whether `permitted_skips.txt` lets a test skip for this reason."""
    lines = PERMITTED.read_text().splitlines()
    return any(re.search(line, reason) for line in lines if line and not line.startswith("#"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Fail a test that skips in continuous integration, unless its reason is permitted."""
    return failed_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Fail a test file that skips as a whole in continuous integration, unless its reason is permitted."""
    return failed_in_ci((yield))


def failed_in_ci(report):
    """Return the report; turn it into a failure if the variable CI is set and the test skipped without permission."""
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
    """Return the folder of the shared reference traces, which are read in place and never copied."""
    root = Path(__file__).parent
    folder = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", root.parent / "shared" / "traces"))
    if not folder.is_dir():
        pytest.skip("the reference traces are missing (set MISSPENALTY_SHARED_TRACES)")
    return folder
