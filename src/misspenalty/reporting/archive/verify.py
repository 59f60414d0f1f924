"""Unpack an archive safely, check it against its own list, and compare its results with those of a checkout."""

import hashlib
import json
import posixpath
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import matplotlib.image
import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty.reporting.archive.crate import METADATA, result_files

MOST_FILES = 20_000
MOST_BYTES = 2 * 2**30
MOST_RATIO = 200  # unpacked bytes per packed byte; archives are written uncompressed, a packed table stays below 50
MOST_METADATA = 32 * 2**20
TOLERANCE = 1e-9  # relative
PIECE = 2**20


@dataclass(frozen=True)
class Comparison:
    """How a file of an archive compares with the same file of a checkout.

    Attributes
    ----------
    name : str
        Path of the file.
    verdict : {"equal", "numerically equal", "different"}
    detail : str
        By how much, or what differs; empty if the bytes are equal.
    """

    name: str
    verdict: str
    detail: str = ""


def unpack(archive, folder):
    """Unpack an archive and check each file against the archive's own list of sizes and sha256 digests.

    Nothing is written outside `folder`, and nothing before all names, types and sizes have been checked.

    Parameters
    ----------
    archive : path-like
        The zip file.
    folder : path-like
        An empty folder.

    Returns
    -------
    list of str
        Paths of the files, sorted, except the list itself.

    Raises
    ------
    InputError
        The file is not a zip file or is truncated; an entry has an absolute path, ``..``, a link or another special
        file, a name used twice, or is larger unpacked than an archive can be; a file is damaged, is missing or is not
        in the list. The entry is named.
    """
    folder = Path(folder)
    if any(folder.iterdir()):
        raise InputError("is not empty", path=folder, expected="an empty folder to unpack into")
    try:
        with zipfile.ZipFile(archive) as stored:
            entries = _examine(archive, stored)
            listed = _read_list(archive, stored, entries)
            for name in sorted(entries.keys() | listed.keys()):
                if name not in entries:
                    raise InputError(f"{name} is missing", path=archive, remedy="get the archive again")
                if name not in listed and name != METADATA:
                    raise InputError(f"{name} is not in the archive's own list", path=archive, remedy="do not use it")
                found = _write(archive, stored, entries[name], folder / name)
                if name != METADATA and found != listed[name]:
                    raise InputError(
                        f"{name} has sha256 {found[1]} and {found[0]} bytes",
                        path=archive,
                        expected=f"{listed[name][1]} and {listed[name][0]} bytes, as its own list says",
                        remedy="the archive is damaged or forged: do not use it",
                    )
    except (zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"is not a valid zip file ({error})", path=archive, remedy="get the archive again") from error
    except OSError as error:
        raise InputError(f"cannot be unpacked ({error})", path=archive) from error
    return sorted(listed)


def _examine(archive, stored):
    """Entries by name, after checking that none could do harm."""

    def refuse(entry, what):
        raise InputError(f"entry {entry.filename!r} {what}", path=archive, remedy="the archive is refused")

    entries, seen, total = {}, set(), 0
    if len(stored.infolist()) > MOST_FILES:
        raise InputError(f"has {len(stored.infolist())} entries", path=archive, expected=f"at most {MOST_FILES}")
    for entry in stored.infolist():
        # ZipInfo truncates a name at a null byte and replaces the system's separator: check the name as stored.
        name, kind = entry.orig_filename, stat.S_IFMT(entry.external_attr >> 16)
        if name.startswith("/") or "\\" in name or "\0" in name or ":" in name.split("/")[0]:
            refuse(entry, "has an absolute or foreign path")
        if ".." in name.split("/") or posixpath.normpath(name) != name.rstrip("/") or name in ("", "."):
            refuse(entry, "has a path that leaves the folder or is not in its plain form")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            refuse(entry, "is a link or another special file")
        if entry.flag_bits & 1:
            refuse(entry, "is encrypted")
        if name.casefold().rstrip("/") in seen:
            refuse(entry, "occurs twice")
        seen.add(name.casefold().rstrip("/"))
        total += entry.file_size
        if total > MOST_BYTES or entry.file_size > MOST_RATIO * max(entry.compress_size, PIECE // MOST_RATIO):
            refuse(entry, f"unpacks to {entry.file_size} bytes from {entry.compress_size}, {total} in total so far")
        if not entry.is_dir():
            entries[name] = entry
    return entries


def _read_list(archive, stored, entries):
    """Size and sha256 of each file by its path, from the archive's metadata."""
    if METADATA not in entries:
        raise InputError(f"has no {METADATA}", path=archive, expected="an archive written by `make archive`")
    if entries[METADATA].file_size > MOST_METADATA:
        raise InputError(f"{METADATA} is larger than {MOST_METADATA} bytes", path=archive)
    try:
        graph = json.loads(_read(archive, stored, entries[METADATA]))["@graph"]
        files = [one for one in graph if "File" in np.atleast_1d(one["@type"])]
        return {unquote(one["@id"]): (int(one["contentSize"]), str(one["sha256"])) for one in files}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{METADATA} cannot be used ({type(error).__name__}: {error})",
            path=archive,
            expected="a list of files with contentSize and sha256",
        ) from error


