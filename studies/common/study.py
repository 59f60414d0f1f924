"""Find all studies, and read what each declares about itself in its ``study.yaml``.

A study is a folder of ``studies`` that has a ``study.yaml``. Further files are found there by their names:
``settings.py`` (part of the configuration), ``claims.py`` and ``ledger.yaml`` (statements of the paper),
``missing_facts.yaml``, ``reasons.yaml``, ``rules.smk`` (part of the workflow), ``section.typ``, ``supplement.typ``
and ``appendix.typ`` (part of the paper), ``small.yaml`` (a run that takes seconds, for the tests), ``tables.yaml``
(part of the data dictionary).
"""

import functools
import importlib
import importlib.util
import itertools
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from misspenalty.errors import InputError, ParameterError
from misspenalty.io.documents import read_yaml
from misspenalty_studies.common.validated import validated

FOLDER = Path(__file__).parents[1]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Paper(_Entry):
    """A paper that a study is about."""

    authors: str
    title: str
    venue: str
    year: int
    doi: str | None = None


class Available(_Entry):
    """The parts of a paper and of its data that were available, and what replaced the rest."""

    read: str
    printed: str
    missing: str
    substitute: str


class Shown(_Entry):
    """A table and some claims that ARTIFACT.md names for readers who want a first look at a study."""

    table: str
    claims: tuple[str, ...]


class Study(_Entry):
    """The declarations in a study's ``study.yaml``, and the study's id.

    Attributes
    ----------
    id : str
        Name of the study's folder.
    position : int
        The study's place in the paper, on the site and in tables of all studies.
    title, short_title, name : str
        Names of the study: with venue and year; with at most 14 characters, for axes; as used in running text.
    part : {'lost', 'surviving', 'today'}
        Part of the project's paper that the study belongs to: papers whose traces are lost, papers whose traces or
        results survive, or what holds today.
    traces : str
        Origin of the traces, in one or two words.
    items : str
        Tables and figures that are reproduced.
    papers : tuple of Paper
    headline : str
        One to three sentences that say whether the paper's conclusion holds and, if not, why.
    rests_on : dict of str to str
        Verdicts that the headline rests on, by id; ``calibrated: id`` is judged in the calibrated variant.
    look_at : Shown, optional
    available : Available, optional
    """

    id: str
    position: int = Field(gt=0)
    title: str
    short_title: str = Field(max_length=14)
    name: str
    part: Literal["lost", "surviving", "today"]
    traces: str = ""
    items: str
    papers: tuple[Paper, ...] = ()
    headline: str = ""
    rests_on: dict[str, str] = {}
    look_at: Shown | None = None
    available: Available | None = None

    @property
    def folder(self):
        """The study's folder."""
        return FOLDER / self.id

    @property
    def judged(self):
        """Whether the study has claims."""
        return (self.folder / "claims.py").is_file()

    def module(self, name):
        """Import a module of the study, such as ``claims``."""
        # A name that is computed in the call would make everything in this file's folder a source (`Sources`).
        module = f"misspenalty_studies.{self.id}.{name}"
        return importlib.import_module(module)

    def settings(self):
        """Return the class of the study's settings, such as ``VlogSettings``; None if there is no ``settings.py``, or
        no such class in it."""
        if importlib.util.find_spec(f"misspenalty_studies.{self.id}.settings") is None:
            return None
        return getattr(self.module("settings"), f"{self.id.title().replace('_', '')}Settings", None)


@functools.cache
def studies():
    """Return all studies by id, in the order of their positions.

    Returns
    -------
    dict of str to Study

    Raises
    ------
    InputError
        A ``study.yaml`` is not YAML, is not a mapping, or has a wrong or missing key; the message names the file and
        the key, if there is one.
    ParameterError
        Two studies have the same position.

    Examples
    --------
    >>> list(studies())[:2]
    ['mq', 'sarc']
    >>> studies()["vlog"].papers[0].year
    1999
    """
    found = sorted((read_study(path) for path in FOLDER.glob("*/study.yaml")), key=lambda study: study.position)
    for before, after in itertools.pairwise(found):
        if before.position == after.position:
            raise ParameterError(f"the studies {before.id} and {after.id} have the same position, {after.position}")
    return {study.id: study for study in found}


def read_study(path):
    """Read one ``study.yaml``; see `studies` for errors."""
    path = Path(path)
    entries = read_yaml(path, remedy="a study.yaml is a mapping; studies/common/study.py has its keys")
    if not isinstance(entries, dict):
        raise InputError("is not a mapping", path=path, remedy="studies/common/study.py has its keys")
    if "id" in entries:
        raise InputError("id: follows from the name of the folder", path=path, remedy="leave the key out")
    return validated(Study, {"id": path.parent.name, **entries}, path, "studies/common/study.py has its keys")


def claims_modules():
    """Return the ``claims`` module of each study that has one, by id.

    >>> "whatif" in claims_modules()
    False
    """
    return {name: study.module("claims") for name, study in studies().items() if study.judged}
