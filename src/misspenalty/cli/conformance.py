"""Run the command ``conformance``: check whether a cache implements the policy that it claims to implement."""

import os
import shutil
from pathlib import Path

from misspenalty.cli.arguments import add_command, input_file, names_class, refuse_existing
from misspenalty.cli.output import Described
from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.io.files import atomic_path
from misspenalty.io.later import pd
from misspenalty.policies import find_policy, known_policies
from misspenalty.policies.python_policy import load_class
from misspenalty.policies.registry import ALIASES


def add(commands):
    """Add the commands to a parser."""
    parser = commands.add_parser(
        "conformance",
        help="check whether a cache implements the policy it claims",
        description="Compare the hits and evictions of any cache with vectors: short traces and the outcomes on them of"
        " the policy that the cache claims to implement.",
    )
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    check = add_command(
        actions,
        "check",
        "compare the outcomes of a cache with the vectors of a policy; exit status 1 if they differ",
        _check,
        (
            "misspenalty conformance check results.jsonl                   what an adapter printed",
            "misspenalty conformance check ./mine.py:Mine --policy lirs    a Python class",
            "misspenalty conformance check arc                             Miss Penalty's own kernel",
        ),
    )
    check.add_argument(
        "subject",
        metavar="RESULTS",
        type=input_file,
        help="a file of results, - for standard input, a class as in ./mine.py:Mine, or a policy of Miss Penalty",
    )
    check.add_argument("--policy", help="the policy that the cache claims to implement (default: that of RESULTS)")
    vectors = add_command(
        actions,
        "vectors",
        "list the vectors of a policy, or the policies that have vectors",
        _vectors,
        (
            "misspenalty conformance vectors",
            "misspenalty conformance vectors --policy arc",
            "misspenalty conformance vectors --policy arc --out vectors/   write arc.json and its long traces",
        ),
    )
    vectors.add_argument("--policy", help="list the vectors of this policy")
    vectors.add_argument("--out", metavar="FOLDER", type=Path, help="write the files of the vectors into a new folder")


def _check(options):
    from misspenalty import conformance  # import it here, as no other command needs it

    if names_class(options.subject):
        if options.policy is None:
            raise ParameterError("name the policy that the class claims to implement, as in --policy lirs")
        suite = conformance.load_suite(options.policy)
        return _described(conformance.check_run(suite, conformance.run_class(load_class(options.subject))))
    if _is_policy(options.subject) and not Path(options.subject).exists():
        suite = conformance.load_suite(options.policy or find_policy(options.subject).name)
        return _described(conformance.check_run(suite, conformance.run_kernel(options.subject)))
    if not os.path.exists(options.subject):
        meant = did_you_mean(options.subject, known_policies())
        raise ParameterError(
            f"{options.subject!r} is neither a file nor a policy{meant}; expected a file of results, a class as in"
            " ./mine.py:Mine, or the name of a policy"
        )
    if Path(options.subject).is_char_device():
        raise ParameterError(f"{options.subject} is a device; expected a file of results, or a pipe with them")
    results = conformance.read_results(options.subject)
    claimed = sorted({result.id.partition("/")[0] for result in results})
    if options.policy is None and len(claimed) != 1:
        if not claimed:
            raise ParameterError(f'{options.subject} has no results; expected lines such as {{"id": …, "hits": …}}')
        raise ParameterError(f"{options.subject} has results of {', '.join(claimed)}; choose one with --policy")
    suite = conformance.load_suite(options.policy or claimed[0])
    if suite.policy not in claimed:
        raise ParameterError(
            f"{options.subject} has no results of {suite.policy}, but of {', '.join(claimed) or 'no policy'}; "
            f"an id begins with the policy, as in {suite.vectors[0].id}"
        )
    return _described(conformance.check_results(suite, results))


def _is_policy(subject):
    name = subject.rpartition("+")[2].strip().lower()
    return name in known_policies() or name in ALIASES


def _described(verdict):
    """Describe a verdict: as text, the vectors that differ and the totals; for JSON and CSV, one row per vector."""
    suite = verdict.suite
    lines = []
    for finding in verdict.findings:
        if finding.result == "differs":
            decided = getattr(finding.vector, "decided_by", None)
            lines += [f"{finding.vector.id}: {finding.difference}", f"  tests: {finding.vector.tests}"]
            if decided:
                lines += [
                    f"  decided by: {decided}",
                    f"  capacity {finding.vector.capacity}, trace {' '.join(map(str, finding.vector.trace))}",
                ]
    run = verdict.count("passed") + verdict.count("differs")
    left_out = f", {verdict.count('not run')} not run" if verdict.count("not run") else ""
    lines.append(f"{suite.policy}: {verdict.count('passed')} of {run} vectors passed{left_out}")
    if len(suite.readings) > 1:
        says = next(reading.says for reading in suite.readings if reading.name == verdict.reading)
        lines.append(f"reading: {verdict.reading}. {says}")
    return Described(verdict.table, "\n".join(lines), status=0 if verdict.conforms else 1)


def _vectors(options):
    from misspenalty import conformance

    if options.out is not None:
        return _write(options)
    if options.policy is None:
        suites = [conformance.load_suite(policy) for policy in conformance.policies()]
        return pd.DataFrame(
            {
                "policy": suite.policy,
                "version": suite.version,
                "vectors": len(suite.vectors),
                "long": len(suite.long),
                "readings": ", ".join(reading.name for reading in suite.readings),
            }
            for suite in suites
        )
    suite = conformance.load_suite(options.policy)
    return pd.DataFrame(
        {
            "vector": vector.id,
            "capacity": vector.capacity,
            "parameters": ", ".join(f"{name}={value}" for name, value in vector.parameters.items()),
            "trace": " ".join(map(str, vector.trace)),
            "hits": vector.outcomes[0].hits,
            "tests": vector.tests,
        }
        for vector in suite.vectors
    )


def _write(options):
    """Copy the vectors of one or all policies into a new folder, with their schema and long traces."""
    from misspenalty import conformance
    from misspenalty.conformance.suite import folder

    refuse_existing(options.out)
    chosen = conformance.policies() if options.policy is None else [conformance.load_suite(options.policy).policy]
    names = [f"{policy}.json" for policy in chosen] + ["suite.schema.json"]
    names += sorted({vector.file for policy in chosen for vector in conformance.load_suite(policy).long})
    with atomic_path(options.out) as partial:
        partial.mkdir()
        for name in names:
            shutil.copyfile(folder() / name, partial / name)
    return {"folder": str(options.out), "files": len(names)}
