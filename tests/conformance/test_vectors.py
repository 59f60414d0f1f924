"""Test that the definitions generate the vectors, that the kernels pass them, and that each vector detects the fault it
names."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import jsonschema
import pytest

from misspenalty import conformance
from misspenalty.conformance.readings import readings_of
from misspenalty.conformance.suite import folder, load_trace, set_digest
from misspenalty.io.documents import read_yaml
from misspenalty.policies import find_policy, known_policies
from tests.conformance.wrong import WRONG, wrong_version
from tools import conformance_vectors

POLICIES = conformance.policies()
SUITES = {policy: conformance.load_suite(policy) for policy in POLICIES}
TRACES = {
    name: make(seed)
    for seed, (name, make) in enumerate(
        (
            ("zipf.txt", conformance_vectors.zipf),
            ("loops.txt", conformance_vectors.loops),
            ("recency.txt", conformance_vectors.recency),
        ),
        1,
    )
}

SOURCES = conformance_vectors.DATA / "sources"  # only in the checkout; the package has vectors made from them


def source(policy):
    return read_yaml(SOURCES / f"{policy}.yaml")


def test_every_policy_has_fifteen_to_thirty_five_vectors():
    assert set(POLICIES) == set(known_policies()) | {"tinylfu+lru", "tinylfu+arc"}
    assert all(15 <= len(suite.vectors) <= 35 and len(suite.long) == 3 for suite in SUITES.values())


def test_files_are_small():
    assert sum(path.stat().st_size for path in conformance_vectors.DATA.rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.parametrize("policy", POLICIES)
def test_a_file_follows_the_schema(policy):
    schema = json.loads((folder() / "suite.schema.json").read_text())
    jsonschema.validate(json.loads((folder() / f"{policy}.json").read_text()), schema)


def test_the_schema_and_the_long_traces_are_those_of_the_generator():
    assert json.loads((folder() / "suite.schema.json").read_text()) == conformance_vectors.SCHEMA.json_schema()
    for vector in SUITES["lru"].long:
        assert load_trace(vector) == TRACES[vector.file]


@pytest.mark.parametrize("policy", POLICIES)
def test_definitions_make_the_short_vectors_again(policy):
    own, common = source(policy), read_yaml(SOURCES / "common.yaml")
    suite = conformance_vectors.make_suite(own, common | {"long": []}, TRACES)
    archived = json.loads((folder() / f"{policy}.json").read_text())
    assert conformance_vectors.written(suite | {"long": archived["long"]}) == (folder() / f"{policy}.json").read_text()


@pytest.mark.parametrize("policy", ["lru", "fifo", "arc", "lirs", "s3fifo", "clock2qplus", "sieve", "2q", "slru"])
def test_definitions_make_the_long_vectors_again(policy):
    common = read_yaml(SOURCES / "common.yaml")
    assert len(common["long"]) == 3
    for entry, vector in zip(common["long"], SUITES[policy].long, strict=True):
        made = conformance_vectors.make_long(policy, readings_of(policy), entry, TRACES[entry["file"]])
        assert conformance_vectors._lean(made) == conformance_vectors._lean(json.loads(json.dumps(asdict(vector))))


@pytest.mark.parametrize("policy", POLICIES)
def test_kernels_and_definitions_conform(policy):
    def definition(capacity, trace, parameters, details):
        return conformance.answer_reference(find_policy(policy).reference, capacity, trace, parameters, details)

    kernel = conformance.check_run(SUITES[policy], conformance.run_kernel(policy))
    assert kernel.conforms and kernel.reading == "definition" and kernel.count("not run") == 0
    short = replace(SUITES[policy], long=[])
    assert conformance.check_run(short, definition).count("passed") == len(short.vectors)


@pytest.mark.parametrize("policy", POLICIES)
def test_readings_conform(policy):
    """Every reading that determines its victims must pass its policy's short vectors, and the check must name that
    reading."""
    short = replace(SUITES[policy], long=[])
    readings = [reading for reading in readings_of(policy) if reading.victims is None]
    assert readings
    for reading in readings:

        def run(capacity, trace, parameters, details, reading=reading):
            chosen = reading.parameters | parameters
            return conformance.answer_reference(reading.make, capacity, trace, chosen, details)

        verdict = conformance.check_run(short, run)
        assert verdict.conforms and verdict.reading == reading.name


def test_s3fifo_to_the_letter_adds_to_a_full_m_before_m_evicts():
    """By Algorithm 1, 4 leaves S for a full M, which then reinserts 1 behind 4 and evicts 2, so 1 is a hit at the end.
    If M evicted first, 1 would stand before 4, and the last miss of 2 would evict 1 instead of 4."""
    (reading,) = (reading for reading in readings_of("s3fifo") if reading.name == "algorithm 1")
    trace = [1, 2, 3, 4, 1, 1, 2, 4, 4, 3, 2, 1]
    assert conformance.answer_reference(reading.make, 3, trace, {}, False).hits == "000001011001"


@pytest.mark.parametrize("policy", POLICIES)
def test_every_vector_detects_its_fault(policy):
    caught = set()
    for vector in SUITES[policy].vectors:
        if vector.catches:
            faulty = wrong_version(policy, vector.catches)
            hits = hits_of(faulty, policy, vector)
            assert hits not in {outcome.hits for outcome in vector.outcomes if outcome.readings[0] == "definition"}
            caught.add(vector.catches)
    assert caught >= set(WRONG[policy])


def hits_of(make, policy, vector):
    future = [list(vector.trace)] if find_policy(policy).offline else []
    faulty = make(vector.capacity, *future, **vector.parameters)
    return "".join("01"[bool(faulty.access(block))] for block in vector.trace)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_other_policy_passes(policy):
    # lru and lru_top are equal without a prefetcher; s3fifo and s4fifo are equal with default parameters.
    alike = ({"lru", "lru_top"}, {"s3fifo", "s4fifo"})
    others = [name for name, found in known_policies().items() if name != policy and not found.offline]
    assert len(others) > 20
    whole = SUITES[policy]
    short = replace(whole, long=[])  # nearly every policy already fails one of these

    def passes(name):
        run = conformance.run_kernel(name)
        return conformance.check_run(short, run).first is None and conformance.check_run(whole, run).conforms

    assert [name for name in others if {name, policy} not in alike and passes(name)] == []


def test_a_digest_by_hand():
    """The digest is the first eight digits that coreutils' sha256sum prints for "1 2 30"."""
    assert set_digest([30, 1, 2]) == "61b69d59"


