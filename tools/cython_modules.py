"""Translate kernels to C in a few Cython processes, or write the code that all kernels share.

    cython_modules.py CYTHON ROOT OUT DEPFILE SOURCE... -- OPTION...

CYTHON is the command; C files are written to the folder OUT, and their dependencies to DEPFILE. A SOURCE is a path that
begins with the name of a package (PACKAGES), whose folder is below ROOT. Without a SOURCE, the shared module
`_cyutility.c` is written. Cython spends most of its time starting up, so one process translates many kernels. A kernel
is translated only if a source that it depends on, an option or Cython itself has changed. Every path that Cython sees
begins with a package, so the C code does not depend on where the tree is. A C file that would not change keeps its time
stamp, and is not compiled again.
"""

import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = {"misspenalty": "src/misspenalty", "misspenalty_studies": "studies"}
MAX_ALONE = 4  # number of kernels up to which one process is faster than two
MAX_PROCESSES = 4  # or the number of processors, if that is smaller
# Run a command with fewer garbage collections, which otherwise take a tenth of Cython's time.
START = "import gc, runpy, sys; gc.set_threshold(100_000); del sys.argv[0]; runpy.run_path(sys.argv[0], {}, '__main__')"


def main(cython, root, out, depfile, *rest):
    sources, options = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    root, out, depfile = Path(root).resolve(), Path(out).resolve(), Path(depfile).resolve()
    with tempfile.TemporaryDirectory(dir=out) as folder:
        tree, made = Path(folder, "tree"), Path(folder, "made")
        tree.mkdir()
        made.mkdir()
        for name, below in PACKAGES.items():
            (tree / name).symlink_to(root / below)
        if sources:
            needs = translate(cython, sources, options, tree, made, out)
            first = Path(sources[0]).stem
        else:
            run([[cython, "--generate-shared", str(made / "_cyutility.c")]], tree)
            needs, first = set(), "_cyutility"
        for path in made.rglob("*.c"):
            target = out / path.name
            if not target.exists() or not filecmp.cmp(path, target, shallow=False):
                os.replace(path, target)
    depfile.write_text(f"{os.path.relpath(out / first)}.c: {' '.join(sorted(needs))}\n")


def translate(cython, sources, options, tree, made, out):
    """Translate the kernels that have changed into the folder `made`; return the files that any kernel depends on."""
    wanted, begun = "\t".join([cython, *options]), made.stat().st_mtime_ns
    stale = [source for source in sources if not is_fresh(source, out, wanted)]
    stale.sort(key=lambda source: -(tree / source).stat().st_size)
    number = 1 if len(stale) <= MAX_ALONE else min(os.cpu_count() or 1, MAX_PROCESSES)
    shares = [share for k in range(number) if (share := stale[k::number])]
    command = [sys.executable, "-c", START, cython, *options, "-M", "--output-file", str(made)]
    run([[*command, *share] for share in shares], tree)
    listed = {path.name.partition(".")[0]: path for path in made.rglob("*.dep")}
    for source in stale:
        names = listed[Path(source).stem].read_text().partition(":")[2].replace("\\\n", " ").split()
        paths = sorted({os.path.realpath(name) for name in [cython, *(tree / name for name in names)]})
        record = record_of(source, out)
        record.write_text("\n".join([wanted, *paths]))
        os.utime(record, ns=(begun, begun))  # so that a file edited during the translation is newer
    return {path for source in sources for path in record_of(source, out).read_text().split("\n")[1:]}


def record_of(source, out):
    """Return the file that records the options with which a kernel was last translated and the files it depends on."""
    return out / f"{Path(source).stem}.needs"


def is_fresh(source, out, wanted):
    """Return whether a kernel is up to date: nothing that it depends on has changed since it was translated."""
    record = record_of(source, out)
    if not record.exists() or not (out / f"{Path(source).stem}.c").exists():
        return False
    options, *paths = record.read_text().split("\n")
    age = record.stat().st_mtime_ns
    return options == wanted and all(os.path.exists(path) and os.stat(path).st_mtime_ns < age for path in paths)


def run(commands, folder):
    """Run commands in parallel, and fail if one of them fails."""
    running = [subprocess.Popen(command, cwd=folder) for command in commands]
    failed = [process.args for process in running if process.wait()]
    if failed:
        sys.exit("Cython failed; its messages are above")


if __name__ == "__main__":
    main(*sys.argv[1:])
