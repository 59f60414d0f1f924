"""Define the fixture that most tests of traces use: a file that is written and opened."""

import pytest

from misspenalty import open_trace


@pytest.fixture
def opened(tmp_path):
    """Return a function that writes text or bytes to a file and opens it as a trace."""

    def write_and_open(content, *options, name="found", **further):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return open_trace(path, *options, **further)

    return write_and_open
