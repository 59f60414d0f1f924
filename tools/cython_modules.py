"""Translate the kernels of a package to C in one Cython process, or write the code that all kernels share.

    cython_modules.py CYTHON ROOT OUT DEPFILE SOURCE... -- OPTION...

CYTHON is the command; the C files go to the folder OUT, and their dependencies to DEPFILE. A SOURCE is a path that
begins with the name of a package (PACKAGES), whose folder is below ROOT. Without a SOURCE, the shared module
`_cyutility.c` is written. Most of Cython's time is its start, so a package costs little more than one module.
Every path that Cython sees begins with a package, so the C is the same wherever the tree is. A C file that would not
change keeps its time stamp, and the compiler is not run on it again.
"""

import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = {"misspenalty": "src/misspenalty", "misspenalty_studies": "studies"}


def main(cython, root, out, depfile, *rest):
    sources, options = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    root, out, depfile = Path(root).resolve(), Path(out).resolve(), Path(depfile).resolve()
    needs = set()
    with tempfile.TemporaryDirectory(dir=out) as folder:
        tree, made_in = Path(folder, "tree"), Path(folder, "made")
        for name, below in PACKAGES.items():
            tree.mkdir(exist_ok=True)
            (tree / name).symlink_to(root / below)
        made_in.mkdir()
        if sources:
            command = [*options, "-M", "--output-file", str(made_in), *sources]
        else:
            command = ["--generate-shared", str(made_in / "_cyutility.c")]
        subprocess.run([cython, *command], cwd=tree, check=True)
        for listed in made_in.rglob("*.dep"):
            names = listed.read_text().partition(":")[2].replace("\\\n", " ").split()
            needs.update(os.path.realpath(tree / name) for name in names)
        for made in made_in.rglob("*.c"):
            target = out / made.name
            if not target.exists() or not filecmp.cmp(made, target, shallow=False):
                os.replace(made, target)
    first = Path(sources[0]).stem if sources else "_cyutility"
    depfile.write_text(f"{os.path.relpath(out / first)}.c: {' '.join(sorted(needs))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
