"""Register predictors, with parameters declared as for policies, and find them by name.

The module of each predictor in this folder registers it. An installed package registers one through an entry point in
the group ``misspenalty.predictors``, which names a class with ``access``, or a module that calls `register`. A
predictor without a kernel is called in Python, slowly.
"""

import functools
import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from pathlib import Path

from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.io.plugins import add_plugins
from misspenalty.policies.python_policy import make
from misspenalty.policies.registry import Definition, OwnDefinition, OwnParameter, Parameter, check_name
from misspenalty.prefetch.predictors._python_predictor import PythonPredictor

GROUP = "misspenalty.predictors"  # group of entry points
MAX_FILES = Parameter("most", None, "maximum number of files predicted after one event; None = no bound", 1, 2**31 - 1)


class Reference(ABC):
    """The slow, readable definition of a predictor; its kernel must make the same predictions."""

    @abstractmethod
    def access(self, file):
        """Process an event, an open or exec of `file`; return the files predicted next, in order, without repeats."""


_predictors: dict[str, Definition] = {}


def register(name, kernel=None, parameters=(), check=None):
    """Register the decorated `Reference` as the predictor `name`.

    The kernel is called as ``kernel(files, **parameters)``, the reference as ``reference(**parameters)``. Without a
    kernel the reference itself is used; its parameters are those of its constructor, if none are given here.

    Raises
    ------
    ParameterError
        The name is empty, not in lower case, or that of another predictor; or the class has no ``access``.
    """

    def enter(reference):
        check_name("predictor", name, reference, _predictors.get(name))
        if kernel is None:
            _predictors[name] = define(reference, name, tuple(parameters), check)
        else:
            _predictors[name] = Definition(name, kernel, reference, tuple(parameters), together=check)
        return reference

    return enter


def define(cls, name=None, parameters=(), check=None):
    """Make the `Definition` of a class whose ``access(file)`` returns the files predicted to follow.

    Raises
    ------
    ParameterError
        The class has no ``access``.

    Examples
    --------
    >>> class Same:
    ...     "The same file again."
    ...     def access(self, file): return [file]
    >>> define(Same).summary
    'The same file again'
    """
    if not callable(getattr(cls, "access", None)):
        raise ParameterError(f"class {cls.__name__} has no method access(file); a predictor needs one")
    try:
        taken = () if cls.__init__ is object.__init__ else tuple(inspect.signature(cls).parameters.values())
    except ValueError:  # the constructor is that of a built-in type, such as dict
        taken = ()
    own = tuple(
        OwnParameter(p.name, p.default, "") for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    )

    name = name or cls.__name__

    def kernel(files, **given):
        return PythonPredictor(files, name, make(f"predictor {name}", cls, **given))

    return OwnDefinition(name, kernel, cls, parameters or own, together=check)


def known_predictors():
    """Return every known predictor.

    Returns
    -------
    dict of str to Definition
        By name, sorted.
    """
    _import_predictors()
    return dict(sorted(_predictors.items()))


@functools.cache
def _import_predictors():
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"misspenalty.prefetch.predictors.{module.name}")
    add_plugins(GROUP, _enter)


def _enter(name, value):
    """Register the class of an entry point unless it registered itself on import; a module always registers itself."""
    if isinstance(value, type) and not any(known.reference is value for known in _predictors.values()):
        register(name)(value)


def find_predictor(name):
    """Return the `Definition` of the predictor called `name`, in upper or lower case, or of a class with ``access``.

    Raises
    ------
    ParameterError
        No predictor has this name, or the class has no ``access``.
    """
    if isinstance(name, type):
        return define(name)
    known = known_predictors()
    if str(name).lower() not in known:
        meant = did_you_mean(str(name), known)
        raise ParameterError(f"unknown predictor {name!r}{meant}; known predictors: {', '.join(known)}")
    return known[name.lower()]
