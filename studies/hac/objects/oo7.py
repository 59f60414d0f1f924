"""Generate OO7, the object-database benchmark used to measure HAC, as bytes on pages.

A module is a tree of assemblies; base assemblies use composite parts, each with a document and a graph of atomic parts
joined by connections. Objects are laid out in the order of their creation: module, manual and assemblies
(depth first), then one composite part after another: the composite, all its atomic parts, all its connections, its
set of parts and its back-references.

Paper: M. J. Carey, D. J. DeWitt, J. F. Naughton, "The OO7 benchmark", SIGMOD 1993; order of creation, draws and counts
follow the authors' C++ program (facts only, no code). The clustering by time of creation is from HAC's paper (section
4.2.1). No source states the following choices:

- type names are separate strings, and the connections to and from a part are separate arrays, as in a language whose
  fields are words; the 500,000 objects that T2b reads according to HAC's paper (section 4.6) are the 100,000 parts,
  their arrays of outgoing connections and the 300,000 connections;
- documents (trees of strings, since none fits on a page) have a separate area after the composites; with
  ``documents="between"``, the literal order of creation, which the HAC study uses, each follows its composite;
- the layout was chosen by comparison before this program was written: about twenty layouts were compared with the size
  of the database and the used shares of a page recollected from HAC's paper (38 MB; 3, 27, 49, 91 % for T6, T1-, T1,
  T1+). These values are listed as `object_layout` in ``data/calibration.yaml``, and ``results/hac/layouts.csv`` has
  ours: with documents apart, T1- uses about 20 % of the bytes of the pages that it touches, not 27 %.

Random draws need not match the authors' exactly; the seed is a parameter.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects.format import LONGEST, Pages, read_object
from misspenalty_studies.hac.objects.oo7_fill import (
    fill_assemblies,
    fill_composites,
    fill_documents,
    fill_modules,
    fill_parts,
)
from misspenalty_studies.hac.objects.oo7_plan import CHUNK, CLASSES, Draws, Plan

# Limits of the parameters that determine the length of an array of references, which must fit on a page.
MOST = dict.fromkeys(("parts", "connections", "fan_out", "composites_per_base"), LONGEST)
MOST |= dict.fromkeys(("document_bytes", "manual_bytes"), LONGEST * CHUNK)


@dataclass(frozen=True)
class Parameters:
    """Sizes of an OO7 database; the defaults are those of *medium* with 3 connections.

    Attributes
    ----------
    parts, connections : int
        Atomic parts per composite part, connections per atomic part.
    composites : int
        Composite parts per module.
    document_bytes, manual_bytes : int
    fan_out, levels : int
        Children per assembly; levels of the tree, the last of which holds the base assemblies.
    composites_per_base : int
        Private composite parts per base assembly; the number of shared ones is the same.
    modules : int
    documents : {"apart", "between"}
        Whether documents are in a separate area, or each follows its composite part.
    """

    parts: int = 200
    connections: int = 3
    composites: int = 500
    document_bytes: int = 20_000
    manual_bytes: int = 1_000_000
    fan_out: int = 3
    levels: int = 7
    composites_per_base: int = 3
    modules: int = 1
    documents: str = "apart"

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "documents" and not (isinstance(value, int) and value >= 1):
                raise ParameterError(f"{field.name} is {value!r}; expected a whole number from 1")
        if self.documents not in ("apart", "between"):
            raise ParameterError(f"documents is {self.documents!r}; expected apart or between")
        if self.levels > 12:
            raise ParameterError(f"levels is {self.levels}; expected at most 12")
        if self.objects > 2**25:
            raise ParameterError(
                f"the database would have {self.objects:,} objects in {self.modules} module{'s' * (self.modules > 1)}; "
                "expected at most 33 million: choose smaller sizes"
            )
        for name, most in MOST.items():
            value = getattr(self, name)
            if value > most:
                raise ParameterError(
                    f"{name} is {value}; expected at most {most}: an array of references must fit on a page"
                )

    @property
    def complex_assemblies(self):
        """Number of complex assemblies of a module."""
        return sum(self.fan_out**level for level in range(self.levels - 1))

    @property
    def base_assemblies(self):
        """Number of base assemblies of a module."""
        return self.fan_out ** (self.levels - 1)

    @property
    def objects(self):
        """Number of objects that `Plan` places."""
        module = 5 + -(-self.manual_bytes // CHUNK) + 3 * self.complex_assemblies + 4 * self.base_assemblies
        document = 3 + -(-self.document_bytes // CHUNK)
        return self.modules * (module + self.composites * (5 + document + self.parts * (4 + 2 * self.connections)))


MEDIUM = Parameters()
SMALL = replace(MEDIUM, parts=20, document_bytes=2_000, manual_bytes=100_000)


@dataclass(frozen=True)
class Database:
    """A database on pages.

    Attributes
    ----------
    pages : uint8 array, shape (pages, 8192)
        The page with id p is row p - 1.
    classes : tuple of Class
    roots : tuple of int
        Orefs of the modules.
    objects : int
    parameters : Parameters
    """

    pages: np.ndarray
    classes: tuple
    roots: tuple
    objects: int
    parameters: Parameters

    def read(self, oref):
        """Read the object with the given oref from its page."""
        return read_object(self.pages, self.classes, oref)


def generate(parameters, generator):
    """Generate a database.

    Parameters
    ----------
    parameters : Parameters
    generator : numpy.random.Generator

    Returns
    -------
    Database
    """
    plan = Plan(parameters)
    draws = Draws(parameters, generator)
    pages = Pages(CLASSES, *plan.objects(draws))
    fill_modules(pages, plan, draws)
    fill_assemblies(pages, plan, draws)
    fill_composites(pages, plan, draws)
    fill_parts(pages, plan, draws)
    fill_documents(pages, plan)
    roots = tuple(int(oref) for oref in pages.orefs[plan.module])
    return Database(pages.pages, CLASSES, roots, len(pages.orefs), parameters)
