"""The shipped copies of registered files have the registered content, and the command on their data card makes them."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from pages import blocks

from misspenalty.io.external import open_register
from misspenalty.traces.compression import open_stream

ROOT = Path(__file__).parents[2]
SHIPPED = {name: entry for name, entry in open_register(ROOT / "data" / "external.yaml").files.items() if entry.shipped}


@pytest.fixture(params=SHIPPED, scope="module")
def file(request):
    """Return a register entry, the path of the shipped copy, and its decompressed content."""
    entry = SHIPPED[request.param]
    with open_stream(ROOT / entry.shipped) as stream:
        return entry, ROOT / entry.shipped, stream.read()


def test_there_are_shipped_files():
    assert "kvcache/conversation_trace.jsonl" in SHIPPED


def test_the_content_is_the_registered_one(file):
    entry, path, content = file
    assert (len(content), hashlib.sha256(content).hexdigest()) == (entry.bytes, entry.sha256)
    card = path.with_name("README.md").read_text()
    assert {entry.sha256, hashlib.sha256(path.read_bytes()).hexdigest()} <= set(card.split("`"))
    assert path.with_name("LICENSE").is_file() and entry.licence.split("-")[0] in path.with_name("LICENSE").read_text()


def test_the_command_on_the_data_card_makes_the_copy(file, tmp_path):
    entry, path, content = file
    (command,) = [block.text for block in blocks(path.with_name("README.md").read_text()) if block.language == "sh"]
    assert command.startswith("python ")
    (tmp_path / Path(entry.path).name).write_bytes(content)
    subprocess.run([command.replace("python", sys.executable, 1)], shell=True, cwd=tmp_path, check=True)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()
