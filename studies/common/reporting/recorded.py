"""Compare files with digests that a capture program or the manifest of a run recorded."""

import json
import posixpath
from pathlib import Path

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml
from misspenalty_studies.common.reporting.provenance import file_digest

FACTS = "captures.yaml"  # file next to the captures that it describes


def read_manifest(path):
    """Read the manifest of a run.

    Returns
    -------
    dict or None
        From `misspenalty_studies.common.reporting.provenance.build_manifest`; None if there is no manifest.

    Raises
    ------
    InputError
        The file is not a manifest.
    """
    try:
        text = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
        for part in ("inputs", "outputs"):
            for name, described in found[part].items():
                if "\0" in name or (part == "outputs" and not is_result(name)):  # `make` may delete outputs
                    raise ValueError(f"{name!r} is not a path below results/")
                described["bytes"], described["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"is not the manifest of a run ({type(error).__name__}: {error})",
            path=path,
            remedy="delete it, and `make reproduce` writes it again",
        ) from error
    return found


def is_result(name):
    """Tell whether a name is a plain path below ``results/``."""
    return name.startswith("results/") and posixpath.normpath(name) == name


def changed_files(described, root="."):
    """Find files that differ from their description.

    Parameters
    ----------
    described : dict of str to dict
        Size (``bytes``) and ``sha256`` by path, as in a manifest.
    root : path-like, optional
        Folder that the paths are relative to.

    Returns
    -------
    list of str
        Paths of files that differ or are missing, sorted.
    """
    return sorted(name for name, one in described.items() if not _equals(Path(root) / name, one))


def _equals(path, described):
    try:
        same_size = path.is_file() and path.stat().st_size == described["bytes"]
        return same_size and file_digest(path) == described["sha256"]
    except (FileNotFoundError, NotADirectoryError):
        return False


def check_recorded(paths):
    """Check raw captures against the sha256 in the ``captures.yaml`` next to them.

    A file without such a record is not checked.

    Parameters
    ----------
    paths : iterable of path-like

    Raises
    ------
    InputError
        A file's sha256 is not the recorded one.
    """
    for path in map(Path, paths):
        recorded = recorded_digest(path)
        if recorded is not None and (found := file_digest(path)) != recorded:
            raise InputError(
                f"has sha256 {found}",
                path=path,
                expected=f"{recorded}, which {FACTS} records",
                remedy=f"restore it (`git checkout -- {path}`), or record the digest of a capture that you made again",
            )


def recorded_digest(path):
    """Return the sha256 that the ``captures.yaml`` next to a file records for it, or None.

    An entry of ``captures.yaml`` describes a file, or a workload with one digest for each of its files.
    """
    facts = Path(path).with_name(FACTS)
    if not facts.is_file() or Path(path).name == FACTS:
        return None
    described = read_yaml(facts)
    for name, entry in described.items() if isinstance(described, dict) else ():
        digest = entry.get("sha256") if isinstance(entry, dict) else None
        if isinstance(digest, dict):
            digest = digest.get(Path(path).name)
        elif name != Path(path).name:
            digest = None
        if digest is not None:
            return str(digest)
    return None
