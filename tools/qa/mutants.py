"""Try deliberate faults one at a time, and report whether the tests nearest to each fault notice it.

`faults.py` makes the faults in the tokens of a source. They go into a copy of the installed package, which leaves the
tree and the environment unchanged. All faults of a source are compiled at once, each behind a switch (`switched.py`).
For all sources with the same tests, one process collects these tests and tries each fault in a fork of itself. A fault
that cannot be switched gets a copy and a process of its own. The tests run in this order: those that have found a fault
of the source, those named after the source, those in files that import it, and the others of the same folders. If tests
are named after a policy, only these are run for it. A fault survives if all tests pass. A test that also fails without
any fault is ignored.

    make mutants COUNT=100
    python tools/qa/mutants.py --count 20 --only 'replay/*' --csv faults.csv

Faults that are already in the table are not tried again, so a long run resumes where it was stopped.
"""

import argparse
import faulthandler
import fnmatch
import importlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Import these packages before the forks, which then need not import them again. Do not import the package under test
# here, because each fork imports its own copy.
import hypothesis
import matplotlib.figure  # noqa: F401
import pandas as pd
import pydantic  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
from faults import SOURCE, choose, installed_name, source_of
from switched import VARIABLE, Copy, put_switched

ROOT = Path(__file__).parents[2]
# The tests nearest to a source are those of the first pattern that matches its name. If no pattern matches, they are
# the tests in the folder that is named like the folder of the source.
NEAREST = {
    **dict.fromkeys(("policies/_track*", "policies/track*"), ("tests/policies/test_sarc.py", "tests/prefetch")),
    "policies/_limit.pyx": ("tests/project/test_benchmarks.py",),
    "policies/_policy.pyx": ("tests/policies", "tests/replay", "tests/project/test_kernels.py"),
    "policies/*": ("tests/policies", "tests/replay"),
    "traces/_stack.pyx": ("tests/replay", "tests/traces"),
    "traces/_distance.pyx": ("tests/traces", "studies/mq/tests/test_mq.py"),
    "traces/selection.py": ("tests/replay",),
    "traces/readers/*": ("tests/traces",),
    "traces/spool.py": ("tests/cli/test_pipes.py",),
    "traces/*": ("tests/traces", "tests/io"),
    "replay/characteristics.py": ("tests/replay/test_characteristics.py", "tests/characterize"),
    "replay/*": ("tests/replay", "tests/cli"),
    "io/plugins.py": ("tests/replay/test_python_policy.py", "tests/cli/test_new.py"),
    "io/*": ("tests/io", "tests/traces/test_traces.py"),
    "studies/common/claims/*": ("studies/common/tests/claims",),
    "studies/common/statistics.py": ("studies/common/tests/test_statistics.py",),
    "studies/common/points.py": ("studies/common/tests/test_statistics.py",),
    "studies/common/reporting/*": ("studies/common/tests/reporting",),
    **dict.fromkeys(
        ("studies/common/site/inputs.py", "studies/common/site/links.py"), ("studies/common/tests/site/test_inputs.py",)
    ),
    "studies/common/site/*": (
        "studies/common/tests/site/test_charts.py",
        "studies/common/tests/site/test_readings.py",
        "studies/common/tests/site/test_notebooks.py",
        "studies/common/tests/site/test_pages.py",
        "studies/common/tests/site/test_tracks.py",
    ),
    "disks/*": ("tests/disks", "tests/cli/test_disk_commands.py"),
    "latency/_*device*": ("tests/latency", "tests/project/test_kernels.py"),
}
EXAMPLES = "tests/project/test_docstrings.py"  # file that tests the examples in docstrings, one test per module
POLICIES = sorted(  # policies that have tests named after them
    path.stem[1:]
    for path in SOURCE.glob("policies/_*.pyx")
    if path.with_name(f"{path.stem[1:]}.py").exists() and "track" not in path.stem
)
CALLED = {"lruk": "lru2", "twoq": "2q", "random_replacement": "random", "oracle_general": "oracleGeneral"}
DEFAULT = (
    *("policies/*", "prefetch/*", "disks/*", "replay/*", "traces/*.py", "traces/*.pyx", "traces/readers/*"),
    *(
        "io/*.py",
        "latency/*",
        "studies/common/claims/*.py",
        "studies/common/reporting/*",
        "studies/common/statistics.py",
    ),
    *(f"studies/common/site/{name}.py" for name in ("charts", "inputs", "links", "pages", "readings")),  # except play/
    *("studies/common/points.py", "studies/hac/prices.py", "studies/hac/seeds.py", "studies/mq/rates.py"),
)
# A test also notices a fault if it takes too long: more than LEAST seconds of CPU time and more than LONGER times its
# time without a fault or, if that time is not known yet, more than UNKNOWN seconds. After SECONDS of elapsed time, the
# whole process is killed.
LONGER, LEAST, UNKNOWN, SECONDS = 5, 4, 12, 900
SLOW = 1  # seconds of CPU time above which a test runs last
KEPT = 5  # number of tests per source that run first, because they found its latest faults
COLUMNS = ("source", "line", "column", "kind", "before", "after", "text", "verdict", "by", "seconds")


