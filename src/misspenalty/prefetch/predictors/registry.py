"""The register of predictors: each file of this folder adds its own, parameters declared as policies declare them."""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from pathlib import Path

from misspenalty.errors import ParameterError
from misspenalty.policies.registry import Definition, Parameter

MAX_FILES = Parameter("most", None, "files predicted after one event, at most; None = no bound", 1, 2**31 - 1)


class Reference(ABC):
    """The slow, readable definition of a predictor, which the kernel has to equal."""

    @abstractmethod
    def access(self, file):
        """Take in an event: an open or exec of `file`; the files predicted to follow, without repeats, in order."""


_predictors: dict[str, Definition] = {}


def register(name, kernel, parameters=(), check=None):
    """Class decorator on a `Reference`: make the predictor known under `name`.

    The kernel is called as ``kernel(files, **parameters)``, the reference as ``reference(**parameters)``.
    """

    def enter(reference):
        _predictors[name] = Definition(name, kernel, reference, tuple(parameters), together=check)
        return reference

    return enter


def known_predictors():
    """Every known predictor.

    Returns
    -------
    dict of str to Definition
        By name, sorted.
    """
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"misspenalty.prefetch.predictors.{module.name}")
    return dict(sorted(_predictors.items()))


def find_predictor(name):
    """The `Definition` of the predictor called `name`.

    Raises
    ------
    ParameterError
        No predictor has this name.
    """
    known = known_predictors()
    if name not in known:
        raise ParameterError(f"unknown predictor {name!r}; known predictors: {', '.join(known)}")
    return known[name]
