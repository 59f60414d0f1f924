"""Write the vectors of data/conformance: run the readable definitions of the policies on the traces of the sources.

    python tools/conformance_vectors.py            # write data/conformance/*.json and the long traces
    python tools/conformance_vectors.py --check    # exit status 1 if that would change a file

A source, data/conformance/sources/<policy>.yaml, lists traces and says what each tests; common.yaml lists the traces
that several or all policies share. Outcomes come from `misspenalty.policies` and `misspenalty.conformance.readings`.
"""

import argparse
import bisect
import itertools
import json
import random
import sys
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

from pydantic import TypeAdapter

from misspenalty.conformance.answers import answer_reference
from misspenalty.conformance.readings import BY_SEED, HASHED, all_outcomes, readings_of, with_exact_counts
from misspenalty.conformance.suite import Suite, hits_digest
from misspenalty.io.documents import read_yaml
from misspenalty.io.files import atomic_path
from misspenalty.policies import find_policy

DATA = Path(__file__).parents[1] / "data" / "conformance"
MOST_OUTCOMES = 200  # maximum number of outcomes under a reading that does not determine the victim
SEEDS = 30
LONG = 20_000  # references in each long trace
UNSTATED = {"evicted": None, "cached": None, "ghosts": None}
SCHEMA = TypeAdapter(Suite)


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file would change")
    options = parser.parse_args()
    files = make_files()
    before = {path.name: path.read_text(encoding="utf-8") for path in DATA.iterdir() if path.is_file()}
    changed = [name for name, text in files.items() if before.get(name) != text]
    if options.check:
        print("\n".join(f"not up to date: {name}" for name in changed) or "up to date")
        return 1 if changed else 0
    for name, text in files.items():
        with atomic_path(DATA / name) as path:
            path.write_text(text, encoding="utf-8")
    print(f"{len(changed)} files changed")
    return 0


def make_files():
    """Return the text of every generated file of the folder, by name."""
    traces = {"zipf.txt": zipf(1), "loops.txt": loops(2), "recency.txt": recency(3)}
    files = {name: "".join(f"{block}\n" for block in trace) for name, trace in traces.items()}
    common = read_yaml(DATA / "sources" / "common.yaml")
    for path in sorted((DATA / "sources").glob("*.yaml")):
        if path.stem != "common":
            files[f"{path.stem}.json"] = written(make_suite(read_yaml(path), common, traces))
    files["suite.schema.json"] = json.dumps(SCHEMA.json_schema(), indent=1, ensure_ascii=False) + "\n"
    return files


def make_suite(source, common, traces):
    """Make the suite of one policy, as a dictionary in the form of `Suite`."""
    policy, readings = source["policy"], readings_of(source["policy"])
    definition = find_policy(policy)
    entries = [each for each in common["vectors"] if each["rule"] in source["rules"]] + source["vectors"]
    made = [vector for vector in (make_vector(policy, readings, source["rules"], entry) for entry in entries) if vector]
    vectors = [{"id": f"{policy}/{number:02}", **vector} for number, vector in enumerate(made, 1)]
    long = [make_long(policy, readings, entry, traces[entry["file"]]) for entry in common["long"]]
    return {
        "format": 1,
        "version": source["version"],
        "licence": "CC-BY-4.0",
        "policy": policy,
        "summary": definition.summary,
        "paper": source["paper"],
        "definition": definition.reference.__module__,
        "readings": [{"name": v.name, "says": v.says, "parameters": v.parameters} for v in readings],
        "vectors": vectors,
        "long": long,
    }


def make_vector(policy, readings, rules, entry):
    """Make a vector with all its allowed outcomes.

    Return None if the outcome depends on a hash or a random draw, or if random replacement has too many outcomes.
    """
    capacity, trace, parameters = entry["capacity"], entry["trace"], entry.get("parameters", {})
    if policy in HASHED and not _without_hash(policy, capacity, trace, parameters):
        return None
    if policy in BY_SEED and not _without_draws(policy, capacity, trace, parameters):
        return None
    outcomes = []
    for reading in readings:
        if reading.victims:
            found = all_outcomes(reading, capacity, trace, MOST_OUTCOMES)
            for hits in found or []:
                _add(outcomes, reading.name, UNSTATED | {"hits": hits})
        else:
            answer = answer_reference(reading.make, capacity, trace, reading.parameters | parameters, True)
            offline = find_policy(policy).offline
            _add(outcomes, reading.name, UNSTATED | ({"hits": answer.hits} if offline else vars(answer)))
    if policy == "random" and not any("any block" in outcome["readings"] for outcome in outcomes):
        return None
    fixed = {"tests": entry["tests"], "decided_by": rules[entry["rule"]], "catches": entry.get("catches")}
    return fixed | {
        "capacity": capacity,
        "parameters": parameters,
        "trace": trace,
        "writes": entry.get("writes", []),
        "outcomes": outcomes,
    }


