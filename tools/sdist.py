"""Keep only the library in a source distribution; meson runs this on the tree of files that it is about to pack.

The sdist contains what builds, describes and licenses the package. Traces, results, workflow, documentation and tests
work only in the repository, where they are together, and exceed the 100 MB that a package index accepts.
"""

import os
import shutil
from pathlib import Path

KEPT = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "data/conformance",
    "data/drives",
    "meson.build",
    "pyproject.toml",
    "src",
    "tools",
)


def reduce(folder):
    """Delete everything from a folder except the files and folders in `KEPT`."""
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder).as_posix()
        if any(name == kept or name.startswith(f"{kept}/") or kept.startswith(f"{name}/") for kept in KEPT):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


if __name__ == "__main__":
    reduce(Path(os.environ["MESON_DIST_ROOT"]))
