"""Find what decides each claim, for the pages of the site: the line of code that records the claim, and the rows of the
result tables that the claim reads.
"""

import importlib
import inspect
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, StringConstraints

import misspenalty_studies
from misspenalty.io.files import atomic_path
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.recorder import Recorder
from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.reporting.jobs import read_tables

AT_ONCE = 20  # rows of a table that one process examines at a time


class Reading(BaseModel):
    """The line of code that decides a claim, and the rows that the claim reads.

    Attributes
    ----------
    path, line : str, int
        Source and line that record the claim; the path is relative to the checkout.
    rows : dict of str to list of int
        By item of the study's result tables, the rows that the claim reads, counted from 0.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    path: Annotated[str, StringConstraints(pattern=r"^(\w+/)+\w+\.py$")]
    line: int
    rows: dict[Annotated[str, StringConstraints(pattern=r"^\w+$")], list[int]]


def write_readings(study, tables, out, *, threads=1):
    """Write the `readings` of a study's claims to a file.

    Parameters
    ----------
    study : str
        One of `misspenalty_studies.common.judge.STUDIES`.
    tables : mapping of str to str
        Paths of the study's result tables by item.
    out : path-like
        JSON: by claim, a mapping with the attributes of `Reading`.
    threads : int
        Number of processes that share the work.
    """
    found = readings(STUDIES[study], read_tables(dict(tables)), threads=threads)
    with atomic_path(Path(out)) as partial:
        partial.write_text(json.dumps({claim: one.model_dump() for claim, one in found.items()}, indent=1) + "\n")


def readings(module, tables, *, threads=1):
    """Find the line of code and the rows that each claim of a study is based on.

    A claim reads a row if it cannot be decided without that row. The rows of each table are therefore blanked, in
    groups and then, if a claim reads any row of a group, one by one; all claims are decided again each time.

    Parameters
    ----------
    module : module
        The study's `claims` module.
    tables : mapping of str to DataFrame
        The study's result tables by item; tables that have not been made are absent.
    threads : int
        Number of processes that share the work.

    Returns
    -------
    dict of str to Reading
        By claim.
    """
    study = _study(module, tables)
    found = lines(module, study.frames)
    tasks = [
        (item, range(at, min(at + AT_ONCE, len(tables[item]))))
        for item in module.TABLES
        if item in tables
        for at in range(0, len(tables[item]), AT_ONCE)
    ]
    with ProcessPoolExecutor(threads, initializer=_begin, initargs=(module.__name__, tables)) as pool:
        for (item, _), part in zip(tasks, pool.map(_readers, tasks), strict=True):
            for row, claims in part:
                for claim in claims:
                    found[claim].rows.setdefault(item, []).append(row)
    return found


def _study(module, tables):
    return Decided("", module, {f"_{item}": frame for item, frame in tables.items()}, variant=False)


def _begin(module, tables):
    """Load the study that this process examines."""
    global _LOOKED_AT
    _LOOKED_AT = _study(importlib.import_module(module), tables)


def _readers(task):
    """Return pairs of a row and the claims that read it, for some rows of a table."""
    item, rows = task
    columns = list(_LOOKED_AT.module.TABLES[item].values)
    if not _LOOKED_AT.losing([(item, list(rows), columns)]):  # no claim reads any of these rows
        return []
    return [(row, sorted(_LOOKED_AT.losing([(item, [row], columns)]))) for row in rows]


class _Lines(Recorder):
    """A recorder that notes the line of code from which each claim is recorded."""

    def __init__(self, module):
        super().__init__()
        self.file, self.at = inspect.getfile(module), {}
        self.folder = str(Path(self.file).parent)

    def _add(self, claim, form, report=None):
        super()._add(claim, form, report)
        frame = inspect.currentframe()
        while frame and not frame.f_code.co_filename.startswith(self.folder):
            frame = frame.f_back
        self.at[claim] = (frame.f_code.co_filename, frame.f_lineno) if frame else (self.file, 1)


def lines(module, frames):
    """Find the lines at which a study records its claims.

    Parameters
    ----------
    module : module
        The study's `claims` module.
    frames : dict of str to DataFrame
        The study's tables, see the attribute `frames` of `misspenalty_studies.common.claims.decided.Decided`.

    Returns
    -------
    dict of str to Reading
        By claim, without rows.
    """
    recorder = _Lines(module)
    with np.errstate(all="ignore"):
        module.claims(recorder, dict(frames))
    return {
        claim: Reading.model_construct(path=_in_checkout(path), line=line, rows={})
        for claim, (path, line) in recorder.at.items()
    }


def _in_checkout(path):
    """Return the path within the checkout of one of the package's sources; return other paths unchanged."""
    package = Path(misspenalty_studies.__file__).parent
    return f"studies/{Path(path).relative_to(package).as_posix()}" if Path(path).is_relative_to(package) else str(path)
