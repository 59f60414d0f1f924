"""Write the results of a checkout as one zip file, a Workflow Run RO-Crate whose bytes depend only on its files."""

import datetime
import hashlib
import json
import mimetypes
import zipfile
from pathlib import Path

from rocrate.model.contextentity import ContextEntity
from rocrate.model.person import Person
from rocrate.rocrate import ROCrate

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml
from misspenalty.io.files import atomic_path
from misspenalty_studies.common.reporting.provenance import Sources, file_digest, git, git_commit

METADATA = "ro-crate-metadata.json"
LIST = "SHA256SUMS"  # lists all other files of the archive, for `sha256sum -c`
CODE = "code.json"
WORKFLOW = "workflow/Snakefile"
RESULTS = (
    *("*.csv", "*/*.csv", "*/*.png", "*/*.svg", "*/*.pdf"),
    *("overview.png", "paper.pdf", "supplement.pdf", "index.json"),
)
MADE_ELSEWHERE = ("bench", "benchmarks", "logs", "notebooks", "site", "traces")  # folders that belong to no study
ENVIRONMENT = ("CITATION.cff", "LICENSE", "README.md", "Snakefile", "requirements.lock", "config/config.yaml")
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
TYPES = {
    "": "text/plain",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".smk": "text/plain",
    ".yaml": "application/yaml",
}


def result_files(root="."):
    """Return the results of a checkout that are archived and compared: tables, figures, claims, the index and the
    paper.

    Parameters
    ----------
    root : path-like, optional
        The checkout.

    Returns
    -------
    list of str
        Paths relative to `root`, sorted; empty if there are no results.
    """
    results = Path(root) / "results"
    found = {path for pattern in RESULTS for path in results.glob(pattern) if path.is_file()}
    return sorted(
        path.relative_to(root).as_posix()
        for path in found
        if path.relative_to(results).parts[0] not in MADE_ELSEWHERE and not path.name.startswith(".")
    )


def archived_files(root="."):
    """Return all files of a checkout that go into an archive: results, site, manifests, workflow and environment.

    The site and the manifests are archived if they exist. Parameters and result are the same as for `result_files`.

    Raises
    ------
    InputError
        There are no results, or a file that every archive contains is missing.
    """
    root = Path(root)
    results = result_files(root)
    if "results/claims.csv" not in results:
        raise InputError("no such file", path=root / "results" / "claims.csv", remedy="run `make reproduce` first")
    for name in (*ENVIRONMENT, WORKFLOW):
        if not (root / name).is_file():
            raise InputError("no such file", path=root / name, expected="the root of a checkout")
    further = [*(root / "results").glob("manifest*.json"), *(root / "results" / "site").rglob("*")]
    further += [path for path in (root / "workflow").rglob("*") if "__pycache__" not in path.parts]
    further += sorted((root / "studies").glob("*/*.smk"))
    return sorted({*results, *ENVIRONMENT, *(p.relative_to(root).as_posix() for p in further if p.is_file())})


def describe_code(root="."):
    """Return the digest of the package's sources and, in a git checkout, the Software Heritage identifiers of its
    commit.

    Returns
    -------
    dict
        ``sources`` (sha256 of the running package's sources), ``revision`` and ``directory`` (SWHIDs, None if `root` is
        not the top folder of a git checkout).
    """
    found = git_commit(root)
    revision = found and found["commit"]
    tree = revision and git(root, "rev-parse", f"{revision}^{{tree}}")
    return {
        "sources": Sources().digest(),
        "revision": f"swh:1:rev:{revision}" if revision else None,
        "directory": f"swh:1:dir:{tree}" if tree else None,
    }


