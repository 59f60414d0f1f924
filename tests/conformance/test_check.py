"""Test the findings, messages and refusals of the conformance check."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from misspenalty import conformance
from misspenalty.cli.main import main
from misspenalty.errors import InputError, ParameterError
from misspenalty.policies import find_policy, known_policies, registry

LRU = conformance.load_suite("lru")
MINE = """
class Mine:
    def __init__(self, capacity):
        self.capacity, self.blocks = capacity, []

    def __contains__(self, block):
        return block in self.blocks

    def access(self, block):
        hit = block in self.blocks
        if hit:
            self.blocks.remove(block)
        elif len(self.blocks) == self.capacity:
            self.blocks.pop(0)
        self.blocks.append(block)
        return hit
"""


def results(tmp_path, suite, run, **more):
    """Write the answers of `run` to a file of results, and return its path."""
    lines = [{"library": "made", "version": "1"}]
    for vector in suite.vectors:
        answer = run(vector.capacity, vector.trace, dict(vector.parameters), True)
        lines.append({"id": vector.id, "hits": answer.hits} | more)
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_results_of_a_conforming_library(tmp_path):
    path = results(tmp_path, LRU, conformance.run_kernel("lru"))
    verdict = conformance.check_results(LRU, conformance.read_results(path))
    assert verdict.conforms and verdict.count("not run") == 3  # the long vectors


def test_the_first_difference_is_named(tmp_path):
    path = results(tmp_path, LRU, conformance.run_kernel("fifo"))
    first = conformance.check_results(LRU, conformance.read_results(path)).first
    fifo, lru = conformance.run_kernel("fifo"), conformance.run_kernel("lru")
    a, b = (run(first.vector.capacity, first.vector.trace, {}, False).hits for run in (fifo, lru))
    number = next(i for i in range(len(a)) if a[i] != b[i])
    words = {"0": "a miss", "1": "a hit"}
    block = first.vector.trace[number]
    assert first.reference == number
    assert (
        first.difference == f"reference {number} to block {block}: expected {words[b[number]]}, got {words[a[number]]}"
    )


def test_an_evicted_block_that_differs_is_a_difference():
    vector = LRU.vectors[0]
    wrong = vector.outcomes[0].evicted | {2: [7]}
    answers = [conformance.suite.Result(id=vector.id, hits=vector.outcomes[0].hits, evicted=wrong)]
    first = conformance.check_results(LRU, answers).first
    assert first.difference == "reference 2 to block 2: expected eviction of 1, got eviction of 7"


def test_too_few_outcomes_are_a_difference():
    answers = [conformance.suite.Result(id="lru/01", hits="01")]
    assert "2 outcomes for 9 references" in conformance.check_results(LRU, answers).first.difference


def test_one_reading_has_to_hold_for_all_vectors():
    """A CLOCK that sets the bit at load in only half of the vectors must not conform to any reading."""
    suite = conformance.load_suite("clock")
    answers = []
    for number, vector in enumerate(v for v in suite.vectors if len({o.hits for o in v.outcomes}) > 1):
        answers.append(conformance.suite.Result(id=vector.id, hits=vector.outcomes[number % 2].hits))
    assert len(answers) >= 4
    assert not conformance.check_results(suite, answers).conforms


def test_chance_is_judged_by_the_mean():
    suite = conformance.load_suite("wtinylfu")
    low, high = suite.long[0].outcomes[0].interval
    n = suite.long[0].references

    def verdict(*hits):
        made = [conformance.suite.Result(id=suite.long[0].id, hits="1" * k + "0" * (n - k)) for k in hits]
        findings = conformance.check_results(suite, made).findings
        return next(finding for finding in findings if finding.vector is suite.long[0])

    assert verdict(int(low) - 50, int(high) + 50).result == "passed"
    assert verdict(int(low) - 50, int(low) - 40).result == "differs"
    assert "in the mean of 2 runs" in verdict(int(low) - 50, int(low) - 40).difference


def test_a_check_that_ran_nothing_does_not_pass():
    assert not conformance.check_results(LRU, []).conforms


@pytest.mark.parametrize(
    "text, named",
    [
        ("nonsense\n", "line 1"),
        ('{"library": "x"}\n{"id": "lru/01", "hits": "012"}\n', "line 2"),
        ('{"id": "lru/01"}\n', "hits"),
        ('{"id": "lru/01", "hits": "01", "hit": 3}\n', "hit"),
        ("[1]\n", "a list instead of an object"),
        ('{"id": 1, "hits": "01"}\n', "id: 1 is not a string"),
        ('{"id": "lru/01", "hits": 101}\n', "hits: expected a string of 0s and 1s"),
        ('{"id": "lru/01", "hits": "01", "evicted": [1]}\n', "evicted: expected blocks by the number"),
        ('{"id": "lru/01", "hits": "01", "evicted": {"1": 2}}\n', "evicted: expected blocks by the number"),
        ('{"id": "lru/01", "hits": "01", "evicted": {"1": [2.5]}}\n', "evicted: expected blocks by the number"),
        ("[" * 100_000 + "\n", "line 1: not a result: nested too deeply"),
    ],
)
def test_damaged_results_are_refused(tmp_path, text, named):
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(InputError, match=named):
        conformance.read_results(tmp_path / "r.jsonl")


def test_the_blocks_that_a_reference_evicted_may_be_in_any_order(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"id": "lru/01", "hits": "01", "evicted": {"1": [9, 10, 2]}}\n')
    (result,) = conformance.read_results(tmp_path / "r.jsonl")
    assert result.evicted == {1: [2, 9, 10]}


def test_unknown_policies_are_refused():
    with pytest.raises(ParameterError, match="did you mean 'lirs'"):
        conformance.load_suite("lirz")


def test_the_command_checks_a_class(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    assert main(["conformance", "check", f"{tmp_path}/mine.py:Mine", "--policy", "lru"]) == 0
    assert "lru: 24 of 24 vectors passed" in capsys.readouterr().out
    (tmp_path / "mine.py").write_text(MINE.replace("pop(0)", "pop()"))
    assert main(["conformance", "check", f"{tmp_path}/mine.py:Mine", "--policy", "lru"]) == 1
    out = capsys.readouterr().out
    assert "expected eviction of 1, got eviction of" in out and "Mattson" in out


def test_a_class_whose_contains_fails_is_named():
    class Mine:
        def __init__(self, capacity): ...

        def access(self, block):
            return False

        def __contains__(self, block):
            raise KeyError(block)

    with pytest.raises(ParameterError, match=r"policy Mine: __contains__\(1\) raised KeyError: 1"):
        conformance.check_run(LRU, conformance.run_class(Mine))


def test_a_policy_without_a_kernel_is_checked_as_a_class(monkeypatch):
    monkeypatch.setattr(registry, "_policies", dict(known_policies()))
    registry.register("mine")(type("Mine", (find_policy("lru").reference,), {}))
    assert conformance.check_run(LRU, conformance.run_kernel("mine")).conforms
    assert not conformance.check_run(replace(LRU, long=[]), conformance.run_kernel("tinylfu+clockpro")).conforms


def test_the_command_checks_kernels_and_results(tmp_path, capsys):
    for name in ("arc", "ARC", "belady"):
        assert main(["conformance", "check", name]) == 0
    assert main(["conformance", "check", "lru", "--policy", "fifo", "--json"]) == 1
    capsys.readouterr()
    path = results(tmp_path, LRU, conformance.run_kernel("lru"))
    assert main(["conformance", "check", str(path)]) == 0
    assert "21 of 21 vectors passed, 3 not run" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["check", "./mine.py:Mine"], "--policy"),
        (["check", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["check", "mine.py", "--policy", "lru"], "mine.py"),
        (["vectors", "--policy", "nothing"], "no vectors for 'nothing'"),
    ],
)
def test_wrong_commands_are_refused(arguments, named, capsys):
    assert main(["conformance", *arguments]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize(("name", "policy"), [("Belady", "opt"), ("min", "opt"), (" W-TinyLFU", "wtinylfu")])
def test_vectors_are_found_by_every_name_of_a_policy(name, policy):
    assert conformance.load_suite(name).policy == policy


def test_results_of_another_policy_are_refused(tmp_path, capsys):
    path = results(tmp_path, LRU, conformance.run_kernel("lru"))
    assert main(["conformance", "check", str(path), "--policy", "fifo"]) == 2
    assert "has no results of fifo, but of lru" in capsys.readouterr().err


def test_the_only_class_of_a_file_need_not_be_named(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE)
    assert main(["conformance", "check", f"{tmp_path}/mine.py", "--policy", "lru"]) == 0
    assert "24 of 24 vectors passed" in capsys.readouterr().out


def test_text_of_a_check_imports_nothing_slow_that_it_does_not_use():
    """The check must import none of three packages, each of which takes longer to import than the check takes to
    run."""
    program = "import sys; from misspenalty.cli.main import main; status = main(['conformance', 'check', 'arc'])\n"
    program += "print(status, {'pandas', 'pydantic', 'tqdm'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 set()"


def test_the_command_writes_the_vectors(tmp_path, capsys):
    assert main(["conformance", "vectors", "--policy", "arc", "--out", str(tmp_path / "v")]) == 0
    assert sorted(p.name for p in (tmp_path / "v").iterdir()) == [
        "arc.json", "loops.txt", "recency.txt", "suite.schema.json", "zipf.txt"
    ]  # fmt: skip
    assert main(["conformance", "vectors", "--policy", "arc", "--out", str(tmp_path / "v")]) == 2
    capsys.readouterr()
    assert main(["conformance", "vectors", "--policy", "arc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["hits"] == conformance.load_suite("arc").vectors[0].outcomes[0].hits


def test_a_class_that_fails_is_named(tmp_path, capsys):
    (tmp_path / "mine.py").write_text(MINE.replace("return hit", "return None"))
    assert main(["conformance", "check", f"{tmp_path}/mine.py:Mine", "--policy", "lru"]) == 2
    assert "access(1) returned None" in capsys.readouterr().err
