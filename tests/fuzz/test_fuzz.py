"""Every reader of files under the fuzzer, for a while; `python tests/fuzz/fuzz.py --executions N` goes on."""

import os
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import corpus
import fuzz

EXECUTIONS = int(os.environ.get("MISSPENALTY_FUZZ", "24000"))  # over all targets


@pytest.mark.parametrize("name", sorted(corpus.TARGETS))
def test_every_seed_is_read(tmp_path, name):
    target = corpus.TARGETS[name]
    for place, content in target.seeds().items():
        path = target.place(tmp_path / "input", place, content)
        target.read(path)


@pytest.mark.parametrize("name", sorted(corpus.TARGETS))
def test_mutated_inputs_are_refused_in_words_or_read_whole(tmp_path, name):
    counts, failures, _ = fuzz.run(name, EXECUTIONS // len(corpus.TARGETS), 1, tmp_path / "failures")
    assert not failures
    assert counts["refused"] > counts["read"] / 100 > 0


@pytest.mark.parametrize("fails, said", [("raise KeyError('W')", "KeyError: 'W'"), ("os.abort()", "Aborted")])
def test_a_failing_reader_is_caught(tmp_path, monkeypatch, capsys, fails, said):
    """The fuzzer itself: a reader that raises on some inputs, and one that ends the process."""
    broken = tmp_path / "broken.py"
    broken.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import corpus, fuzz\n"
        "def read(path):\n"
        "    content = path.read_bytes()\n"
        f"    if b'W' not in content: {fails}\n"
        "corpus.TARGETS['spc'] = corpus.Target(read, lambda: {'seed': corpus.SPC[:250]})\n"
        "fuzz.work(*sys.argv[2:3], *map(int, sys.argv[3:]))\n"
    )
    monkeypatch.setattr(fuzz, "__file__", str(broken))
    options = ["--kept", str(tmp_path / "kept"), "--csv", str(tmp_path / "table.csv")]
    status = fuzz.main(["--target", "spc", "--executions", "500", *options])
    shown = capsys.readouterr().out
    assert (tmp_path / "table.csv").read_text().splitlines()[0] == "target,executions,read,refused,failed"
    assert status == 1 and said in shown
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 5 and all(b"W" not in (each / "seed").read_bytes() for each in kept)


def test_mutations_are_the_same_every_time():
    seeds = list(corpus.detected().values())
    made = [[fuzz.mutate(seeds[0], seeds, random.Random(n)) for n in range(50)] for _ in range(2)]
    assert made[0] == made[1] and len(set(made[0])) > 40
