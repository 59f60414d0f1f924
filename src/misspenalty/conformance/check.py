"""Compare the answers of a cache with the vectors of the policy that it claims to implement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from misspenalty.conformance.answers import Answer, Run
from misspenalty.conformance.suite import LongVector, Outcome, Result, Suite, Vector, hits_digest, load_trace
from misspenalty.io.later import pd

PASSED, DIFFERS, LEFT_OUT = "passed", "differs", "not run"


@dataclass(frozen=True)
class Finding:
    """The result of one vector under one reading.

    Attributes
    ----------
    vector : Vector or LongVector
    result : {"passed", "differs", "not run"}
    reference : int or None
        Number of the first reference that differs, from 0.
    difference : str
        The difference in words; empty if there is none.
    """

    vector: Vector | LongVector
    result: str
    reference: int | None = None
    difference: str = ""


@dataclass(frozen=True)
class Verdict:
    """Results of all vectors of a policy under the reading that the fewest vectors contradict."""

    suite: Suite
    reading: str
    findings: list[Finding]

    def count(self, result: str) -> int:
        """Return the number of vectors with this result."""
        return sum(finding.result == result for finding in self.findings)

    @property
    def conforms(self) -> bool:
        """Whether at least one vector was run, and none differs."""
        return self.count(PASSED) > 0 and self.count(DIFFERS) == 0

    @property
    def first(self) -> Finding | None:
        """The finding about the first vector that differs; None if none does."""
        return next((finding for finding in self.findings if finding.result == DIFFERS), None)

    def table(self) -> pd.DataFrame:
        """Return one row per vector: ``vector, result, reference, difference, tests, decided_by``."""
        return pd.DataFrame(
            {
                "vector": finding.vector.id,
                "result": finding.result,
                "reference": finding.reference,
                "difference": finding.difference,
                "tests": finding.vector.tests,
                "decided_by": getattr(finding.vector, "decided_by", ""),
            }
            for finding in self.findings
        ).astype({"reference": "Int64"})


def check_run(suite: Suite, run: Run) -> Verdict:
    """Run every vector of a suite and compare the outcomes.

    Parameters
    ----------
    suite : Suite
    run : callable
        ``run(capacity, trace, parameters, details)`` replays a trace through an empty cache and returns an `Answer`, or
        None to leave the vector out. With `details`, the answer includes the evictions if the policy reports them.

    Examples
    --------
    >>> from misspenalty.conformance import load_suite, run_kernel
    >>> check_run(load_suite("lru"), run_kernel("fifo")).conforms
    False
    """
    answers: dict[str, list[Answer]] = {}
    for vector in suite.vectors:
        answer = run(vector.capacity, vector.trace, dict(vector.parameters), True)
        answers[vector.id] = [] if answer is None else [answer]
    for long in suite.long:
        answer = run(long.capacity, load_trace(long), {}, False)
        answers[long.id] = [] if answer is None else [answer]
    return _judge(suite, answers)


def check_results(suite: Suite, results: Iterable[Result]) -> Verdict:
    """Compare the answers of a library with a suite; results with ids that the suite lacks are ignored."""
    answers: dict[str, list[Answer]] = defaultdict(list)
    for result in results:
        answers[result.id].append(Answer(result.hits, result.evicted))
    return _judge(suite, answers)


def _judge(suite: Suite, answers: dict[str, list[Answer]]) -> Verdict:
    verdicts = [Verdict(suite, reading.name, _findings(suite, reading.name, answers)) for reading in suite.readings]
    return max(verdicts, key=lambda verdict: (-verdict.count(DIFFERS), verdict.count(PASSED)))  # or the first on a tie


def _findings(suite, reading, answers):
    short = [_compare(vector, reading, answers.get(vector.id, [])) for vector in suite.vectors]
    return short + [_compare_long(vector, reading, answers.get(vector.id, [])) for vector in suite.long]


def _compare(vector: Vector, reading: str, answers: Sequence[Answer]) -> Finding:
    """Check that every run has an outcome that the reading allows.

    If a run has none, describe where it first differs from the allowed outcome with which it agrees longest.
    """
    allowed = [outcome for outcome in vector.outcomes if reading in outcome.readings]
    for answer in answers if allowed else ():
        differences = [_first_difference(vector, outcome, answer) for outcome in allowed]
        if None not in differences:
            at, what = max(found for found in differences if found)
            return Finding(vector, DIFFERS, at, what)
    return Finding(vector, PASSED if answers and allowed else LEFT_OUT)


def _first_difference(vector: Vector, outcome: Outcome, answer: Answer) -> tuple[int, str] | None:
    if len(answer.hits) != len(outcome.hits):
        return min(
            len(answer.hits), len(outcome.hits)
        ), f"{len(answer.hits)} outcomes for {len(outcome.hits)} references"
    for number, block in enumerate(vector.trace):
        if answer.hits[number] != outcome.hits[number]:
            words = ("a miss", "a hit") if answer.hits[number] == "1" else ("a hit", "a miss")
            return number, f"reference {number} to block {block}: expected {words[0]}, got {words[1]}"
        if outcome.evicted is not None and answer.evicted is not None:
            expected, got = outcome.evicted.get(number, []), answer.evicted.get(number, [])
            if expected != got:
                return number, f"reference {number} to block {block}: expected {_evicts(expected)}, got {_evicts(got)}"
        for what in ("cached", "ghosts"):
            digests, own = getattr(outcome, what), getattr(answer, what)
            if digests is not None and own is not None and digests[number] != own[number]:
                return number, f"reference {number} to block {block}: a different set of blocks afterwards ({what})"
    return None


def _evicts(blocks):
    return f"eviction of {', '.join(map(str, blocks))}" if blocks else "no eviction"


def _compare_long(vector: LongVector, reading: str, answers: Sequence[Answer]) -> Finding:
    outcome = next((outcome for outcome in vector.outcomes if reading in outcome.readings), None)
    if not answers or outcome is None:
        return Finding(vector, LEFT_OUT)
    if any(len(answer.hits) != vector.references for answer in answers):
        got = next(len(answer.hits) for answer in answers if len(answer.hits) != vector.references)
        return Finding(vector, DIFFERS, None, f"{got} outcomes for {vector.references} references")
    if outcome.interval is not None:
        low, high = outcome.interval
        hits = fmean(answer.hits.count("1") for answer in answers)
        runs = f" in the mean of {len(answers)} runs" if len(answers) > 1 else ""
        inside = low <= hits <= high
        what = f"{hits:.0f} hits{runs}, expected {low:.0f} to {high:.0f}"
        return Finding(vector, PASSED if inside else DIFFERS, None, "" if inside else what)
    for answer in answers:
        if hits_digest(answer.hits) != outcome.sha256:
            got = answer.hits.count("1")
            what = (
                f"{got} hits, expected {outcome.hits}"
                if got != outcome.hits
                else f"{got} hits as expected, but at other references"
            )
            return Finding(vector, DIFFERS, None, what)
    return Finding(vector, PASSED)
