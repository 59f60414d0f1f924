"""Decide which archived tables `make reproduce` keeps instead of making them again.

These tables say what else was tried: verdicts under other conditions, the best that foresight could do, and what-ifs.
The paper reads them, but no claim is judged by them, and they take a third of the time. `make supplement` always makes
them. `make reproduce` makes those of a study only if the archived ones do not fit: ``results/kept.csv`` has the SHA-256
of each, and a digest of the code, settings and files that it was made from. If both are still the same, making it again
would give the same bytes.

Snakemake itself keeps tables that fit for every target, unless the environment variable ``MISSPENALTY_KEEP`` is ``no``.
"""

import csv
import hashlib
import json
import os
import re

import pandas as pd

from misspenalty.errors import InputError, ParameterError
from misspenalty_studies.common.reporting.provenance import describe_files, file_digest

COLUMNS = ["study", "file", "sha256", "made_from"]
TABLE = "results/kept.csv"
SWITCH = "MISSPENALTY_KEEP"
_OF_STUDY = re.compile(r"results/(\w+)/")


def keeping():
    """Tell whether tables that fit are kept.

    Raises
    ------
    ParameterError
        The environment variable ``MISSPENALTY_KEEP`` is neither empty, ``yes`` nor ``no``.
    """
    switch = os.environ.get(SWITCH, "")
    if switch not in ("", "yes", "no"):
        raise ParameterError(f"{SWITCH}={switch}: give yes (keep archived tables that fit) or no")
    return switch != "no"


def read_from(study, plans):
    """Return a study and all studies whose results it reads, directly or indirectly, sorted.

    Parameters
    ----------
    study : str
    plans : dict of str to Plan
        What each study declares, see `misspenalty_studies.common.plan`.

    Examples
    --------
    >>> from misspenalty_studies.common.plan import Plan
    >>> plans = {name: Plan(name, None) for name in ("hac", "mq", "whatif")}
    >>> plans["whatif"].read.append("results/mq/fig7.csv")
    >>> read_from("whatif", plans), read_from("mq", plans)
    (['mq', 'whatif'], ['mq'])
    """
    found, waiting = set(), [study]
    while waiting:
        name = waiting.pop()
        found.add(name)
        named = {match[1] for path in plans[name].inputs() if (match := _OF_STUDY.match(path))}
        waiting += (named & plans.keys()) - found
    return sorted(found)


def made_from(study, plans, config, codes=(), files=()):
    """Return the digest of the code, settings and files that the tables of a study are made from.

    Parameters
    ----------
    study : str
    plans : dict of str to Plan
    config : dict
        The settings. Those of studies whose results this one does not read are left out, and so are those that say
        where files are found.
    codes : iterable of str
        Digests of code that makes the tables besides the study's jobs: the code that judges claims.
    files : iterable of str
        Files from which the tables are made besides those that the studies read: rules, scripts, the ledger.

    Returns
    -------
    str
        SHA-256.

    Raises
    ------
    InputError
        A file does not exist.
    """
    studies = read_from(study, plans)
    others = plans.keys() - set(studies)
    settings = {key: value for key, value in config.items() if key not in {"mirror", "traces", *others}}
    jobs = [e["job"] for name in studies for e in plans[name].tables]
    jobs += [one.job for name in studies for one in plans[name].simulations]
    read = {*files, *(path for name in studies for path in plans[name].files_read())}
    parts = [settings, sorted({one["code"] for one in jobs}), sorted(codes), describe_files(sorted(read))]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def kept_table(tables, made_from):
    """Describe the kept tables (a workflow job).

    Parameters
    ----------
    tables : sequence of str
        Their paths, ``results/<study>/<table>.csv``.
    made_from : dict of str to str
        By study, from `made_from`.

    Returns
    -------
    DataFrame
        One row per file: ``study, file, sha256, made_from``.
    """
    rows = [(study := _OF_STUDY.match(path)[1], path, file_digest(path), made_from[study]) for path in tables]
    return pd.DataFrame(rows, columns=COLUMNS)


def recorded(table=TABLE):
    """Return the SHA-256 of each kept table and the digest of what it was made from, by path.

    Parameters
    ----------
    table : path-like, optional
        The table from `kept_table`. If it cannot be read, there is no record.

    Returns
    -------
    dict of str to tuple of str
    """
    try:
        with open(table, newline="", encoding="utf-8") as stream:
            return {row["file"]: (row["sha256"], row["made_from"]) for row in csv.DictReader(stream)}
    except (OSError, KeyError, csv.Error, UnicodeDecodeError):
        return {}


def fitting(files, made_from, table=TABLE):
    """Return the studies whose archived tables are those that a run would make, sorted.

    Parameters
    ----------
    files : dict of str to sequence of str
        By study, the paths of its kept tables.
    made_from : callable
        Study -> digest, as returned by the function `made_from`. If it raises `InputError`, the tables do not fit.
    table : path-like, optional
        See `recorded`.
    """
    rows, found = recorded(table), []
    for study, paths in files.items():
        try:
            if all(rows.get(path, ("",))[0] == file_digest(path) for path in paths):
                digest = made_from(study)
                found += [study] if all(rows[path][1] == digest for path in paths) else []
        except (OSError, InputError):
            continue
    return sorted(found)