class Plugin:
    """A pytest plugin that passes the collected tests to a function instead of running them."""

    def __init__(self, then):
        self.then = then

    def pytest_sessionstart(self):
        """Stop Hypothesis from shrinking failing examples, because any of them shows that the fault is found."""
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        parent = hypothesis.settings.get_profile("untimed")
        hypothesis.settings.register_profile("mutants", parent, phases=phases, database=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtestloop(self, session):
        """Call the function in place of pytest's loop over the tests, unless their collection failed."""
        if not session.testsfailed:
            self.then(session.items)
        return True


class Reports:
    """A pytest plugin that remembers the first test that fails."""

    failed = None

    def pytest_runtest_logreport(self, report):
        """Keep the name of the first test that fails."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid


def run_items(items, known):
    """Run collected tests until one fails, then end this process.

    The file ``note`` gets each test's name before the test runs and its CPU time afterwards: if this process crashes,
    its parent reads in this file which test was running.

    Parameters
    ----------
    items : list of pytest.Item
    known : dict of str to float
        CPU time that each test takes without a fault.
    """
    reports = Reports()
    if items:
        items[0].config.pluginmanager.register(reports)
    with open(Path(os.environ["TMPDIR"], "note"), "w", buffering=1) as note:
        for item, following in itertools.zip_longest(items, items[1:]):
            note.write(f"{item.nodeid}\n")
            limit = max(LONGER * known[item.nodeid], LEAST) if item.nodeid in known else UNKNOWN
            signal.setitimer(signal.ITIMER_PROF, limit)  # the timer's signal ends the process even inside a kernel
            begun = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if reports.failed:
                os._exit(1)
            note.write(f"\t{time.process_time() - begun:.3f}\n")
    os._exit(0)


def in_fork(folder, function, *arguments):
    """Run a function in a forked process with its own temporary folder; the function must end that process.

    Returns
    -------
    str or None
        The test that failed or that was running when the process crashed; "collection" if none had started; None if
        all passed.
    dict of str to float
        CPU time of each test that passed.
    """
    folder = Path(tempfile.mkdtemp(dir=folder))
    if not (child := os.fork()):
        try:
            os.setpgrp()  # so that `waited_for` can kill all processes that the tests start
            faulthandler.disable()  # print no traceback of a crash, which is one way to notice a fault
            with open(folder / "output", "w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
            os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
            os.chdir(ROOT)
            function(*arguments)
        except BaseException:
            traceback.print_exc()
        os._exit(2)
    status = waited_for(child)
    lines = (folder / "note").read_text().splitlines() if (folder / "note").exists() else []
    passed = {test: float(spent) for test, spent in itertools.pairwise(lines) if spent.startswith("\t")}
    shutil.rmtree(folder, ignore_errors=True)
    return (next((line for line in lines[::-1] if line[0] != "\t"), "collection") if status else None), passed


def waited_for(child):
    """Return the exit status of a child process; after `SECONDS`, kill it and its own children."""
    end, step = time.monotonic() + SECONDS, 0.002
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(step)
        step = min(1.5 * step, 0.1)


def collect(folder, files, then):
    """Collect tests in this process, with the package imported from a copy, and pass them to the function `then`."""
    sys.path.insert(0, str(folder))
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    sys.dont_write_bytecode = True
    fixed = [
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "--capture=sys",
        "--hypothesis-seed=0",
        "--rootdir",
        str(ROOT),
    ]
    fixed += ["-c", str(ROOT / "pyproject.toml"), "-W", "ignore:Module already imported"]
    return pytest.main([*fixed, *(str(ROOT / file) for file in files)], plugins=[Plugin(then)])


def nearest(path):
    """Return the test files nearest to a source and the one for docstring examples, and which of these import it."""
    first, second, *_ = (*path.split("/"), "")
    own = f"studies/{second}/tests" if first == "studies" else f"tests/{first}"
    own = own if (ROOT / own).is_dir() else "tests"
    folders = next((tests for pattern, tests in NEAREST.items() if fnmatch.fnmatch(path, pattern)), (own,))
    files = [file for name in folders for file in tests_in(ROOT / name)]
    files = list(dict.fromkeys([*files, ROOT / EXAMPLES]))
    imports = re.compile(rf"(?m)^ *(from|import) .*\b_?{name_of(path)}\b")
    importing = [str(file.relative_to(ROOT)) for file in files if imports.search(file.read_text())]
    return [str(file.relative_to(ROOT)) for file in files], importing


def tests_in(place):
    """Return a test file itself, or the test files in a folder or, if it has none, in its subfolders."""
    return sorted(place.glob("test_*.py")) or sorted(place.rglob("test_*.py")) or [place]


def in_order(items, path, first, broken, known, far=False):
    """Return the tests for a fault in the order in which they run, without those in `broken`.

    Tests in `first` come first, then those named after the source, then those in files that import it; slow ones come
    last. If tests are named after a policy, only these are returned for it. If `far`, return the other tests of the
    nearest folders.
    """
    name = name_of(path)
    called = (name, CALLED.get(name, name).lower())
    files, importing = nearest(path)
    bear, others, rest = [], [], []
    for item in items:
        file = item.nodeid.partition("::")[0]
        others_example = file == EXAMPLES and not item.nodeid.endswith(f"[{module_of(path)}]")
        if item.nodeid in broken or file not in files or others_example:
            continue
        if any(word in item.nodeid.lower() for word in called):
            bear.append(item)
        elif not importing or file in (*importing, EXAMPLES):
            others.append(item)
        else:
            rest.append(item)
    chosen = bear + others
    if bear and of_policy(path):
        chosen, rest = bear, []
    if far:
        chosen = rest
    rank = {test: place for place, test in enumerate(first)}
    return sorted(chosen, key=lambda item: (rank.get(item.nodeid, KEPT), known.get(item.nodeid, 0) > SLOW))


def name_of(path):
    """Return the name of a source without the underscore of a kernel; for ``__init__.py``, the name of its package."""
    path = Path(path)
    return (path.parent.name if path.stem == "__init__" else path.stem).lstrip("_")


def of_policy(path):
    """Tell whether a source is a policy with tests named after it, and not a reader of the same name."""
    return path.startswith("policies/") and name_of(path) in POLICIES


def module_of(path):
    """Return the name of the module of a source."""
    return installed_name(path).rpartition(".")[0].removesuffix("/__init__").replace("/", ".")


class Trial:
    """A trial of the faults of all sources that share tests, in forks of a process that has collected these tests."""

    def __init__(self, folder, faults, inside, keep, jobs):
        self.folder, self.faults, self.inside, self.keep, self.jobs = folder, faults, inside, keep, jobs
        self.known, self.good, self.broken, self.killers = {}, set(), set(), defaultdict(list)
        self.base = Copy(folder / "switched")

    def put_in(self):
        """Compile the faults that can be switched on, and store their numbers; return the test files to collect."""
        by_source = defaultdict(dict)
        for number, fault in self.faults.items():
            by_source[fault.path][number] = fault
        with ThreadPoolExecutor(self.jobs) as pool:
            done = pool.map(lambda name: put_switched(self.base, name, by_source[name]), by_source)
            self.inside = {number for numbers in done for number in numbers}
        files = {file: None for name in by_source for file in nearest(name)[0]}
        return list(files)

    def with_items(self, items):
        """Try every fault; the plugin calls this when pytest has collected the tests."""
        self.items = items
        for path in {self.faults[number].path for number in self.inside}:
            module = importlib.import_module(module_of(path))
            if not hasattr(module, "_switch_"):
                raise RuntimeError(
                    f"{module.__file__} is imported instead of the copy: install the package by `make build`"
                )
        order = sorted(self.faults, key=lambda number: (number not in self.inside, number))
        waiting, running = order[::-1], {}
        while waiting or running:
            while waiting and len(running) < self.jobs:
                number = waiting.pop()
                found = self.folder / f"{number}.json"
                if not (child := os.fork()):
                    try:
                        result = self.examine(number)
                    except BaseException:
                        result = {"error": traceback.format_exc()}
                    found.write_text(json.dumps(result))
                    os._exit(0)
                running[child] = found
            child, _ = os.wait()
            self.learn(json.loads(running.pop(child).read_text()))

    def learn(self, found):
        """Store what `examine` returned: the row, good and broken tests, CPU times, and which test found the fault."""
        if "error" in found:
            raise RuntimeError(f"trying a fault raised an error:\n{found['error']}")
        self.good.update(found["good"])
        self.broken.update(found["broken"])
        for test, spent in found["passed"].items():
            self.known[test] = max(spent, self.known.get(test, 0))
        row = found["row"]
        if row["verdict"] == "killed":
            killers = self.killers[row["source"]]
            killers[:] = [row["by"], *(test for test in killers if test != row["by"])][:KEPT]
        self.keep(row)

    def examine(self, number):
        """Try a fault; return its row, the test that finds it (``good``), the tests that fail without it (``broken``),
        and the CPU times of the tests that passed."""
        fault, begun = self.faults[number], time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = {"good": [], "broken": [], "passed": {}}
        stages = [(self.run_alone, False), (self.run_alone, True)]
        if number in self.inside:  # the second stage finds faults in code that runs only at import
            stages = [(self.run_switched, False), (self.run_alone, False), (self.run_switched, True)]
        by = None
        while stages:
            run, far = stages[0]
            by, passed = run(number, far)
            found["passed"] |= passed
            if by is None:
                del stages[0]
                continue
            if by in ("invalid", "collection") or by in self.good:
                break
            failed, passed = self.without(by)
            found["passed"] |= passed
            if not failed and by not in self.known and LONGER * passed[by] > UNKNOWN:
                self.known[by] = passed[by]  # it may only be slow: run it again with its own time limit
                continue
            if not failed:
                break
            self.broken.add(by)  # the test also fails without a fault
            found["broken"].append(by)
        if by not in (None, "invalid"):
            found["good"].append(by)
        verdict = {None: "survived", "invalid": "invalid"}.get(by, "killed")
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        row = described(fault) | {"verdict": verdict, "by": by if verdict == "killed" else ""}
        return found | {"row": row | {"seconds": round(max(spent, 0), 1), "wall": time.monotonic() - begun}}

    def without(self, test):
        """Run a test without any fault, and return the result of `in_fork`."""
        alone = [item for item in self.items if item.nodeid == test]
        return in_fork(self.folder, run_items, alone, {})

    def run_switched(self, number, far):
        """Switch a fault on in a fork; return the test that finds it, and the CPU time of each that passes."""
        return in_fork(self.folder, self._switched, number, far)

    def _switched(self, number, far):
        fault = self.faults[number]
        os.environ[VARIABLE] = str(number)
        importlib.import_module(module_of(fault.path))._switch_(number)
        first = self.killers[fault.path]
        run_items(in_order(self.items, fault.path, first, self.broken, self.known, far), self.known)

    def run_alone(self, number, far):
        """Try a fault in a copy of its own; return the test that finds it, and the CPU time of each that passes."""
        fault = self.faults[number]
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            copy, lines = Copy(folder / "alone", self.base), source_of(fault.path).read_text().splitlines(keepends=True)
            if copy.put(fault.path, fault.text(lines)):
                return "invalid", {}
            known = {"known": self.known, "first": self.killers[fault.path], "broken": sorted(self.broken)}
            known |= {"path": fault.path, "folder": str(copy.folder), "far": far}
            return in_fork(self.folder, self._alone, known)
        finally:
            shutil.rmtree(folder)

    def _alone(self, known):
        """Start a new interpreter, because this one has imported the package."""
        path = Path(os.environ["TMPDIR"], "known.json")
        path.write_text(json.dumps(known))
        os.execv(sys.executable, [sys.executable, __file__, "--alone", str(path)])


def run_alone(path):
    """Run tests in this process on a copy with one fault; the file at `path` names the copy and the known tests."""
    known = json.loads(Path(path).read_text())
    files, importing = nearest(known["path"])
    name = name_of(known["path"])
    near = [file for file in files if file in (*importing, EXAMPLES) or name in file or of_policy(known["path"])]
    wanted = near if importing and not known["far"] else files

    def run(items):
        order = in_order(items, known["path"], known["first"], known["broken"], known["known"], known["far"])
        run_items(order, known["known"])

    return collect(known["folder"], wanted, run) or 1  # `collect` returns only if tests cannot be collected


def described(fault):
    """Return the columns of a row that describe a fault."""
    lines = source_of(fault.path).read_text().splitlines(keepends=True)
    before, after = fault.before(lines), fault.after
    kind = "number" if after.isdigit() else "operator"
    kind = "left out" if after == "pass" else "turned round" if after.startswith("if not (") else kind
    place = {"source": fault.path, "line": fault.line, "column": fault.begin, "kind": kind}
    return place | {"before": before, "after": after, "text": lines[fault.line - 1].strip()}


def key(row):
    """Return the values of a row that identify its fault."""
    return tuple(str(row[name]) for name in ("source", "line", "column", "kind", "after"))


def try_all(faults, jobs, keep):
    """Try faults in groups whose sources have the same tests, and pass each row to `keep`."""
    groups = defaultdict(dict)
    for number, fault in enumerate(faults, 1):
        groups[tuple(nearest(fault.path)[0])][number] = fault
    for group in groups.values():
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            if not (child := os.fork()):
                status = 1
                try:
                    trial = Trial(Path(folder), group, set(), keep, jobs)
                    files = trial.put_in()
                    status = int(collect(trial.base.folder, files, trial.with_items))
                except BaseException:
                    traceback.print_exc()
                os._exit(status)
            if os.waitpid(child, 0)[1]:
                raise RuntimeError(
                    f"the trial of faults in {next(iter(group.values())).path} failed; its messages are above"
                )


def read_table(path):
    """Return the rows of an earlier run, or none if there is no table."""
    return pd.read_csv(path, keep_default_na=False).to_dict("records") if path and path.exists() else []


def main():
    """Write the table; exit with status 1 if a smaller share of the faults than `--least` is killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of faults tried at the same time")
    parser.add_argument(
        "--only", nargs="+", default=DEFAULT, metavar="PATTERN", help="sources, below src/misspenalty, or studies/…"
    )
    parser.add_argument(
        "--least", type=float, default=95, help="smallest share of faults that must be killed, in percent"
    )
    parser.add_argument("--csv", type=Path, help="add rows to this file; faults already in it are not tried again")
    parser.add_argument("--again", action="store_true", help="retry the faults that survived")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        table = options.csv or Path(folder, "faults.csv")
        table.parent.mkdir(parents=True, exist_ok=True)
        rows = [row for row in read_table(table) if not (options.again and row["verdict"] == "survived")]
        pd.DataFrame(rows, columns=COLUMNS).to_csv(table, index=False)
        tried = {key(row) for row in rows}
        sample = choose(options.only, options.count, options.seed)

        def keep(row):
            print("{verdict:8} {seconds:6} s  {source}:{line}  {before} -> {after}  {by}".format(**row), flush=True)
            pd.DataFrame([row], columns=COLUMNS).to_csv(table, mode="a", header=False, index=False)

        try_all([fault for fault in sample if key(described(fault)) not in tried], options.jobs, keep)
        count = Counter(row["verdict"] for row in read_table(table))
    valid = count["killed"] + count["survived"]
    share = 100 * count["killed"] / max(valid, 1)
    print(f"{valid} faults: {count['killed']} killed ({share:.1f} %), {count['survived']} survived")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(run_alone(sys.argv[2]) if sys.argv[1:2] == ["--alone"] else main())
