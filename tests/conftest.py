"""Fixtures shared by all tests."""

import os
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


@pytest.fixture(scope="session")
def shared_traces():
    """Folder of the shared reference traces, which are read where they are and never copied."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", root.parent / "shared" / "traces"))
    if not folder.is_dir():
        pytest.skip("the shared reference traces are not here (set MISSPENALTY_SHARED_TRACES)")
    return folder


@pytest.fixture(scope="session")
def make_trace():
    """``make_trace(addresses)``: the trace that reads these block addresses, any integers, in this order."""

    def make(addresses, name="made"):
        interner = Interner()
        ids = interner.ids(np.ascontiguousarray(addresses, np.uint64))
        return Trace(ids, None, None, interner.addresses_by_id(), 8192, name, "made")

    return make
