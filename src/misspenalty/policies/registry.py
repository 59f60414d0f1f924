"""The register of replacement policies: each file of this folder adds its own."""

import importlib
import inspect
import math
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

from misspenalty.errors import ParameterError


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
        try:
            number = self.kind(value)
            good = number == float(value) and self.minimum <= number <= self.maximum
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            kind = "a whole number" if self.kind is int else "a number"
            raise ParameterError(
                f"{policy}: {self.name} is {value!r}; expected {kind} from {self.minimum:g} to {self.maximum:g} ({self.doc})")
        return number


class Twin(ABC):
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
    kernel : type
        ``kernel(capacity, blocks, **parameters)``, or with `offline` ``kernel(capacity, blocks, next_use, **parameters)``.
    twin : type
        ``twin(capacity, **parameters)``, or with `offline` ``twin(capacity, future, **parameters)``.
    parameters : tuple of Parameter
    offline : bool
        Whether it has to be told the future.
    """

    name: str
    kernel: type
    twin: type
    parameters: tuple[Parameter, ...] = field(default=())
    offline: bool = False

    @property
    def summary(self):
        """One line."""
        return inspect.getdoc(self.twin).splitlines()[0].rstrip(".")

    def check(self, parameters):
        """All parameters, defaults filled in.

        Raises
        ------
        ParameterError
            A name is unknown or a value impossible.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise ParameterError(f"{self.name} has no parameter {name!r}; it has {', '.join(known) or 'none'}")
        return {name: parameter.check(parameters.get(name, parameter.default), self.name)
                for name, parameter in known.items()}


_policies: dict[str, Definition] = {}


def register(name, kernel, parameters=(), offline=False):
    """Class decorator on a `Twin`: make the policy known under `name`."""

    def enter(twin):
        _policies[name] = Definition(name, kernel, twin, tuple(parameters), offline)
        return twin

    return enter


def known_policies():
    """Every known policy.

    Returns
    -------
    dict of str to Definition
        By name, sorted.
    """
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"misspenalty.policies.{module.name}")
    return dict(sorted(_policies.items()))


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