def describe_crate(contents, citation, code):
    """Return the metadata of the archive, with the size and sha256 of each file.

    Parameters
    ----------
    contents : dict of str to tuple of (int, str)
        Size in bytes and sha256 of each file, by its path in the archive.
    citation : dict
        Content of CITATION.cff: title, abstract, version, date, licence, authors, keywords.
    code : dict
        From `describe_code`.

    Returns
    -------
    dict
        JSON-LD, in an order that depends only on the parameters.
    """
    crate = ROCrate(version="1.1")  # the version on which the profiles are based
    date = str(citation["date-released"])
    crate.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run/context")
    for path, (size, digest) in sorted(contents.items()):
        properties = {
            "name": path,
            "contentSize": str(size),
            "sha256": digest,
            "encodingFormat": TYPES.get(Path(path).suffix)
            or mimetypes.guess_type(path, strict=True)[0]
            or "application/octet-stream",
        }
        if path == WORKFLOW:
            workflow = crate.add_workflow(None, WORKFLOW, main=True, lang="snakemake", properties=properties)
        else:
            crate.add_file(
                None, path, properties=properties | ({"about": {"@id": "./"}} if path == "README.md" else {})
            )
    licence = ContextEntity(
        crate,
        f"https://spdx.org/licenses/{citation['license']}",
        properties={"@type": "CreativeWork", "name": citation["license"]},
    )
    authors = [
        Person(crate, f"#author-{number}", properties={"name": author["name"]})
        for number, author in enumerate(citation["authors"], 1)
    ]
    profiles = [
        ContextEntity(crate, address, properties={"@type": "CreativeWork", "name": name, "version": version})
        for address, (name, version) in PROFILES.items()
    ]
    bioschemas = ContextEntity(
        crate, BIOSCHEMAS, properties={"@type": "CreativeWork", "name": "Bioschemas ComputationalWorkflow"}
    )
    run = ContextEntity(
        crate,
        "#run",
        properties={
            "@type": "CreateAction",
            "name": f"Run of {citation['title']} {citation['version']}",
            "description": "All tables, figures, claims and the paper, made from the captures by `make supplement`.",
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    crate.add(licence, *authors, *profiles, bioschemas, run)
    run["instrument"], run["agent"] = workflow, authors[0]
    run["object"] = [crate.dereference(name) for name in ("config/config.yaml", "requirements.lock")]
    run["result"] = [crate.dereference(name) for name in sorted(contents) if name.startswith("results/")]
    identifiers = [f"sha256:{code['sources']}", code["revision"], code["directory"]]
    workflow["identifier"] = [one for one in identifiers if one]
    authors = authors[0] if len(authors) == 1 else authors
    workflow["version"], workflow["license"], workflow["creator"] = citation["version"], licence, authors
    workflow["conformsTo"] = bioschemas
    root = crate.root_dataset
    root["name"] = f"{citation['title']} {citation['version']}: results"
    root["description"] = citation["abstract"]
    root["version"], root["keywords"] = citation["version"], ", ".join(citation["keywords"])
    root["datePublished"], root["license"], root["author"] = date, licence, authors
    root["conformsTo"], root["mentions"] = profiles, run
    described = crate.metadata.generate()
    described["@graph"].sort(key=lambda entity: entity["@id"])
    return described


def write_archive(path, root="."):
    """Write the archive of a checkout's results.

    Files are stored uncompressed, sorted and with a fixed date. Equal files therefore make equal archives with any
    version of Python and of its compression library.

    Parameters
    ----------
    path : path-like
        The zip file.
    root : path-like, optional
        The checkout.

    Returns
    -------
    int
        Number of files in the archive.

    Raises
    ------
    InputError
        There are no results, a file that every archive contains is missing, CITATION.cff cannot be read or lacks a
        value, or the zip file cannot be written.
    """
    root = Path(root)
    names = archived_files(root)
    citation, code = read_citation(root), describe_code(root)
    written = {CODE: format_json(code)}
    contents = {name: ((root / name).stat().st_size, file_digest(root / name)) for name in names}
    contents |= {CODE: _describe(written[CODE])}
    written[METADATA] = format_json(describe_crate(contents, citation, code))
    written[LIST] = format_list(contents | {METADATA: _describe(written[METADATA])}).encode()
    with atomic_path(path) as partial:
        write_entries(
            partial,
            sorted([*names, *written]),
            lambda name: written[name] if name in written else (root / name).read_bytes(),
            release_date(citation),
        )
    return len(names) + len(written)


def write_entries(path, names, read, date):
    """Write a zip file in the only form that is valid for an archive.

    Parameters
    ----------
    path : path-like
    names : iterable of str
    read : callable
        Returns the bytes of a file by its name.
    date : tuple of int
        Year, month, day, hour, minute and second of all files.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, date)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, read(name))


def format_list(contents):
    """Return the text of ``SHA256SUMS``, which does not list itself.

    Examples
    --------
    >>> print(format_list({"b.csv": (1, "2f"), "a.csv": (0, "e3"), "SHA256SUMS": (9, "77")}), end="")
    e3  a.csv
    2f  b.csv
    """
    return "".join(f"{digest}  {name}\n" for name, (_, digest) in sorted(contents.items()) if name != LIST)


def format_json(value):
    """Return a value as the bytes of a JSON file, which depend only on the value.

    Examples
    --------
    >>> print(format_json({"b": "é", "a": None}).decode(), end="")
    {
     "a": null,
     "b": "é"
    }
    """
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _describe(data):
    return len(data), hashlib.sha256(data).hexdigest()


def release_date(citation):
    """Return the date of the release as the time stamp of a zip entry, at midnight."""
    return (*datetime.date.fromisoformat(str(citation["date-released"])).timetuple()[:3], 0, 0, 0)


def read_citation(root="."):
    """Read a checkout's CITATION.cff.

    Raises
    ------
    InputError
        The file cannot be read, or a value that the archive's metadata need is missing, empty or malformed.
    """
    path = Path(root) / "CITATION.cff"
    found = read_yaml(path, "the root of a checkout")
    try:
        datetime.date.fromisoformat(str(found["date-released"]))
        used = {key: found[key] for key in ("title", "abstract", "version", "license", "keywords")}
        if not all(used.values()) or not all(author["name"] for author in found["authors"]):
            raise ValueError("a value is empty")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"cannot be used ({type(error).__name__}: {error})",
            path=path,
            expected="title, abstract, version, date-released, license, keywords and authors with a name",
        ) from error
    return found
