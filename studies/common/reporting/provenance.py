"""Record the provenance of results: digests of sources and files, versions, times."""

import csv
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import re
import subprocess
from pathlib import Path

from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import atomic_path

# meson.build is left out: it is not installed, and a wheel must have the same digest as its checkout
SOURCES = {".py", ".pyx", ".pxd", ".h", ".yaml"}
PACKAGES = (
    "misspenalty", "numpy", "pandas", "pyarrow", "scipy", "matplotlib", "pyyaml", "jsonschema", "cython", "meson",
    "meson-python", "snakemake", "jupytext", "typst",
)  # fmt: skip


def running_folders():
    """Return the folder of each running package, by its name."""
    return {name: Path(importlib.util.find_spec(name).origin).parent for name in ("misspenalty", "misspenalty_studies")}


def checkout_folders(root):
    """Return the folder of each package in a checkout, by its name."""
    return {"misspenalty": Path(root) / "src" / "misspenalty", "misspenalty_studies": Path(root) / "studies"}


class Sources:
    """The sources of the library and the studies, with the files that a function depends on, and their digest.

    A function depends on its module and on every module of these packages that its module imports, directly or
    indirectly, including compiled ones. A module that imports by a computed name (a registry) depends on everything in
    its folder. The library's YAML files, which describe formats, are sources of the package in whose folder they are.
    Tests are ignored.

    Parameters
    ----------
    folders : dict of str to path-like, optional
        Package -> its folder; by default the folders of the running packages. `checkout_folders` returns the folders in
        a checkout.

    Examples
    --------
    >>> sources = Sources()
    >>> names = {path.name for path in sources.files("misspenalty_studies.mq.tables.bounds")}
    >>> "tables.py" in names, "figures.py" in names
    (True, False)
    """

    def __init__(self, folders=None):
        self._folders = {name: Path(folder) for name, folder in (folders or running_folders()).items()}
        self._paths, self._digests, texts = {}, {}, {}
        for package, folder in self._folders.items():
            for path in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES and p.is_file()):
                parts = (package, *path.relative_to(folder).with_suffix("").parts)
                if "tests" in parts or (path.suffix == ".yaml" and not self._describes(package, path)):
                    continue
                name = ".".join(parts[:-1] if parts[-1] == "__init__" or path.suffix == ".yaml" else parts)
                relative = f"{package}/{path.relative_to(folder).as_posix()}"
                texts[relative] = text = path.read_bytes()
                self._paths.setdefault(name, []).append(relative)
                self._digests[relative] = hashlib.sha256(text).hexdigest()
        self._imports = {
            name: {one for path in paths for one in self._imported(name, path, texts[path])}
            for name, paths in self._paths.items()
        }

    @staticmethod
    def _describes(package, path):
        """Tell whether a YAML file describes a format.

        Rules name all other YAML files as inputs: those of the studies, and the descriptions of drives, which a wheel
        keeps in a separate folder.
        """
        return package == "misspenalty" and (path.parent / "__init__.py").is_file()

    def path_of(self, module):
        """Return the path of the main source of a module.

        >>> Sources().path_of("misspenalty.io").parts[-3:]
        ('misspenalty', 'io', '__init__.py')

        Raises
        ------
        KeyError
            There is no such module.
        """
        return self._path(self._paths[module][0])

    def _path(self, relative):
        package, _, name = relative.partition("/")
        return self._folders[package] / name

    def _imported(self, name, path, text):
        """Yield the modules that a source imports."""
        for package, names, module in _IMPORTS.findall(text):
            for one in _NAMES.findall(names.decode()):
                within = f"{package.decode()}.{one}"
                yield from {within if within in self._paths else package.decode()} & self._paths.keys()
            yield from {module.decode()} & self._paths.keys()
        if _COMPUTED.search(text):
            folder = name if "/__init__." in path else name.rpartition(".")[0]
            yield from (one for one in self._paths if one.startswith(f"{folder}."))

    def _relative(self, names):
        """Return the paths of the sources that the named functions or modules depend on; without names, return the
        paths of all sources."""
        waiting, seen = [], set()
        for name in names:
            module = name if name in self._paths else name.rpartition(".")[0]
            if module not in self._paths:
                raise ParameterError(f"{' and '.join(self._folders)} have no function or module {name!r}")
            waiting.append(module)
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += self._imports[module]
        return sorted(path for module in (seen if names else self._paths) for path in self._paths[module])

    def files(self, *names):
        """Return the sources that functions or modules depend on.

        Parameters
        ----------
        *names : str
            Dotted names of functions (``misspenalty_studies.mq.tables.bounds``), modules or packages; without a name,
            all sources are returned.

        Returns
        -------
        list of Path
            Sorted.

        Raises
        ------
        ParameterError
            A name does not belong to a module of the packages.
        """
        return [self._path(relative) for relative in self._relative(names)]

    def digest(self, *names):
        """Return the sha256 of the relative paths and contents of the sources that functions or modules depend on.

        A Snakemake rule that has the digest as a parameter runs again if a source that it depends on was edited.
        Parameters and errors are the same as for `files`.
        """
        lines = (f"{path}\0{self._digests[path]}\0" for path in self._relative(names))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+(misspenalty[\w.]*)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n#]+)"
    rb"|c?import[ \t]+(misspenalty[\w.]*))",
    re.MULTILINE,
)
_NAMES = re.compile(r"(\w+)(?:\s+as\s+\w+)?")
_SPENT = re.compile(r"([\d.]+) s of CPU time, (\d+) MB of memory")
_COMPUTED = re.compile(rb"import_module\(f[\"']")


