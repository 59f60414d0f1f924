"""Get registered external files from a mirror folder or by download; few of them are shipped.

The register (``data/external.yaml``) names each file by its path below a mirror folder and below the download folder;
a compressed copy has the additional suffix ``.xz`` or ``.zst``. A file is used only if its sha256 (of the decompressed
content, for a compressed copy) is the registered one. ``make reproduce`` calls `fetch_all` before the workflow starts,
and uses archived tables where a file cannot be obtained; ``python -m misspenalty.io.external classics`` gets every file
of a study, or fails. An interrupted download is resumed. A file with the key ``pack`` is made from a folder of its
repository; an archive of the registered commit is downloaded for this.
"""

import hashlib
import importlib
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pydantic

from misspenalty.errors import InputError, MissPenaltyError
from misspenalty.io.documents import read_yaml
from misspenalty.io.files import atomic_path

MIRROR = "MISSPENALTY_MIRROR"  # environment variable that names the mirror folder
CHUNK = 1 << 20  # bytes
TIMEOUT_S = (5, 30)  # maximum waiting times for a connection and for the next part of an answer, s
COMPRESSED = {  # functions that open a compressed copy, by the suffix added to its registered name
    ".xz": lzma.open,
    ".zst": lambda path: pa.CompressedInputStream(pa.OSFile(os.fsencode(path)), "zstd"),
}


class ExternalFile(pydantic.BaseModel):
    """One registered file."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    studies: tuple[str, ...]  # the studies that read it
    repository: str = pydantic.Field(pattern=r"^[\w.-]+/[\w.-]+$")  # owner and name on GitHub
    commit: str = pydantic.Field(pattern=r"^[0-9a-f]{40}$")
    path: str = pydantic.Field(min_length=1)  # path within the repository
    bytes: int = pydantic.Field(gt=0)
    sha256: str = pydantic.Field(pattern=r"^[0-9a-f]{64}$")
    licence: str = pydantic.Field(min_length=1)  # licence as the repository states it
    citation: str = pydantic.Field(min_length=1)
    shipped: str | None = None  # path of the (compressed) copy in this repository, if the licence allows one
    pack: str | None = None  # the function that makes the file from the folder `path` of the repository

    @property
    def url(self):
        """Address of the file at its commit; for a packed file, that of the commit's archive."""
        if self.pack:
            return f"https://codeload.github.com/{self.repository}/tar.gz/{self.commit}"
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{self.path}"


@dataclass(frozen=True)
class Register:
    """The registered files, and the folders that may contain them.

    Attributes
    ----------
    files : dict of str to ExternalFile
        The entries, by path below the mirror folder and below the download folder.
    downloads : Path
    mirror : Path or None
    """

    files: dict
    downloads: Path
    mirror: Path | None = None

    def find(self, name):
        """Return the verified local copy of a file, or None if there is none.

        Raises
        ------
        InputError
            The file is not registered, or a copy cannot be read or differs from the registered file.
        """
        entry = self._entry(name)
        for folder in filter(None, (self.mirror, self.downloads)):
            for suffix in ("", *COMPRESSED):
                path = folder / f"{name}{suffix}"
                if path.is_file():
                    if _sha256(path, COMPRESSED.get(suffix, _open)) != entry.sha256:
                        raise InputError("differs from the registered file", path=path,
                                         expected=f"sha256 {entry.sha256}",
                                         remedy="delete it, or name another mirror folder")  # fmt: skip
                    return path
        return None

    def of_study(self, study):
        """Return the names of a study's files."""
        return [name for name, entry in self.files.items() if study in entry.studies]

    def missing(self, study):
        """Return the names of a study's files that have no local copy."""
        return [name for name in self.of_study(study) if self.find(name) is None]

    def fetch(self, name):
        """Return the verified local copy of a file, after downloading it if there is none.

        Raises
        ------
        InputError
            The file is not registered or cannot be downloaded, or its copy differs from the registered file.
        """
        path, entry = self.find(name), self._entry(name)
        if path is not None:
            return path
        if entry.pack:
            return packed(entry, self.downloads / name)
        return download(entry.url, entry.sha256, self.downloads / name)

    def _entry(self, name):
        if name not in self.files:
            raise InputError(f"no external file {name!r} is registered", expected=", ".join(self.files))
        return self.files[name]