def test_the_generator_notices_a_changed_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(conformance_vectors, "make_files", lambda: {"a.json": "new\n"})
    monkeypatch.setattr(conformance_vectors, "DATA", tmp_path)
    monkeypatch.setattr("sys.argv", ["conformance_vectors.py", "--check"])
    (tmp_path / "a.json").write_text("old\n")
    assert conformance_vectors.main() == 1 and "a.json" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["conformance_vectors.py"])
    assert conformance_vectors.main() == 0 and (tmp_path / "a.json").read_text() == "new\n"


def test_the_guide_says_which_short_vectors_a_lirs_fails_that_forgets_an_evicted_block():
    def run(capacity, trace, parameters, details):
        return conformance.answer_reference(forgetful, capacity, trace, parameters, False)

    forgetful = wrong_version("lirs", "drops_history")
    findings = conformance.check_run(replace(SUITES["lirs"], long=[]), run).findings
    *first, last = [f"`{finding.vector.id}`" for finding in findings if finding.result == "differs"]
    guide = " ".join((Path(__file__).parents[2] / "docs/how-to/conformance.md").read_text().split())
    assert f"for instance, fails {', '.join(first)} and {last} of the short vectors" in guide


def test_the_guide_says_how_many_vectors_there_are():
    root = Path(__file__).parents[2]
    suites = [json.loads(path.read_text()) for path in sorted((root / "data/conformance").glob("*.json"))]
    suites = [suite for suite in suites if "vectors" in suite]
    short = [len(suite["vectors"]) for suite in suites]
    guide = (root / "docs/how-to/conformance.md").read_text()
    assert f"A policy has {min(short)} to {max(short)} short vectors" in guide
    assert {len(suite["long"]) for suite in suites} == {3}