def _add(outcomes, reading, outcome):
    """Add an outcome to the list; if the list has an equal outcome, only add the name of the reading to it."""
    same = next((each for each in outcomes if each | {"readings": 0} == outcome | {"readings": 0}), None)
    if same:
        same["readings"].append(reading)
    else:
        outcomes.append({"readings": [reading], **outcome})


def _without_hash(policy, capacity, trace, parameters):
    """Tell whether exact counts and eight different hashes all give the same hits as the definition."""
    hits = answer_reference(find_policy(policy).reference, capacity, trace, parameters, False).hits
    exact = answer_reference(with_exact_counts(policy), capacity, trace, parameters, False).hits
    hashed = {
        answer_reference(BY_SEED[policy], capacity, trace, {"seed": k, **parameters}, False).hits for k in range(8)
    }
    return {hits, exact} | hashed == {hits}


def _without_draws(policy, capacity, trace, parameters):
    """Tell whether 32 seeds of the random draws all give the same outcome."""
    definition = find_policy(policy)
    seeds = range(32) if definition.takes("seed") else ()
    runs = [answer_reference(definition.reference, capacity, trace, parameters | {"seed": k}, True) for k in seeds]
    return all(run == runs[0] for run in runs)


def make_long(policy, readings, entry, trace):
    """Make a long vector with the digest of each reading's outcome, or with an interval if chance decides it."""
    outcomes = []
    for reading in readings:
        if reading.by_seed:
            runs = (partial(reading.by_seed, seed=seed) for seed in range(SEEDS))
            hits = [answer_reference(make, entry["capacity"], trace, {}, False).hits.count("1") for make in runs]
            spread = 4 * stdev(hits)
            interval = [round(fmean(hits) - spread, 1), round(fmean(hits) + spread, 1)]
            outcomes.append(
                {"readings": [reading.name], "hits": round(fmean(hits)), "sha256": None, "interval": interval}
            )
        else:
            hits = answer_reference(reading.make, entry["capacity"], trace, reading.parameters, False).hits
            digest = {"hits": hits.count("1"), "sha256": hits_digest(hits), "interval": None}
            _add(outcomes, reading.name, digest)
    stem = Path(entry["file"]).stem
    return {
        "id": f"{policy}/{stem}",
        "references": len(trace),
        **{k: entry[k] for k in ("tests", "capacity", "file")},
        "outcomes": outcomes,
    }


def zipf(seed):
    """Draw references to 2,000 blocks; the k-th most popular has a probability proportional to 1 / k."""
    draw = random.Random(seed)
    bounds = list(itertools.accumulate(1 / k for k in range(1, 2001)))
    return [bisect.bisect(bounds, draw.random() * bounds[-1]) + 1 for _ in range(LONG)]


def loops(seed):
    """Draw loops over 60 to 200 blocks, a few times each; on average every fifth reference is to one of 20 blocks."""
    draw, trace, first = random.Random(seed), [], 100
    while len(trace) < LONG:
        length, times = draw.randrange(60, 201), draw.randrange(2, 6)
        for block in list(range(first, first + length)) * times:
            trace += [draw.randrange(20), block] if draw.random() < 0.25 else [block]
        first += draw.choice((0, length, length // 2))
    return trace[:LONG]


def recency(seed):
    """Draw references at random stack distances, mostly short ones, with scans of 50 to 300 new blocks between them."""
    draw, trace, stack, new = random.Random(seed), [], list(range(400)), 1000
    while len(trace) < LONG:
        if draw.random() < 0.002:
            length = draw.randrange(50, 301)
            trace += range(new, new + length)
            new += length
        else:
            depth = int(400 * draw.random() ** 2.5)
            stack.append(stack.pop(-1 - depth))
            trace.append(stack[-1])
    return trace[:LONG]


def written(suite):
    """Check a suite against the schema, and return it as JSON with one vector per line."""
    SCHEMA.validate_python(suite)
    dense = {"ensure_ascii": False, "separators": (",", ":")}
    parts = []
    for key, value in suite.items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(_lean(row), **dense) for row in value)
            parts.append(f' "{key}": [\n{rows}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value, ensure_ascii=False)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _lean(row):
    """Return a row without its empty optional fields."""
    if isinstance(row, dict):
        return {
            key: _lean(value)
            for key, value in row.items()
            if value is not None and (value or key not in ("parameters", "writes"))
        }
    return [_lean(each) for each in row] if isinstance(row, list) else row


if __name__ == "__main__":
    sys.exit(main())
