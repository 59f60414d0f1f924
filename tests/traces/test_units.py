"""Test units that lines do not state: asked for, or named in a note, and never assumed without a word.

The lines are like those of real files whose units differ from what their columns or their format suggest.
"""

import pytest

from misspenalty import InputError, open_trace, simulate

IOSNOOP = (
    "Tracing block I/O. Ctrl-C to end.\nCOMM         PID    TYPE DEV      BLOCK        BYTES     LATms\n"
    "supervise    1809   R    202,1    17039600     131072     1.32\n"
    "supervise    1809   R    202,1    17039608     4096       1.32\n"
    "supervise    1809   R    202,1    17039616     4096       1.32\n"
)
ADJACENT = "time,disk,block_number,bytes,rw\n0,0,0,65536,R\n1,0,8,4096,R\n2,0,16,4096,R\n3,0,24,4096,R\n"


@pytest.fixture
def opened(tmp_path):
    """Return a function that writes lines to a file and opens it."""

    def open_lines(lines, *options, name="found", **further):
        (path := tmp_path / name).write_text(lines)
        return open_trace(path, *options, **further)

    return open_lines


@pytest.mark.parametrize(("lines", "name", "hits"), [(IOSNOOP, "BLOCK", 2), (ADJACENT, "block_number", 3)])
def test_a_number_of_a_block_next_to_bytes_and_a_disk_may_be_a_sector(opened, lines, name, hits):
    message = rf"column {name} may hold sectors of 512 bytes.*or keys.*--columns sector={name} or key={name}"
    with pytest.raises(InputError, match=message):
        opened(lines)
    assert simulate(opened(lines, columns=f"sector={name}"), "lru", 100).hits == hits
    assert opened(lines, columns=f"key={name}").blocks == hits + 1


@pytest.mark.parametrize(
    "lines",
    ["disk,block,obj_size\n0,7,4096\n", "disk,block,bytes\n0,a7,4096\n", "block,bytes\n7,4096\n",
     "disk,block_id,bytes\n0,7,4096\n"],
)  # fmt: skip
def test_other_keys_next_to_sizes_are_keys(opened, lines):
    assert opened(lines).reading.columns["block"].startswith("block")
