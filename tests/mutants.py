"""Deliberate faults, one at a time, and whether the tests nearest to them notice.

Faults are made in the tokens of a source: a comparison or an operator exchanged, a number off by one, a condition
turned round, a statement left out. They go into a copy of the installed package, so neither the tree nor the
environment changes; a kernel is compiled alone. Tests run in a fork of a process that has imported what they import:
first those that bear the module's name, then those of files that import it. A fault that all let pass survives.

    make mutants COUNT=100
    python tests/mutants.py --count 20 --only 'replay/*' --csv survivors.csv
"""

import argparse
import fnmatch
import functools
import importlib.util
import io
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tokenize
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# Imported before the forks, so that a run of the tests does not import them again; the package itself never is.
import hypothesis
import matplotlib.figure  # noqa: F401
import numpy as np
import pandas as pd
import pydantic  # noqa: F401
import pytest
import scipy.stats  # noqa: F401

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "misspenalty"
# Of a source, the first pattern that it fits: the tests that are nearest to it.
NEAREST = {
    **dict.fromkeys(("policies/_track*", "policies/track*"), ("tests/policies/test_sarc.py", "tests/prefetch")),
    "policies/*": ("tests/policies", "tests/replay"),
    "prefetch/*": ("tests/prefetch",),
    "traces/_stack.pyx": ("tests/replay", "tests/traces"),
    "traces/_distance.pyx": ("tests/traces", "tests/studies/test_study_mq.py"),
    "traces/selection.py": ("tests/replay",),
    "traces/readers/*": ("tests/traces",),
    "traces/*": ("tests/traces", "tests/io"),
    "replay/*": ("tests/replay", "tests/cli"),
    "io/*": ("tests/io", "tests/traces/test_traces.py"),
    "claims/*": ("tests/claims",),
    "reporting/*": ("tests/reporting", "tests/project/test_workflow.py"),
    "disks/*": ("tests/disks",),
    "latency/*": ("tests/latency",),
    "objects/*": ("tests/objects",),
    "systems/*": ("tests/systems",),
}
POLICIES = sorted(  # whose tests bear their names
    path.stem[1:]
    for path in SOURCE.glob("policies/_*.pyx")
    if path.with_name(f"{path.stem[1:]}.py").exists() and "track" not in path.stem
)
CALLED = {"lruk": "lru2", "twoq": "2q", "random_replacement": "random", "oracle_general": "oracleGeneral"}
DEFAULT = (
    *("policies/*", "replay/*", "traces/*.py", "traces/*.pyx", "traces/readers/*", "claims/*.py", "io/*.py"),
    "reporting/provenance.py",
)
EXCHANGED = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"+": "-", "-": "+", "+=": "-=", "-=": "+=", "*": "+", "//": "*", "%": "+", "&": "|", "|": "&"},
    **{"<<": ">>", ">>": "<<", "and": "or", "or": "and", "True": "False", "False": "True", "min": "max", "max": "min"},
    **{"break": "continue", "not": "", "is": "is not"},
}
# Lines that hold no behaviour of their own, or only the words of an error.
LEFT_OUT = ("import ", "from ", "cimport ", "@", "class ", "def ", "cdef class", "cdef enum", "raise ", "ctypedef ")
DECLARED = ("cdef ", "cpdef ", "const ")
# After which a fault counts as noticed: a test runs, or all wait, for ever.
CPU_SECONDS, SECONDS = 30, 3600
NONE = "no test"
DIRECTIVES = (
    "boundscheck=False,wraparound=False,initializedcheck=False,nonecheck=False,cdivision=True,auto_pickle=False"
)


@dataclass(frozen=True)
class Mutant:
    """A fault: characters `begin` to `end` of a line of a source, and what is put there instead."""

    path: str
    line: int
    begin: int
    end: int
    after: str

    def before(self, lines):
        """What the line held."""
        return lines[self.line - 1][self.begin : self.end]

    def text(self, lines):
        """The whole source with the fault."""
        changed = lines[self.line - 1]
        changed = changed[: self.begin] + self.after + changed[self.end :]
        return "".join([*lines[: self.line - 1], changed, *lines[self.line :]])


