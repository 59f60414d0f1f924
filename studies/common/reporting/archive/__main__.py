"""Write or verify an archive of results; ``make archive`` and ``make verify`` run this module."""

import argparse
import collections
import sys
from pathlib import Path

from misspenalty.errors import InputError, MissPenaltyError
from misspenalty_studies.common.reporting.archive import compare, crate, verify
from misspenalty_studies.common.reporting.recorded import changed_files, read_manifest

VERDICTS = ("equal", "numerically equal", "not compared", "different")


def main(arguments=None):
    """Write or verify an archive; return 0 on success, 1 if results differ, 2 if the archive or the checkout is
    refused."""
    parser = argparse.ArgumentParser(prog="python -m misspenalty_studies.common.reporting.archive", description=__doc__)
    parser.add_argument("--root", default=".", help="the checkout that contains results/ (default: this folder)")
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="write misspenalty-results-<version>.zip")
    write.add_argument("--out", default="build/archive", help="folder of the archive (default: build/archive)")
    check = commands.add_parser("verify", help="check an archive and compare each of its files with this checkout's")
    check.add_argument("archive")
    check.add_argument(
        "--tolerance", type=_tolerance, default=compare.TOLERANCE,
        help="relative difference up to which numbers count as equal (default: %(default)s)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        if options.command == "write":
            return _write(options)
        return _verify(options)
    except MissPenaltyError as error:
        print(_shown(f"error: {error}"), file=sys.stderr)
        return 2


def _tolerance(text):
    """Parse a relative difference from 0 to below 1; refuse any other: with nan, all numbers would be equal."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a relative difference; expected a number from 0 to below 1")
    return number


def _shown(text):
    """Escape unprintable characters, because a forged archive could use them to print lines of its own."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _write(options):
    manifests = (read_manifest(Path(options.root) / name) for name in verify.MANIFESTS)
    outputs = {name: one for manifest in filter(None, manifests) for name, one in manifest["outputs"].items()}
    if changed := changed_files(outputs, options.root):
        path = Path(options.root) / changed[0]
        what = "is not what the last run wrote" if path.exists() else "is missing, although the last run wrote it,"
        raise InputError(f"{what} according to its manifest", path=path, remedy="make it again with `make reproduce`")
    if crate.git_commit(options.root):
        _check_results_in_git(options.root, outputs)
    version = crate.read_citation(options.root)["version"]
    path = Path(options.out) / f"misspenalty-results-{version}.zip"
    number = crate.write_archive(path, options.root)
    print(f"{path}: {number} files, {path.stat().st_size} bytes, sha256 {crate.file_digest(path)}")
    return 0


def _check_results_in_git(root, outputs):
    """Check that every result that git tracks exists, and that no other file is among the results."""
    deleted = crate.git(root, "ls-files", "--deleted", "results")
    if deleted:
        name = deleted.splitlines()[0]
        raise InputError(
            "is missing, although git tracks it", path=Path(root) / name, remedy=f"`git checkout {name}` restores it"
        )
    tracked = (crate.git(root, "ls-files", "-z", "results") or "").split("\0")
    if stray := sorted({*crate.result_files(root)} - {*tracked, *outputs}):
        raise InputError(
            "is neither in git nor in the manifest of a run",
            path=Path(root) / stray[0],
            remedy="delete it, or `git add` it if it is a result",
        )


def _verify(options):
    found = verify.verify(options.archive, options.root, options.tolerance)
    print(f"{options.archive}: complete, and it contains no other files")
    for one in sorted(found, key=lambda one: VERDICTS.index(one.verdict)):  # print differences last
        print(_shown(f"{one.verdict:18} {one.name}{': ' if one.detail else ''}{one.detail}"))
    counts = collections.Counter(one.verdict for one in found)
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
