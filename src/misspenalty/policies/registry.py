"""The register of replacement policies: each file of this folder adds its own."""

import functools
import importlib
import inspect
import math
import numbers
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from misspenalty.errors import ParameterError
from misspenalty.policies.track_layout import places


@dataclass(frozen=True)
class Parameter:
    """A parameter of a policy.

    Attributes
    ----------
    name : str
        The field's standard name.
    default : int, float or None
        None = chosen by the policy as `doc` says.
    doc : str
        What it is, with its unit.
    minimum, maximum : float
        The range, both ends included.
    """

    name: str
    default: int | float | None
    doc: str
    minimum: float = 0
    maximum: float = math.inf
    kind: type = int

    def check(self, value, policy):
        """`value` as `kind`, or a `ParameterError` that names policy, parameter and range."""
        if value is None and self.default is None:
            return None
        good = isinstance(value, numbers.Real) and not isinstance(value, bool) and self.minimum <= value <= self.maximum
        if not good or self.kind(value) != value:
            kind = "a whole number" if self.kind is int else "a number"
            extent = f"from {self.minimum:.10g} to {self.maximum:.10g}"
            raise ParameterError(f"{policy}: {self.name} is {value!r}; expected {kind} {extent} ({self.doc})")
        return self.kind(value)


class Reference(ABC):
    """The slow, readable definition of a policy, which the kernel has to equal."""

    @abstractmethod
    def access(self, block):
        """Reference `block`; whether it was in the cache."""


@dataclass(frozen=True)
class Definition:
    """A registered policy.

    Attributes
    ----------
    name : str
        What ``--policy`` takes.
    kernel : callable
        ``kernel(capacity, blocks, **parameters)``.
    reference : type
        ``reference(capacity, **parameters)``, or with `offline` ``reference(capacity, future, **parameters)``.
    parameters : tuple of Parameter
    offline : bool
        Whether its definition looks into the future, so that no real cache can run it.
    spatial : bool
        Whether it looks at which blocks are neighbours; the kernel then also takes ``tracks`` and ``places``.
    together : callable, optional
        ``together(**parameters)`` raises a `ParameterError` where values that are possible alone don't go together.
    """

    name: str
    kernel: Callable
    reference: type
    parameters: tuple[Parameter, ...] = field(default=())
    offline: bool = False
    spatial: bool = False
    together: Callable | None = None

    @property
    def summary(self):
        """One line."""
        return inspect.getdoc(self.reference).splitlines()[0].rstrip(".")

    def check(self, parameters):
        """All parameters, defaults filled in.

        Raises
        ------
        ParameterError
            A name is unknown or a value impossible; the message names policy, parameter and range.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise ParameterError(f"{self.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
        values = {
            name: parameter.check(parameters.get(name, parameter.default), self.name)
            for name, parameter in known.items()
        }
        if self.together:
            self.together(**values)
        return values

    def cache(self, capacity, address, parameters):
        """A kernel for a cache of `capacity` blocks over the blocks at these addresses, by dense id.

        Raises
        ------
        ParameterError
            As `check`.
        """
        parameters = self.check(parameters)
        if self.spatial:
            parameters["places"], parameters["tracks"] = places(address, 0)
        return self.kernel(capacity, len(address), **parameters)


_policies: dict[str, Definition] = {}


def register(name, kernel, parameters=(), offline=False, spatial=False, check=None):
    """Class decorator on a `Reference`: make the policy known under `name`."""

    def enter(reference):
        _policies[name] = Definition(name, kernel, reference, tuple(parameters), offline, spatial, check)
        return reference

    return enter


def known_policies():
    """Every known policy.

    Returns
    -------
    dict of str to Definition
        By name, sorted.
    """
    _import_policies()
    return dict(sorted(_policies.items()))


@functools.cache
def _import_policies():
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"misspenalty.policies.{module.name}")


def find_policy(name):
    """The `Definition` called `name`.

    Raises
    ------
    ParameterError
        No policy has this name.
    """
    known = known_policies()
    if name not in known:
        raise ParameterError(f"unknown policy {name!r}; known policies: {', '.join(known)}")
    return known[name]