def fetch_all(register, report=lambda text: None):
    """Get every registered file that is neither shipped nor on this machine; skip those that cannot be obtained.

    Parameters
    ----------
    register : Register
    report : callable
        Called with a line about the progress before each file is fetched.

    Returns
    -------
    dict of str to str
        The reasons why files cannot be obtained, by the files' names. Once a host cannot be reached, its remaining
        files are not tried.

    Raises
    ------
    InputError
        A local copy cannot be read or differs from the registered file.
    """
    names = [name for name, entry in register.files.items() if not entry.shipped and register.find(name) is None]
    failed, unreachable = {}, {}
    for number, name in enumerate(names, 1):
        entry = register.files[name]
        host = urlsplit(entry.url).hostname
        if host in unreachable:
            failed[name] = unreachable[host]
            continue
        report(f"fetching registered file {number} of {len(names)}: {name}, {entry.bytes / 1e6:.1f} MB")
        try:
            register.fetch(name)
        except InputError as error:
            if _cannot_connect(error):
                unreachable[host] = f"{host} cannot be reached"
            failed[name] = unreachable.get(host, str(error))
    return failed


def _cannot_connect(error):
    """Return whether a download failed because the host could not be reached or did not answer in time."""
    import requests

    return isinstance(error.__cause__, requests.ConnectionError | requests.Timeout)


def open_register(path="data/external.yaml", *, mirror=None):
    """Read the register; files are downloaded to the folder ``external`` next to it.

    Parameters
    ----------
    path : path-like
    mirror : path-like, optional
        Folder with copies under their registered names; by default the value of `MISSPENALTY_MIRROR`, if set.

    Returns
    -------
    Register

    Raises
    ------
    InputError
        The register is missing or not valid, or the mirror is not a folder.
    """
    path = Path(path)
    data = read_yaml(path, "a register of external files")
    if not isinstance(data, dict):
        raise InputError("is not a register of external files", path=path, expected="a mapping from names to entries")
    files = {}
    for name, entry in data.items():
        try:
            files[name] = ExternalFile.model_validate(entry)
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            raise InputError(f"{place}: {first['msg']}", path=path) from error
    mirror = mirror or os.environ.get(MIRROR)
    if mirror and not Path(mirror).is_dir():
        raise InputError("the mirror of external data is not a folder", path=mirror,
                         remedy=f"correct `mirror` in the configuration or {MIRROR}, or leave both out")  # fmt: skip
    return Register(files, path.parent / "external", Path(mirror) if mirror else None)


def download(url, sha256, path, partial=None):
    """Download a file, or the rest of a partial download, and verify it.

    Parameters
    ----------
    url, sha256 : str
    path : path-like
    partial : path-like, optional
        The file that keeps a partial download; by default, ``<name>.part`` next to `path`.

    Raises
    ------
    InputError
        The file cannot be downloaded, or its content is not the registered one.
    """
    import pooch  # imported only here, since the import takes longer than most commands

    path = Path(path)
    partial = Path(partial or path.with_name(path.name + ".part"))
    pooch.get_logger().setLevel("WARNING")  # do not announce every download
    for folder in (path.parent, partial.parent):
        folder.mkdir(parents=True, exist_ok=True)

    def resume(url, output_file, _):
        _download_rest(url, partial)
        shutil.copyfile(partial, output_file)

    try:
        pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=resume)
    except OSError as error:
        remedy = f"try again (what has arrived is kept), or set {MIRROR} to a folder with copies"
        raise InputError(f"cannot be downloaded: {error}", path=url, remedy=remedy) from error
    except ValueError as error:  # raised if the hash of the download is not the registered one
        partial.unlink(missing_ok=True)
        remedy = "the file has changed at its source; name a mirror folder that has it"
        raise InputError(
            "differs from the registered file", path=url, expected=f"sha256 {sha256}", remedy=remedy
        ) from error
    partial.unlink(missing_ok=True)
    return path


