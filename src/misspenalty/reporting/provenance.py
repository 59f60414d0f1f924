"""What a result was made from: digests of sources and files, versions, times."""

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

# meson.build is not among them: it is not installed, and a wheel's digest has to equal its checkout's
SOURCES = {".py", ".pyx", ".pxd", ".h"}
PACKAGES = (
    "misspenalty", "numpy", "pandas", "pyarrow", "scipy", "matplotlib", "pyyaml", "jsonschema", "cython", "meson",
    "meson-python", "snakemake", "jupytext", "typst",
)  # fmt: skip


def sources(*rooms, root=None):
    """Source files of the package.

    Parameters
    ----------
    *rooms : str
        Folders of the package (``traces``) and modules (``simulation``, ``studies/mq``); all of it if none is named.
        What they import from the package, however far, counts as well; an imported package counts whole.
    root : path-like, optional
        Folder of the package; by default the one that is running.

    Returns
    -------
    set of Path

    Raises
    ------
    ParameterError
        A room that the package does not have.
    """
    root = Path(root) if root is not None else Path(__file__).parents[1]
    return _closure(root, rooms) if rooms else set(_sources(root))


def source_digest(*rooms, root=None):
    """sha256 of the package's sources, by relative path and content.

    Given to a Snakemake rule as a parameter, it reruns what depends on an edited source, compiled ones included.
    Parameters and errors are those of `sources`.
    """
    root = Path(root) if root is not None else Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(sources(*rooms, root=root), key=lambda p: p.relative_to(root).as_posix()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


_IMPORTS = re.compile(
    rb"^\s*(?:from\s+misspenalty\.([\w.]+)\s+c?import|c?import\s+misspenalty\.([\w.]+)"
    rb"|from\s+misspenalty\s+import\s+(\([^)]*\)|[^\n#]+))",
    re.MULTILINE,
)


def _imported(root, path):
    """Rooms and modules that a source imports; names of the package itself stand for all that it imports in turn."""
    for dotted, other, names in _IMPORTS.findall(path.read_bytes()):
        if names:
            for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names.decode()):
                known = (root / name).is_dir() or any((root / name).with_suffix(end).is_file() for end in SOURCES)
                yield name if known else "__init__"
        else:
            yield (dotted or other).decode().replace(".", "/")


def _closure(root, rooms):
    """Sources of rooms or modules, and of all they import from the package."""
    found, waiting = set(), list(rooms)
    seen = set(waiting)
    while waiting:
        room = waiting.pop()
        files = _sources(root / room) or [path for path in map((root / room).with_suffix, SOURCES) if path.is_file()]
        if not files:
            raise ParameterError(f"the package has no room or module {room!r} in {root}")
        for path in set(files) - found:
            further = set(_imported(root, path)) - seen
            seen |= further
            waiting += further
        found |= set(files)
    return found


def _sources(folder):
    return [p for p in folder.rglob("*") if p.suffix in SOURCES and p.is_file()] if folder.is_dir() else []


def file_digest(path):
    """sha256 of a file, read in pieces."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def describe_files(paths, root="."):
    """Digest and size of each file, by path relative to `root`; a folder stands for the files below it.

    Raises
    ------
    InputError
        A path that does not exist.
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
    """Wall time and peak memory of one job from Snakemake's benchmark file.

    Returns
    -------
    dict
        ``wall_s`` (the sum, if the job was repeated) and ``peak_rss_mb`` (the maximum), None where the file says
        nothing: a job too short to be sampled has ``NA`` or ``-`` there, a killed one no line at all.
    """
    try:
        with open(path, newline="", encoding="utf-8", errors="replace") as stream:
            lines = list(csv.DictReader(stream, delimiter="\t", restval=""))
    except (OSError, csv.Error):
        lines = []
    times, peaks = ([x for line in lines if (x := _amount(line.get(c))) is not None] for c in ("s", "max_rss"))
    return {"wall_s": sum(times) if times else None, "peak_rss_mb": max(peaks, default=None)}


def _amount(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def read_benchmarks(folder):
    """`read_benchmark` of every ``.tsv`` below a folder, by its path without the suffix (rule, then wildcards)."""
    folder = Path(folder)
    return {
        path.relative_to(folder).with_suffix("").as_posix(): read_benchmark(path)
        for path in sorted(folder.rglob("*.tsv"))
    }


def versions():
    """Versions of Python and of the packages that make the results; None where one is not installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


@functools.cache
def compiler():
    """Name and version of the compiler of the kernels, which it leaves in what it compiles; None if it does not."""
    try:
        spec = importlib.util.find_spec("misspenalty.traces._compile")
        content = Path(spec.origin).read_bytes()
    except (ImportError, AttributeError, TypeError, ValueError, OSError):
        return None
    match = re.search(rb"GCC: \([^)\0]*\) [\d.]+|clang version [\d.]+", content)
    return match[0].decode() if match else None


def git_commit(root="."):
    """Commit of the checkout at `root` and whether tracked files differ from it; None outside of one (a tarball)."""

    def git(*arguments):
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    try:
        if not os.path.samefile(git("rev-parse", "--show-toplevel"), root):
            return None
        commit = git("rev-parse", "HEAD")
        return {"commit": commit, "modified": bool(git("status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.SubprocessError):
        return None


def build_manifest(inputs, outputs, *, seeds=None, benchmarks=None, root="."):
    """Everything a run was made from and what it made.

    Parameters
    ----------
    inputs, outputs : iterable of path-like
        Files or folders, relative to `root`: raw data, published values, configuration; tables and figures.
    seeds : mapping, optional
        Every seed by its name.
    benchmarks : path-like, optional
        Folder of Snakemake's benchmark files. Times and memory stand here only, so that results stay equal.

    Returns
    -------
    dict
        Ready for JSON: ``inputs``, ``outputs``, ``sources`` (digest), ``git``, ``versions``, ``compiler``,
        ``platform``, ``seeds``, ``jobs``, ``total``.
    """
    jobs = read_benchmarks(benchmarks) if benchmarks is not None else {}
    walls = [job["wall_s"] for job in jobs.values() if job["wall_s"] is not None]
    peaks = [job["peak_rss_mb"] for job in jobs.values() if job["peak_rss_mb"] is not None]
    return {
        "inputs": describe_files(inputs, root),
        "outputs": describe_files(outputs, root),
        "sources": source_digest(),
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
    """Write a manifest as JSON, keys sorted, whole or not at all."""
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as partial:
        partial.write_text(text + "\n", encoding="utf-8")
