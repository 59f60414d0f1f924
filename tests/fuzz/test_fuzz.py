"""Test every file reader under the fuzzer with 9,000 inputs in all, or as many as MISSPENALTY_FUZZ says.

For longer runs, use `python tests/fuzz/fuzz.py --executions N`.
"""

import importlib
import os
import random
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import corpus
import fuzz

EXECUTIONS = int(os.environ.get("MISSPENALTY_FUZZ", "9000"))  # over all targets
TARGETS = fuzz.all_targets()


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_seed_is_read(tmp_path, name):
    target = TARGETS[name]
    layout = corpus.Layout(target, tmp_path / "input")
    for place, content in target.seeds().items():
        target.read(layout.put(place, content))


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_mutated_inputs_are_refused_in_words_or_read_whole(tmp_path, name):
    counts, failures, _ = fuzz.run(name, EXECUTIONS // len(TARGETS), 1, tmp_path / "failures")
    assert not failures
    assert counts["refused"] > counts["read"] / 100 > 0


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Return a function that replaces the target ``spc`` by a reader with the given body."""

    def replace(body):
        (tmp_path / "broken.py").write_text(
            "import contextlib, os, pathlib, socket, subprocess\n"
            "import corpus, fuzz\n"
            f"def read(path):\n    {body}\n"
            "def work(*arguments):\n"
            "    corpus.TARGETS['spc'] = corpus.Target(read, lambda: {'seed': corpus.SPC[:250]})\n"
            "    return fuzz.work(*arguments)\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "broken", raising=False)
        monkeypatch.setattr(fuzz, "work", importlib.import_module("broken").work)

    return replace


@pytest.mark.parametrize("fails, said", [("raise KeyError('W')", "KeyError: 'W'"), ("os.abort()", "Aborted")])
def test_a_failing_reader_is_caught(tmp_path, broken, capsys, fails, said):
    """The fuzzer must notice a reader that raises on some inputs, and one that ends the process."""
    broken(f"if b'W' not in path.read_bytes(): {fails}")
    options = ["--kept", str(tmp_path / "kept"), "--csv", str(tmp_path / "table.csv")]
    status = fuzz.main(["--target", "spc", "--executions", "500", *options])
    shown = capsys.readouterr().out
    assert status == 1 and said in shown
    assert fuzz.main(["--target", "lirs", "--executions", "5", "--seed", "2", *options]) == 0
    table = pd.read_csv(tmp_path / "table.csv")
    assert list(table.columns) == ["target", "seed", "executions", "read", "refused", "failed", "seconds"]
    assert table[["target", "seed", "failed"]].to_numpy().tolist() == [["lirs", 2, 0], ["spc", 1, 5]]
    assert table["refused"].tolist()[1] == 0  # every input that did not fail was read
    kept = sorted((tmp_path / "kept").glob("spc-1-*"))
    assert len(kept) == 5 and all(b"W" not in (each / "seed").read_bytes() for each in kept)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("pathlib.Path('left').touch()", "a file left behind"),
        ("open('/etc/hosts')", "a reader may not do this: open ('/etc/hosts',)"),
        ("os.system('true')", "a reader may not do this: os.system"),
        ("subprocess.run(['true'])", "a reader may not do this: subprocess.Popen"),
        ("socket.create_connection(('127.0.0.1', 9))", "a reader may not do this: socket.connect"),
    ],
)
def test_a_reader_that_leaves_its_input_is_a_failure(tmp_path, broken, does, said):
    broken(f"with contextlib.suppress(OSError): {does}")
    _, failures, _ = fuzz.run("spc", 100, 1, tmp_path / "failures")
    assert failures and all(what.startswith(f"AssertionError: {said}") for _, what in failures)


def test_one_file_of_a_layout_changes_at_a_time(tmp_path):
    whole = {"a": b"1", "b": b"2"}
    layout = corpus.Layout(corpus.Target(print, dict, lambda: whole), tmp_path / "input")
    for place, content in (("b", b"3"), ("b", b"4"), ("a", b"5"), ("c", b"6"), ("a", b"7")):
        assert layout.put(place, content) == tmp_path / "input" / "a"
        found = {path.name: path.read_bytes() for path in (tmp_path / "input").iterdir()}
        assert found == whole | {place: content}
    assert corpus.Layout(corpus.Target(print, dict), tmp_path / "input").put("x", b"8").name == "x"


def test_mutations_are_the_same_every_time():
    seeds = list(corpus.detected().values())
    made = [[fuzz.mutate(seeds[0], seeds, random.Random(n)) for n in range(50)] for _ in range(2)]
    assert made[0] == made[1] and len(set(made[0])) > 40