def tokens(text):
    """Tokens of Python or Cython; what cannot be read ends them."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return


def mutants_of(path, text):
    """Every fault that can be made in a source.

    >>> [(m.line, m.after) for m in mutants_of("a.py", "def f(a):\\n    return a < 1\\n")]
    [(2, '<='), (2, '2')]
    """
    lines, found = text.splitlines(keepends=True), []
    before = ""
    for token in tokens(text):
        row, begin = token.start
        if row > len(lines):
            break
        line = lines[row - 1].strip()
        declared = line.startswith(DECLARED) and "=" not in line[: max(begin, 0)]
        if not line.startswith(LEFT_OUT) and not declared and token.start[0] == token.end[0]:
            after = exchanged(token, before, lines[row - 1][token.end[1] :])
            if after is not None:
                found.append(Mutant(path, row, begin, token.end[1], after))
        before = token.string
    return found + left_out(path, lines)


def exchanged(token, before, rest):
    """What a token becomes, or None. A sign, a cast and the stars of a call or a pointer are no operators."""
    if token.type == tokenize.NUMBER and token.string.isdigit():
        return str(int(token.string) + 1)
    if token.type not in (tokenize.OP, tokenize.NAME) or token.string not in EXCHANGED:
        return None
    unary = before in ("(", ",", "[", "=", "", "\n", "return", ":") or before in EXCHANGED
    if token.type == tokenize.OP and (unary or not rest.startswith(" ")):  # `<type>x`, `-1`, `*args`
        return None
    return EXCHANGED[token.string]


def left_out(path, lines):
    """Simple statements taken away, and conditions turned round."""
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        begin = len(line) - len(line.lstrip())
        if text.startswith("if ") and text.endswith(":"):
            found.append(Mutant(path, number, begin, begin + len(text), f"if not ({text[3:-1]}):"))
        elif is_statement(text) and all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}")):
            found.append(Mutant(path, number, begin, begin + len(text), "pass"))
    return found


def is_statement(text):
    """Whether a line is an assignment to something that exists already, or a call."""
    head = text.split("(")[0].split(" ")[0]
    call = text.endswith(")") and head.replace(".", "").replace("_", "").isalnum() and "(" in text and " = " not in text
    known = any(sign in text for sign in (" += ", " -= ")) or (" = " in text and ("." in head or "[" in head))
    return (call or known) and not text.startswith(
        (*LEFT_OUT, *DECLARED, "return", "if ", "for ", "while ", "with ", ">>>")
    )


def choose(patterns, count, seed):
    """A sample of the faults in sources that fit a pattern: of each source about alike, whatever its length."""
    generator, by_source = random.Random(seed), []
    for path in sorted(p for p in SOURCE.rglob("*") if p.suffix in (".py", ".pyx")):
        name = path.relative_to(SOURCE).as_posix()
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            text = path.read_text()
            words = prose(text)
            found = [mutant for mutant in mutants_of(name, text) if mutant.line not in words]
            by_source.append(generator.sample(found, len(found)))
    generator.shuffle(by_source)
    rounds = max(map(len, by_source), default=0)
    return [found[turn] for turn in range(rounds) for found in by_source if turn < len(found)][:count]


def prose(text):
    """Lines within strings of several lines."""
    strings = (token for token in tokens(text) if token.type == tokenize.STRING and token.start[0] != token.end[0])
    return {line for token in strings for line in range(token.start[0], token.end[0] + 1)}


class Plugin:
    """Of pytest: notes the first failure in a file, and ends a test that runs for ever."""

    def __init__(self, path):
        self.path = path

    def pytest_sessionstart(self):
        """A fault is found as well by an example that is not the smallest."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        parent = hypothesis.settings.get_profile("untimed")
        hypothesis.settings.register_profile("mutants", parent, phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logstart(self, nodeid):
        """The test under way, for one that does not come back."""
        self.path.write_text(nodeid)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # its signal ends the process, in a kernel too

    def pytest_runtest_logreport(self, report):
        """The test that failed."""
        if report.failed:
            self.path.write_text(report.nodeid)

    def pytest_collectreport(self, report):
        """A file of tests that could not be imported."""
        if report.failed:
            self.path.write_text(report.nodeid)


class Copy:
    """The installed package in a folder of its own, for one fault after another."""

    def __init__(self, folder):
        self.folder = Path(folder)
        installed = Path(importlib.util.find_spec("misspenalty").origin).parent
        shutil.copytree(installed, self.folder / "misspenalty", ignore=shutil.ignore_patterns("__pycache__"))

    def apply(self, mutant):
        """Put the fault in; False if it does not compile. `restore` takes it out."""
        path = self.folder / "misspenalty" / mutant.path
        text = mutant.text(path.read_text().splitlines(keepends=True))
        self.kept = {path: path.read_bytes()}
        if path.suffix == ".py":
            try:
                compile(text, path.name, "exec")
            except SyntaxError:
                return False
            path.write_text(text)
            return True
        library = path.with_name(path.stem + sysconfig.get_config_var("EXT_SUFFIX"))
        self.kept[library] = library.read_bytes()
        path.write_text(text)
        return self._compile(path, library)

    def _compile(self, path, library):
        c = path.with_suffix(".c")
        cython = [sys.executable, "-m", "cython", "-3", "--shared=misspenalty._cyutility", "-X", DIRECTIVES]
        headers = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
        gcc = [*(os.environ.get("CC") or "cc").split(), "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", *headers]
        library.unlink()  # never written in place: a process may have it mapped
        steps = ([*cython, "-I", str(self.folder), "-o", str(c), str(path)], [*gcc, "-o", str(library), str(c), "-lm"])
        done = all(subprocess.run(step, cwd=self.folder, capture_output=True).returncode == 0 for step in steps)
        c.unlink(missing_ok=True)
        return done

    def restore(self):
        """Take the fault out again."""
        for path, content in self.kept.items():
            path.unlink(missing_ok=True)
            path.write_bytes(content)

    def killed_by(self, path):
        """The first test that fails, or None: of those that bear the module's name, then of files that import it.

        Tests of a policy all bear its name.
        """
        name = Path(path).stem.lstrip("_")
        files, importing = nearest(path)
        failed = self._run([*files, "-k", f"{name} or {CALLED.get(name, name)}"])
        if failed in (None, NONE) and (failed == NONE or name not in POLICIES):
            failed = self._run([*(importing or files), "-k", f"not {name}"])
        return None if failed == NONE else failed

    def _run(self, arguments):
        """The first test that fails, or None, in a fork of this process."""
        note = self.folder / "failed.txt"
        note.unlink(missing_ok=True)
        if not (child := os.fork()):
            try:
                status = self._tests(arguments, Plugin(note))
            except BaseException:
                traceback.print_exc()
                status = 1
            os._exit(status)
        status = waited_for(child)
        if status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return NONE if status else None
        return note.read_text() if note.exists() else f"exit status {status}"

    def _tests(self, arguments, plugin):
        """Run tests on this copy; their exit status."""
        os.setpgrp()  # so that what the tests start can be ended with them
        with open(self.folder / "tests.log", "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.chdir(ROOT)
        sys.path.insert(0, str(self.folder))
        os.environ |= {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(self.folder / "hypothesis")
        fixed = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        fixed += ["-W", "ignore:Module already imported"]
        return int(pytest.main([*fixed, *arguments], plugins=[plugin]))


def waited_for(child):
    """Exit status of a child, which is ended with its own children after a time."""
    end = time.monotonic() + SECONDS
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)


def nearest(path):
    """Files of tests in the folders nearest to a source, and those of them that import its module."""
    folders = next((tests for pattern, tests in NEAREST.items() if fnmatch.fnmatch(path, pattern)), ("tests",))
    files = [file for name in folders for file in (sorted((ROOT / name).glob("test_*.py")) or [ROOT / name])]
    imports = re.compile(rf"(?m)^ *(from|import) .*\b_?{Path(path).stem.lstrip('_')}\b")
    importing = [str(file.relative_to(ROOT)) for file in files if imports.search(file.read_text())]
    return [str(file.relative_to(ROOT)) for file in files], importing


@functools.cache
def copy_of_this_process():
    """The copy of the package that this process changes."""
    folder = Path(tempfile.gettempdir(), f"worker-{os.getpid()}")
    folder.mkdir()
    return Copy(folder)


def examine(mutant):
    """A row of the table."""
    begun, copy = time.monotonic(), copy_of_this_process()
    lines = (SOURCE / mutant.path).read_text().splitlines(keepends=True)
    row = {"source": mutant.path, "line": mutant.line, "before": mutant.before(lines), "after": mutant.after}
    row["text"] = lines[mutant.line - 1].strip()
    try:
        compiled = copy.apply(mutant)
        by = copy.killed_by(mutant.path) if compiled else ""
    finally:
        copy.restore()
    row |= {"verdict": "invalid" if not compiled else "killed" if by else "survived", "by": by or ""}
    return row | {"seconds": round(time.monotonic() - begun, 1)}


def examine_all(mutants, jobs):
    """Rows of all faults, as they come to their end."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tempfile.tempdir = folder
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            yield from pool.imap_unordered(examine, mutants)
    tempfile.tempdir = None


def main():
    """The table; exit status 1 where fewer than asked for are killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--skip", type=int, default=0, help="leave out the first faults of the sample, to go on with it"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="faults at a time")
    parser.add_argument("--only", nargs="+", default=DEFAULT, metavar="PATTERN", help="sources, below src/misspenalty")
    parser.add_argument("--least", type=float, default=95, help="share that has to be killed, percent")
    parser.add_argument("--csv", type=Path, help="where the table goes; it is written after each fault")
    options = parser.parse_args()
    rows = []
    sample = choose(options.only, options.skip + options.count, options.seed)[options.skip :]
    for row in examine_all(sample, options.jobs):
        rows.append(row)
        print("{verdict:8} {seconds:6} s  {source}:{line}  {before} -> {after}  {by}".format(**row), flush=True)
        if options.csv:
            options.csv.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame(rows).sort_values(["source", "line"]).to_csv(options.csv, index=False)
    count = Counter(row["verdict"] for row in rows)
    valid = count["killed"] + count["survived"]
    share = 100 * count["killed"] / max(valid, 1)
    print(f"{valid} faults: {count['killed']} killed ({share:.1f} %), {count['survived']} survived")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
