"""``python -m misspenalty.reporting.archive``: what ``make archive`` and ``make verify`` run."""

import argparse
import collections
import json
import sys
import tempfile
from pathlib import Path

from misspenalty.errors import MissPenaltyError
from misspenalty.reporting.archive import crate, verify


def main(arguments=None):
    """Write or verify an archive; 0 if all is well, 1 if results differ, 2 if the archive or a folder is rejected."""
    parser = argparse.ArgumentParser(prog="python -m misspenalty.reporting.archive", description=__doc__)
    parser.add_argument("--root", default=".", help="the checkout that contains results/ (default: this folder)")
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="write misspenalty-results-<version>.zip")
    write.add_argument("--out", default="build/archive", help="folder of the archive (default: build/archive)")
    check = commands.add_parser("verify", help="check an archive and compare it with the results of this checkout")
    check.add_argument("archive")
    check.add_argument(
        "--tolerance", type=float, default=verify.TOLERANCE,
        help="relative difference up to which numbers count as equal (default: %(default)s)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        if options.command == "write":
            return _write(options)
        return _verify(options)
    except MissPenaltyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _write(options):
    version = crate.read_citation(options.root)["version"]
    path = Path(options.out) / f"misspenalty-results-{version}.zip"
    number = crate.write_archive(path, options.root)
    print(f"{path}: {number} files, {path.stat().st_size} bytes, sha256 {crate.file_digest(path)}")
    return 0


def _verify(options):
    with tempfile.TemporaryDirectory() as folder:
        names = verify.unpack(options.archive, folder)
        print(f"{options.archive}: {len(names)} files, all matching the archive's own list")
        code = json.loads((Path(folder) / crate.CODE).read_text()) if crate.CODE in names else {}
        same = code.get("sources") == crate.describe_code(options.root)["sources"]
        print(f"made by {'the sources of this checkout' if same else 'sources other than those of this checkout'}")
        found = verify.compare(folder, options.root, options.tolerance)
    for one in found:
        print(f"{one.verdict:18} {one.name}{': ' if one.detail else ''}{one.detail}")
    counts = collections.Counter(one.verdict for one in found)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in ("equal", "numerically equal", "different")))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
