"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_traces():
    """Folder of the shared reference traces, which are read where they are and never copied."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", root.parent / "shared" / "traces"))
    if not folder.is_dir():
        pytest.skip("the shared reference traces are not here (set MISSPENALTY_SHARED_TRACES)")
    return folder
