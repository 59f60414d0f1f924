"""Translate the kernels of a package to C in one Cython process, or write the code that all kernels share.

    cython_modules.py CYTHON ROOT OUT DEPFILE SOURCE... -- OPTION...

CYTHON is the command; the C files go to the folder OUT, and their dependencies to DEPFILE. Without a SOURCE, the shared
module `_cyutility.c` is written. Most of Cython's time is its start, so a package costs little more than one module.
Every path that Cython sees is relative to ROOT, so the C is the same wherever the tree is. A C file that would not
change keeps its time stamp, and the compiler is not run on it again.
"""

import filecmp
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(cython, root, out, depfile, *rest):
    sources, options = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    out, depfile = Path(out).resolve(), Path(depfile).resolve()
    needs = set()
    with tempfile.TemporaryDirectory(dir=out) as folder:
        if sources:
            command = [*options, "-M", "--output-file", folder, *(os.path.relpath(source, root) for source in sources)]
        else:
            command = ["--generate-shared", os.path.join(folder, "_cyutility.c")]
        subprocess.run([cython, *command], cwd=root, check=True)
        for listed in Path(folder).rglob("*.dep"):
            names = listed.read_text().partition(":")[2].replace("\\\n", " ").split()
            needs.update(os.path.normpath(os.path.join(root, name)) for name in names)
        for made in Path(folder).rglob("*.c"):
            target = out / made.name
            if not target.exists() or not filecmp.cmp(made, target, shallow=False):
                os.replace(made, target)
    first = os.path.splitext(os.path.basename(sources[0]))[0] if sources else "_cyutility"
    depfile.write_text(f"{os.path.relpath(out / first)}.c: {' '.join(sorted(needs))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