def _pieces(archive, stored, entry):
    """Content of an entry in pieces, never more than the entry declares."""
    try:
        with stored.open(entry) as stream:
            while piece := stream.read(PIECE):
                yield piece
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{entry.filename} is damaged ({error})", path=archive, remedy="get it again") from error


def _read(archive, stored, entry):
    return b"".join(_pieces(archive, stored, entry))


def _write(archive, stored, entry, path):
    """Write an entry's content; returns its size and sha256."""
    digest, size = hashlib.sha256(), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "xb") as stream:
        for piece in _pieces(archive, stored, entry):
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
    return size, digest.hexdigest()


def compare(unpacked, root=".", tolerance=TOLERANCE):
    """Compare the results in an unpacked archive with those of a checkout.

    The manifest (times of a run) and the site (made from the results) are checked against the archive's list only.

    Parameters
    ----------
    unpacked : path-like
        Folder that `unpack` filled.
    root : path-like, optional
        The checkout.
    tolerance : float, optional
        Relative difference up to which two numbers of a CSV table are numerically equal.

    Returns
    -------
    list of Comparison
        One per result of either side, sorted by name.
    """
    there, here = set(result_files(unpacked)), set(result_files(root))
    found = []
    for name in sorted(there | here):
        if name not in here:
            found.append(Comparison(name, "different", "is missing in this checkout"))
        elif name not in there:
            found.append(Comparison(name, "different", "is not in the archive"))
        else:
            found.append(Comparison(name, *compare_files(Path(unpacked) / name, Path(root) / name, tolerance)))
    return found


def compare_files(archived, here, tolerance=TOLERANCE):
    """Verdict on two files and by how much they differ.

    Tables (CSV) are compared value by value, pictures (PNG) pixel by pixel, others by their bytes. Parameters are
    those of `compare`; the result is the ``verdict`` and the ``detail`` of a `Comparison`.
    """
    first, second = Path(archived).read_bytes(), Path(here).read_bytes()
    if first == second:
        return "equal", ""
    try:
        if Path(here).suffix == ".csv":
            return _compare_tables(pd.read_csv(archived), pd.read_csv(here), tolerance)
        if Path(here).suffix == ".png":
            return "different", _compare_pictures(archived, here)
    except (ValueError, SyntaxError, OSError):
        pass  # files that cannot be read as their suffix says are compared by their bytes
    common = min(len(first), len(second))
    unequal = np.frombuffer(first, "u1", common) != np.frombuffer(second, "u1", common)
    return "different", (
        f"{len(first)} bytes archived, {len(second)} here; {int(unequal.sum())} of the first {common} differ"
    )


def _compare_tables(archived, here, tolerance):
    if list(archived.columns) != list(here.columns):
        only = sorted(set(archived.columns) ^ set(here.columns)) or "their order"
        return "different", f"columns differ: {only}"
    if len(archived) != len(here):
        return "different", f"{len(archived)} rows archived, {len(here)} here"
    details, largest = [], 0.0
    for column in archived.columns:
        one, other = archived[column], here[column]
        if not all(pd.api.types.is_numeric_dtype(x) and not pd.api.types.is_bool_dtype(x) for x in (one, other)):
            if unequal := int((one.astype(str).fillna("") != other.astype(str).fillna("")).sum()):
                details.append(f"{column}: {unequal} of {len(one)} values differ")
            continue
        one, other = one.to_numpy(float), other.to_numpy(float)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        with np.errstate(all="ignore"):
            away = np.where(same, 0.0, np.abs(one - other))
            relative = np.where(same, 0.0, away / np.maximum(np.abs(one), np.abs(other)))
        relative = np.where(np.isfinite(relative), relative, np.inf)
        largest = max(largest, relative.max(initial=0.0))
        if unequal := int((relative > tolerance).sum()):
            worst = int(np.argmax(relative))
            details.append(
                f"{column}: {unequal} of {len(one)} values differ, most {one[worst]:g} and here {other[worst]:g}"
                f" (relative {relative[worst]:.3g})"
            )
    if details:
        return "different", "; ".join(details)
    return "numerically equal", f"largest relative difference {largest:.3g}"


def _compare_pictures(archived, here):
    one, other = matplotlib.image.imread(archived), matplotlib.image.imread(here)
    if one.shape != other.shape:
        return f"{one.shape[1]}×{one.shape[0]} pixels archived, {other.shape[1]}×{other.shape[0]} here"
    unequal = (one != other).reshape(*one.shape[:2], -1).any(axis=2)
    return f"{unequal.mean():.2%} of the pixels differ, by up to {np.abs(one - other).max():.3g} of full scale"
