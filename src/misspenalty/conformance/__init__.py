"""Check with vectors of known outcomes whether a cache implements the policy that it claims to implement.

>>> from misspenalty import conformance
>>> verdict = conformance.check_run(conformance.load_suite("arc"), conformance.run_kernel("arc"))
>>> verdict.conforms, verdict.count("differs")
(True, 0)
"""

from misspenalty.conformance.answers import Answer, answer_reference, run_class, run_kernel
from misspenalty.conformance.check import Finding, Verdict, check_results, check_run
from misspenalty.conformance.suite import Suite, load_suite, load_trace, policies, read_results

__all__ = [
    "Answer",
    "Finding",
    "Suite",
    "Verdict",
    "answer_reference",
    "check_results",
    "check_run",
    "load_suite",
    "load_trace",
    "policies",
    "read_results",
    "run_class",
    "run_kernel",
]
