"""What each claim rests on: the line of code that decides it, the rows that it reads, the figures that show them."""

import inspect
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from misspenalty.claims.recorder import Recorder
from misspenalty.claims.report import Study
from misspenalty.studies.claims import STUDIES, read_tables, table_files

AT_ONCE = 60  # rows of a table that one process is given


@dataclass
class Reading:
    """What one claim rests on.

    Attributes
    ----------
    path, line : str, int
        Of the line that records it; the path is relative to the folder that holds the package.
    rows : dict of str to list of int
        By path of a result table relative to the results, the rows that the claim reads, counted from 0.
    """

    path: str
    line: int
    rows: dict = field(default_factory=dict)


def readings(results, studies=STUDIES):
    """What the claims of some studies rest on.

    A row belongs to a claim if the claim has no answer without it: each row of each table that claims read is taken
    away in turn.

    Parameters
    ----------
    results : path-like
        Folder of the result tables.
    studies : mapping of str to module
        By name, what each study says of its claims.

    Returns
    -------
    dict of str to Reading
        By claim.
    """
    found, files = {}, table_files(studies=studies)
    for name, module in studies.items():
        study = _study(results, name, module)
        found |= lines(module, study.frames)
        for item in module.TABLES:
            path = files[f"{name}_{item}"]
            rows = len(read_tables(results, studies={name: module}).get(f"{name}_{item}", ()))
            tasks = [(results, name, module.__name__, item, range(at, min(at + AT_ONCE, rows))) for at in range(0, rows, AT_ONCE)]
            with ProcessPoolExecutor() as pool:
                for row, claims in (pair for part in pool.map(_readers, tasks) for pair in part):
                    for claim in claims:
                        found[claim].rows.setdefault(path, []).append(row)
    return found


def _study(results, name, module):
    return Study(name, module, read_tables(results, studies={name: module}), variant=False)


def _readers(task):
    """Which claims read each of some rows of a table."""
    results, name, module, item, rows = task
    study = _study(results, name, sys.modules.get(module) or __import__(module, fromlist=["claims"]))
    columns = list(study.module.TABLES[item].values)
    return [(row, sorted(study.losing([(item, [row], columns)]))) for row in rows]


class _Lines(Recorder):
    """A recorder that notes from where it is called."""

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
    """Where a study records its claims.

    Parameters
    ----------
    module : module
        What the study says of its claims.
    frames : dict of str to DataFrame
        Its result tables, see `misspenalty.claims.report.Study`.

    Returns
    -------
    dict of str to Reading
        By claim, without rows.
    """
    recorder = _Lines(module)
    with np.errstate(all="ignore"):
        module.claims(recorder, dict(frames))
    root = next(parent for parent in Path(recorder.file).parents if parent.name == "misspenalty").parent
    return {claim: Reading(Path(path).relative_to(root).as_posix(), line) for claim, (path, line) in recorder.at.items()}