def file_digest(path):
    """Return the sha256 of a file, read in pieces."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def describe_files(paths, root="."):
    """Return the digest and size of each file, by path relative to `root`; a folder stands for all files below it.

    Raises
    ------
    InputError
        A path does not exist.
    """
    described = {}
    for path in map(Path, paths):
        full = Path(root) / path
        if not full.exists():
            raise InputError("no such file", path=path, remedy="run the workflow that makes it first")
        for file in sorted(full.rglob("*")) if full.is_dir() else [full]:
            if file.is_file():
                name = Path(os.path.relpath(file, root)).as_posix()
                described[name] = {"bytes": file.stat().st_size, "sha256": file_digest(file)}
    return described


def read_benchmark(path):
    """Read wall time, CPU time and peak memory of one job from Snakemake's benchmark file and from the job's log.

    The last line of the log (`misspenalty_studies.common.reporting.jobs.spent`) is preferred, because it is exact;
    Snakemake only samples.

    Returns
    -------
    dict
        ``wall_s`` and ``cpu_s`` (sums, if the job was repeated) and ``peak_rss_mb`` (the maximum). Each is None if
        there is no value for it: the file has ``NA`` or ``-`` for a job too short to be sampled, and no line for a
        killed job.
    """
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as stream:
            lines = list(csv.DictReader(stream, delimiter="\t", restval=""))
    except (OSError, csv.Error):
        lines = []
    walls, cpus, peaks = (
        [x for line in lines if (x := _amount(line.get(c))) is not None] for c in ("s", "cpu_time", "max_rss")
    )
    wall, cpu = (sum(times) if times else None for times in (walls, cpus))
    found = {"wall_s": wall, "cpu_s": cpu, "peak_rss_mb": max(peaks, default=None)}
    return found | _spent(_log_of(path)) if lines else found


def _log_of(path):
    """Return the path of the log that belongs to a benchmark file: it has the same name in the folder ``logs`` next to
    ``benchmarks``."""
    folder, _, name = Path(path).as_posix().rpartition("benchmarks/")
    return Path(f"{folder}logs/{name}").with_suffix(".log")


def _spent(log):
    """Read a job's CPU time and peak memory from the last line of its log; return an empty dict if it lacks them."""
    try:
        with open(log, "rb") as stream:
            stream.seek(max(os.fstat(stream.fileno()).st_size - 200, 0))
            last = stream.read().decode(errors="replace").rstrip().rpartition("\n")[2]
    except OSError:
        last = ""
    found = _SPENT.fullmatch(last)
    return {"cpu_s": float(found[1]), "peak_rss_mb": float(found[2])} if found else {}


def _amount(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def read_benchmarks(folder):
    """Return what `read_benchmark` reads from every ``.tsv`` below a folder, by its path without the suffix (rule, then
    wildcards)."""
    folder = Path(folder)
    return {
        path.relative_to(folder).with_suffix("").as_posix(): read_benchmark(path)
        for path in sorted(folder.rglob("*.tsv"))
    }


def versions():
    """Return the versions of Python and of the packages that make the results; None for a package that is missing."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


@functools.cache
def compiler():
    """Return the name and version of the compiler, as recorded in a compiled kernel; None if there is no record."""
    try:
        spec = importlib.util.find_spec("misspenalty.traces._compile")
        content = Path(spec.origin).read_bytes()
    except (ImportError, AttributeError, TypeError, ValueError, OSError):
        return None
    match = re.search(rb"GCC: \([^)\0]*\) [\d.]+|clang version [\d.]+", content)
    return match[0].decode() if match else None


def git(root, *arguments):
    """Return the output of a git command in a checkout; None if it fails, or if git cannot be run."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def git_commit(root="."):
    """Return the commit of the checkout at `root` and whether tracked files differ from it; None if `root` is not the
    top folder of a git checkout, if the checkout has no commit, or if git cannot be run."""
    top, commit = git(root, "rev-parse", "--show-toplevel"), git(root, "rev-parse", "HEAD")
    if top is None or commit is None or not os.path.samefile(top, root):
        return None
    changes = git(root, "status", "--porcelain", "--untracked-files=no")
    return None if changes is None else {"commit": commit, "modified": changes != ""}


def build_manifest(inputs, outputs, *, seeds=None, benchmarks=None, root="."):
    """Describe everything that a run read and everything that it made.

    Parameters
    ----------
    inputs, outputs : iterable of path-like
        Files or folders, relative to `root`: raw data, published values, configuration; tables and figures.
    seeds : mapping, optional
        Seeds by name.
    benchmarks : path-like, optional
        Folder of Snakemake's benchmark files. Times and memory are written only to the manifest, so that the results
        of two runs are equal.

    Returns
    -------
    dict
        Ready for JSON: ``inputs``, ``outputs``, ``sources`` (digest), ``git``, ``versions``, ``compiler``,
        ``platform``, ``seeds``, ``jobs``, ``total``.

    Raises
    ------
    InputError
        One of `inputs` or `outputs` does not exist.
    """
    jobs = read_benchmarks(benchmarks) if benchmarks is not None else {}
    walls = [job["wall_s"] for job in jobs.values() if job["wall_s"] is not None]
    peaks = [job["peak_rss_mb"] for job in jobs.values() if job["peak_rss_mb"] is not None]
    return {
        "inputs": describe_files(inputs, root),
        "outputs": describe_files(outputs, root),
        "sources": Sources().digest(),
        "git": git_commit(root),
        "versions": versions(),
        "compiler": compiler(),
        "platform": {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "libc": " ".join(platform.libc_ver()).strip(),
            "processors": os.cpu_count(),
        },
        "seeds": dict(seeds or {}),
        "jobs": jobs,
        "total": {"wall_s": sum(walls), "peak_rss_mb": max(peaks, default=None)},
    }


def write_manifest(manifest, path):
    """Write a manifest atomically as JSON with sorted keys."""
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")