def packed(entry, path):
    """Download the archive of an entry's commit, make the registered file from its folder, and verify it.

    Raises
    ------
    InputError
        The archive cannot be downloaded or unpacked, or lacks the entry's folder, or the file made from it is not the
        registered one.
    """
    module, _, function = entry.pack.rpartition(".")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    archive = path.with_name(path.name + ".tar.gz.part")  # kept until complete, so that the download can be resumed
    with tempfile.TemporaryDirectory(prefix="misspenalty-", dir=path.parent) as folder:
        remedy = f"try again, or set {MIRROR} to a folder with a copy"
        try:
            _download_rest(entry.url, archive)
        except OSError as error:
            raise InputError(f"cannot be downloaded: {error}", path=entry.url, remedy=remedy) from error
        try:
            _unpack(archive, folder)
        except (OSError, tarfile.TarError, zlib.error, EOFError) as error:
            raise InputError(f"cannot be unpacked: {error}", path=entry.url, remedy=remedy) from error
        finally:
            archive.unlink(missing_ok=True)
        found = [part / entry.path for part in Path(folder).iterdir() if (part / entry.path).is_dir()]
        if not found:
            raise InputError(f"the archive has no folder {entry.path}", path=entry.url)
        with atomic_path(path) as partial:
            getattr(importlib.import_module(module), function)(found[0], partial)
            if _sha256(partial) != entry.sha256:
                remedy = f"the files have changed at their source; set {MIRROR} to a folder with a copy"
                raise InputError(
                    "differs from the registered file", path=path, expected=f"sha256 {entry.sha256}", remedy=remedy
                )
    return path


def _unpack(archive, folder):
    """Unpack the files and folders of a .tar.gz file, but nothing outside `folder`."""
    with tarfile.open(archive, "r:gz") as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(folder, filter="data")
        else:  # tarfile has no filters before Python 3.11.4
            inside = Path(folder).resolve()
            plain = [one for one in packed if one.isreg() or one.isdir()]
            packed.extractall(folder, [one for one in plain if (inside / one.name).resolve().is_relative_to(inside)])


def _download_rest(url, partial):
    import requests

    have = partial.stat().st_size if partial.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # the rest of a compressed answer could not be appended
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as answer:
        if have and answer.status_code == requests.codes.requested_range_not_satisfiable:
            return  # the file was already complete
        answer.raise_for_status()
        resumed = answer.status_code == requests.codes.partial_content
        with open(partial, "ab" if resumed else "wb") as stream:
            for chunk in answer.iter_content(CHUNK):
                stream.write(chunk)


def open_copy(path):
    """Open a file as a binary stream, decompressed according to its suffix (``.xz``, ``.zst``)."""
    return COMPRESSED.get(Path(path).suffix, _open)(path)


def _open(path):
    return open(path, "rb")


def _sha256(path, opened=_open):
    try:
        with opened(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (EOFError, lzma.LZMAError, OSError, pa.ArrowException) as error:
        raise InputError(
            f"cannot be read: {error}", path=path, remedy="delete it, or name another mirror folder"
        ) from error


def main(arguments):
    """Fetch the files of the named studies; return 0 if all of them are available, 2 after an error."""
    try:
        register = open_register()
        known = sorted({study for entry in register.files.values() for study in entry.studies})
        if not arguments or not set(arguments) <= set(known):
            raise InputError("name the studies whose files to fetch", expected=" or ".join(known))
        for study in arguments:
            for name in register.of_study(study):
                print(register.fetch(name))
    except MissPenaltyError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
