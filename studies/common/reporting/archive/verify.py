"""Verify an archive: check that it is complete and contains nothing else, and compare its files with a checkout's.

Nothing is unpacked. An archive has one valid form, because `make archive` stores equal files as equal bytes. The
check stores the archive's own files again and compares the two zip files, which reveals any bytes outside the files.
"""

import contextlib
import hashlib
import itertools
import json
import os
import posixpath
import re
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting.archive import crate
from misspenalty_studies.common.reporting.archive.compare import TOLERANCE, compare_contents

MANIFESTS = {"results/manifest.json": "make reproduce", "results/manifest_supplement.json": "make supplement"}
# These parts of a manifest differ between runs.
OF_A_RUN = {"compiler", "git", "jobs", "outputs", "platform", "total", "versions"}
MADE_BY = {"results/site/": "make site", "results/": "make supplement"}
# These paths are unsafe for programs that unpack the archive, or for the terminal that shows them.
FOREIGN = re.compile(r"^/|^\.\.(/|$)|[\\:\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
PIECE = 2**20


@dataclass(frozen=True)
class Comparison:
    """Result of comparing a file of an archive with the same file of a checkout.

    Attributes
    ----------
    name : str
        Path of the file.
    verdict : {"equal", "numerically equal", "not compared", "different"}
    detail : str
        A text that says what differs, by how much, or why the file was not compared; empty if the bytes are equal.
    """

    name: str
    verdict: str
    detail: str = ""


def verify(archive, root=".", tolerance=TOLERANCE):
    """Check that an archive is whole, and compare all its files with the files of a checkout.

    Parameters
    ----------
    archive : path-like
        The zip file.
    root : path-like, optional
        The checkout.
    tolerance : float, optional
        Relative difference up to which two numbers in a CSV table are numerically equal.

    Returns
    -------
    list of Comparison
        One per file that the archive contains or that an archive of this checkout would contain, except the archive's
        own list; sorted by name.

    Raises
    ------
    InputError
        The archive or a file of the checkout cannot be read; the archive is not a zip file, is truncated or damaged,
        does not match its own list of checksums, has a different date from the checkout's release, or contains anything
        that `make archive` does not write (packed or encrypted entries, folders, links, comments); or the checkout has
        no results, lacks a file that every archive contains, or has a CITATION.cff that cannot be used.
    """
    citation = crate.read_citation(root)
    try:
        with zipfile.ZipFile(archive) as stored:
            _check_entries(archive, stored, crate.release_date(citation))
            contents = {entry.filename: _describe(archive, stored, entry.filename) for entry in stored.infolist()}
            _check_list(archive, stored, contents)
            _check_form(archive, stored, crate.release_date(citation))
            here = {name: Path(root, name) for name in crate.archived_files(root)}
            code = crate.describe_code(root)
            found = [Comparison(crate.METADATA, *_compare_metadata(stored, contents, citation, code))]
            for name in (contents.keys() | here.keys() | {crate.CODE}) - {crate.LIST, crate.METADATA}:
                found.append(Comparison(name, *_compare(stored, contents, name, here.get(name), code, tolerance)))
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise InputError(f"is not a valid zip file ({error})", path=archive, remedy="get the archive again") from error
    except OSError as error:
        raise InputError(f"cannot be read ({error})", path=error.filename or archive) from error
    return sorted(found, key=lambda one: one.name)


def _check_entries(archive, stored, date):
    """Check the zip file's directory of entries before any entry is read."""
    size, seen, stored_bytes = os.path.getsize(archive), set(), 0
    for entry in stored.infolist():
        wrong = None
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            wrong = "is compressed or encrypted; expected plain, uncompressed files, as `make archive` stores them"
        elif entry.file_size > size or entry.file_size != entry.compress_size:
            wrong = f"states a size of {entry.file_size} bytes but stores {entry.compress_size}; the archive has {size}"
        elif (stored_bytes := stored_bytes + entry.file_size) > size:
            wrong = "shares its bytes with another one"
        elif FOREIGN.search(entry.orig_filename) or posixpath.normpath(entry.filename) != entry.filename:
            wrong = "has a path that leaves the folder, or is not normalised"
        elif entry.filename in seen:
            wrong = "occurs twice"
        elif entry.date_time != date:
            wrong = "is dated {}-{:02}-{:02}".format(*entry.date_time) + (
                "; expected {}-{:02}-{:02}, the date of the release in this checkout's CITATION.cff".format(*date)
            )
        if wrong:
            remedy = "do not use the archive, or check out the release that it belongs to"
            raise InputError(f"entry {entry.orig_filename!r} {wrong}", path=archive, remedy=remedy)
        seen.add(entry.filename)


def _describe(archive, stored, name):
    """Return the size and sha256 of an entry, read in pieces."""
    digest, size = hashlib.sha256(), 0
    try:
        with stored.open(name) as stream:
            while piece := stream.read(PIECE):
                digest.update(piece)
                size += len(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{name} is damaged ({error})", path=archive, remedy="get the archive again") from error
    return size, digest.hexdigest()


def _check_list(archive, stored, contents):
    """Compare the sha256 of each entry with the archive's own list."""
    if crate.LIST not in contents:
        raise InputError(f"has no {crate.LIST}", path=archive, expected="an archive written by `make archive`")
    text = stored.read(crate.LIST)
    found = crate.format_list(contents)
    if text == found.encode():
        return
    listed, actual = (
        {line.partition("  ")[2]: line.partition("  ")[0] for line in one.splitlines()}
        for one in (text.decode(errors="replace"), found)
    )
    for name in sorted(listed.keys() | actual.keys()):
        if name not in actual:
            remedy = "get the archive again"
            raise InputError(f"{name or 'a file'} of {crate.LIST} is missing", path=archive, remedy=remedy)
        if name not in listed:
            raise InputError(f"{name} is not in {crate.LIST}", path=archive, remedy="do not use the archive")
        if listed[name] != actual[name]:
            raise InputError(
                f"{name} has sha256 {actual[name]}",
                path=archive,
                expected=f"{listed[name]}, as {crate.LIST} says",
                remedy="the archive is damaged or forged: do not use it",
            )
    raise InputError(f"{crate.LIST} is not in the format of sha256sum", path=archive, remedy="do not use the archive")


def _check_form(archive, stored, date):
    """Store the entries again and compare the bytes of the two zip files."""
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "again.zip"
        crate.write_entries(again, sorted(stored.namelist()), stored.read, date)
        with open(archive, "rb") as one, open(again, "rb") as other:
            for place in itertools.count(0, PIECE):
                first, second = one.read(PIECE), other.read(PIECE)
                if first != second:
                    place += next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
                    raise InputError(
                        "contains bytes that belong to no file",
                        path=archive,
                        byte=place,
                        expected="the zip file that `make archive` writes for these files",
                        remedy="do not use the archive",
                    )
                if not first:
                    return


def _compare_metadata(stored, contents, citation, code):
    """Return the verdict on the metadata, which must equal what `make archive` writes for the archive's files."""
    listed = {name: one for name, one in contents.items() if name not in (crate.LIST, crate.METADATA)}
    if missing := sorted({crate.METADATA, *crate.ENVIRONMENT, crate.WORKFLOW} - contents.keys()):
        return "different", f"{missing[0]} is not in the archive"
    with contextlib.suppress(KeyError, ValueError):
        code = _read_code(stored.read(crate.CODE))
    if stored.read(crate.METADATA) == crate.format_json(crate.describe_crate(listed, citation, code)):
        return "equal", ""
    return "different", "is not what `make archive` writes for the archive's files and this checkout's CITATION.cff"


def _compare(stored, contents, name, here, code, tolerance):
    """Return the verdict on one file; a file that this checkout lacks is read only if it describes code or a run."""
    if name not in contents:
        if name in MANIFESTS:
            return "not compared", "is not in the archive; it describes one run"
        return "different", "is not in the archive"
    if name == crate.CODE:
        return _compare_code(stored.read(name), code)
    if name in MANIFESTS:
        return _compare_manifest(stored.read(name), here and here.read_bytes(), contents, MANIFESTS[name])
    if here is None:
        made = next((f": `{command}` makes it" for folder, command in MADE_BY.items() if name.startswith(folder)), "")
        return "different", f"is missing in this checkout{made}"
    return compare_contents(name, stored.read(name), here.read_bytes(), tolerance)


def _read_code(text):
    """Read the content of ``code.json``; raise a ValueError if `make archive` did not write it."""
    code = _read_object(text)
    if crate.format_json(code) != text or code.keys() != {"sources", "revision", "directory"}:
        raise ValueError(f"is not a description of code: {text[:60]!r}")
    if not all(isinstance(one, str | None) for one in code.values()):
        raise ValueError("an identifier is neither text nor null")
    return code


def _compare_code(text, here):
    """Return the verdict on the sources that made the results, and on the commit if this is a git checkout."""
    try:
        code = _read_code(text)
    except ValueError as error:
        return "different", f"cannot be used: {error}"
    if code["sources"] != here["sources"]:
        return "different", "made by sources other than those of this checkout"
    if code == here:
        return "equal", ""
    if here["revision"] is None:
        return "not compared", f"made by the same sources; commit {code['revision']}, but this is not a git checkout"
    return "different", f"made by the same sources at {code['revision']}; this checkout is at {here['revision']}"


def _compare_manifest(text, here, contents, command):
    """Return the verdict on a manifest: its outputs are compared with the archive, its inputs and settings with those
    of this checkout's manifest."""
    try:
        manifest = _read_object(text)
        outputs = {name: (one["bytes"], one["sha256"]) for name, one in manifest["outputs"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return "different", f"cannot be used ({type(error).__name__}: {error})"
    try:
        known = _read_object(here) if here is not None else manifest
    except ValueError as error:
        return "different", f"this checkout's cannot be used ({error}): `{command}` writes it again"
    if wrong := sorted(name for name, one in outputs.items() if contents.get(name, one) != one):
        listed, stored = ("{} bytes, sha256 {}".format(*each[wrong[0]]) for each in (outputs, contents))
        return "different", f"lists {wrong[0]} with {listed}; the archive has {stored}"
    parts = (known.keys() | manifest.keys()) - OF_A_RUN
    if wrong := sorted(part for part in parts if known.get(part) != manifest.get(part)):
        return "different", f"differs from this checkout's in: {', '.join(wrong)}"
    if here is None:
        return "not compared", f"this checkout has none: `{command}` writes it"
    return "not compared", "times, versions and platform of one run; its other parts are those of this checkout"


def _read_object(text):
    """Read a JSON object; raise a ValueError if the text is not one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({type(error).__name__})") from error
    if not isinstance(found, dict):
        raise ValueError(f"is a {type(found).__name__}, not an object")
    return found
