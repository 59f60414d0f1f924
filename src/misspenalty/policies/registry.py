"""Register replacement policies, and find them by name.

The module of each policy in this folder registers it; an installed package registers one through an entry point in the
group ``misspenalty.policies``, which names a class with ``access``, or a module that calls `register`.
"""

import contextlib
import functools
import importlib
import inspect
import math
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from misspenalty.errors import ParameterError, did_you_mean, is_number
from misspenalty.io.plugins import add_plugins
from misspenalty.policies import python_policy
from misspenalty.policies.track_layout import places

GROUP = "misspenalty.policies"  # group of entry points
ALIASES = {"belady": "opt", "min": "opt", "tinylfu": "wtinylfu", "w-tinylfu": "wtinylfu"}  # other names of policies


@dataclass(frozen=True)
class Parameter:
    """A parameter of a policy.

    Attributes
    ----------
    name : str
        The name that is usual in the literature.
    default : int, float or None
        None = chosen by the policy as explained in `doc`.
    doc : str
        Meaning, with its unit.
    minimum, maximum : float
        The range, inclusive.
    kind : type
        int or float.
    accesses : int
        How the value scales with accesses: 1 if it is a number of accesses, -1 if it is per access, 0 if neither.
    """

    name: str
    default: int | float | None = field(hash=False)  # the default in a user's class may be unhashable
    doc: str
    minimum: float = 0
    maximum: float = math.inf
    kind: Callable[[Any], Any] = int
    accesses: int = 0

    def in_sample(self, value: Any, rate: float) -> Any:
        """Return the value, limited to its range, for a cache that sees a share `rate` of the blocks and accesses.

        Examples
        --------
        >>> period = Parameter("period", 0, "accesses", minimum=1, accesses=1)
        >>> period.in_sample(500, 0.1), period.in_sample(5, 0.1), period.in_sample(None, 0.1)
        (50, 1, None)
        """
        if value is None or not self.accesses or value == 0:
            return value
        scaled = value * rate**self.accesses
        return self.kind(min(max(round(scaled) if self.kind is int else scaled, self.minimum), self.maximum))

    def check(self, value: Any, policy: str) -> Any:
        """Return `value` as `kind`, or raise a `ParameterError` that names policy, parameter and range."""
        if value is None and self.default is None:
            return None
        made = None
        with contextlib.suppress(OverflowError):  # infinity as an int, or an int too large for a float
            if is_number(value) and self.minimum <= value <= self.maximum:
                made = self.kind(value)
        if made is None or made != value:
            kind = "a whole number" if self.kind is int else "a number"
            extent = f"from {_in_full(self.minimum)} to {_in_full(self.maximum)}"
            raise ParameterError(f"{policy}: {self.name} is {value!r}; expected {kind} {extent} ({self.doc})")
        return made


def _in_full(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.10g}"


class Reference(ABC):
    """The slow, readable definition of a policy; the policy's kernel must have the same outcomes.

    Attributes
    ----------
    CACHED, GHOSTS : tuple of str
        Names of the attributes that hold the blocks in the cache, and of those that hold the evicted blocks that the
        policy remembers. A block in both is in the cache.
    """

    CACHED: ClassVar[tuple[str, ...]] = ()
    GHOSTS: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def access(self, block: int) -> bool:
        """Reference `block` and return whether it was in the cache."""

    def cached_blocks(self) -> set[int]:
        """Return the blocks in the cache."""
        return {block for name in self.CACHED for block in getattr(self, name)}

    def ghost_blocks(self) -> set[int]:
        """Return the blocks that are remembered but not in the cache."""
        return {block for name in self.GHOSTS for block in getattr(self, name)} - self.cached_blocks()


def unknown_parameter(
    name: str, has: Mapping[str, Sequence[str]], where: str = "", known: Iterable[str] = ()
) -> ParameterError:
    """Return the error to raise if no policy has a parameter of this name.

    Parameters
    ----------
    name : str
        Name of the parameter.
    has : mapping of str to sequence of str
        Names of the parameters that each policy has.
    where : str
        Text that follows the name in the message, such as ``" for objects of different sizes"``.
    known : iterable of str
        Further names that may have been meant: those of the calling function's own arguments.

    Examples
    --------
    >>> print(unknown_parameter("queue", {"lru": [], "mq": ["queues"]}))
    none of lru, mq has a parameter 'queue', did you mean 'queues'?; lru has none; mq has queues
    >>> print(unknown_parameter("queue", {"mq": ["queues"]}))
    mq has no parameter 'queue', did you mean 'queues'?; it has queues
    >>> print(unknown_parameter("warmup", {"lru": []}, known=["warm_up"]))
    lru has no parameter 'warmup', did you mean 'warm_up'?; it has none
    """
    meant = did_you_mean(name, [*(each for names in has.values() for each in names), *known])
    several = len(has) > 1
    lacks = f"none of {', '.join(has)} has a parameter" if several else f"{', '.join(has)} has no parameter"
    return ParameterError(
        f"{lacks} {name!r}{where}{meant}; "
        + "; ".join(f"{policy if several else 'it'} has {', '.join(names) or 'none'}" for policy, names in has.items())
    )


def settings_of(
    policies: Sequence[Any], parameters: Mapping[str, Any], where: str = "", known: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """Check the parameters, and return for each policy those that it has.

    Parameters
    ----------
    policies : sequence of Definition or SizedPolicy
    parameters : mapping
    where, known
        As in `unknown_parameter`.

    Raises
    ------
    ParameterError
        None of the policies has a parameter of a given name, or a policy's parameters are invalid.

    Examples
    --------
    >>> settings_of([find_policy("lru"), find_policy("mq")], {"queues": 3})
    [{}, {'queues': 3}]
    """
    for name in parameters:
        if not any(policy.takes(name) for policy in policies):
            has = {each.name: [p.name for p in each.parameters] for each in policies}
            raise unknown_parameter(name, has, where, known)
    settings = [{name: value for name, value in parameters.items() if each.takes(name)} for each in policies]
    for policy, own in zip(policies, settings, strict=True):
        policy.check(own)
    return settings


@dataclass(frozen=True)
class Definition:
    """A registered policy, or a user's own class.

    Attributes
    ----------
    name : str
        Name for ``--policy``.
    kernel : callable or None
        ``kernel(capacity, blocks, **parameters)``; None if the policy exists only in Python.
    reference : type
        ``reference(capacity, **parameters)``, or with `offline` ``reference(capacity, future, **parameters)``.
    parameters : tuple of Parameter
    offline : bool
        Whether its definition looks into the future, so that no real cache can run it.
    spatial : bool
        Whether it considers which blocks are neighbours; the kernel then also takes ``tracks`` and ``places``.
    together : callable, optional
        ``together(**parameters)`` raises a `ParameterError` if individually valid values are incompatible.
    """

    name: str
    kernel: Callable[..., Any] | None
    reference: Callable[..., Any]
    parameters: tuple[Parameter, ...] = field(default=())
    offline: bool = False
    spatial: bool = False
    together: Callable[..., Any] | None = None

    @property
    def summary(self) -> str:
        """First line of the reference's docstring, without its period."""
        return ((self.reference.__doc__ or "").strip() or self.name).splitlines()[0].rstrip(".")

    def takes(self, name: str) -> bool:
        """Return whether the policy has a parameter of this name."""
        return any(parameter.name == name for parameter in self.parameters)

    def check(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, with defaults filled in.

        Raises
        ------
        ParameterError
            A name is unknown, a value is invalid, or the values are incompatible; the message says what was expected.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise unknown_parameter(name, {self.name: list(known)})
        values = {
            name: parameter.check(parameters.get(name, parameter.default), self.name)
            for name, parameter in known.items()
        }
        if self.together:
            self.together(**values)
        return values

    def in_sample(self, parameters: Mapping[str, Any], rate: float) -> dict[str, Any]:
        """Return all parameters, scaled to a cache that sees a share `rate` of the blocks."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        values = self.check(parameters)
        return {name: by_name[name].in_sample(v, rate) if name in by_name else v for name, v in values.items()}

    def cache(
        self,
        capacity: int,
        address: np.ndarray,
        parameters: Mapping[str, Any],
        future: Callable[[], Iterable[np.ndarray]] | None = None,
        block_bytes: int | None = None,
    ) -> Any:
        """Return the kernel or `PythonPolicy` of a cache of `capacity` blocks for a trace with blocks at `address`.

        Parameters
        ----------
        capacity : int
        address : uint64, shape (blocks,)
            Address of each dense id.
        parameters : mapping
        future : callable, optional
            Yields the ids of all references to come, in arrays; needed by an offline policy that exists only in Python.
        block_bytes : int, optional
            Size of every block, which is passed to a class with ``access(block, size)``; None if the blocks have no
            such size.

        Raises
        ------
        ParameterError
            As in `check`; the capacity or the number of blocks is out of range; or the constructor of a Python policy
            raised an exception.
        """
        values = self.check(parameters)
        if self.kernel is None:
            coming = future if self.offline else None
            return python_policy.construct(self.name, self.reference, capacity, address, values, coming, block_bytes)
        if self.spatial:
            values["places"], values["tracks"] = places(address, 0)
        return self.kernel(capacity, len(address), **values)


@dataclass(frozen=True)
class OwnParameter(Parameter):
    """A parameter of a user's own class; only the class's constructor checks its values."""

    def check(self, value: Any, policy: str) -> Any:
        """Return `value` unchanged; raise a `ParameterError` if no value is given and the parameter has no default."""
        if value is inspect.Parameter.empty:
            raise ParameterError(f"{policy}: parameter {self.name} has no default; set its value")
        return value


@dataclass(frozen=True)
class OwnDefinition(Definition):
    """A user's own class, whose parameters are those of its constructor."""

    further: bool = False  # whether the constructor takes further parameters of any name

    def takes(self, name: str) -> bool:
        """Return whether the constructor accepts a parameter of this name."""
        return self.further or super().takes(name)

    def check(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, as in `Definition`, and any further ones that the constructor takes."""
        own = {p.name for p in self.parameters}
        beyond = {name: value for name, value in parameters.items() if self.further and name not in own}
        return super().check({n: v for n, v in parameters.items() if n not in beyond}) | beyond


def define(cls: type, name: str | None = None) -> Definition:
    """Return the `Definition` of a class with ``access``, as `misspenalty.policies.python_policy` describes it.

    Parameters
    ----------
    cls : type
    name : str, optional
        By default the name of the class.

    Raises
    ------
    ParameterError
        The class is not a policy.

    Examples
    --------
    >>> class Nothing:
    ...     "Caches nothing."
    ...     def __init__(self, capacity): ...
    ...     def access(self, block): return False
    >>> define(Nothing).summary
    'Caches nothing'
    """
    offline, taken, further = python_policy.arguments(cls)
    parameters = tuple(OwnParameter(name, default, "") for name, default in taken.items())
    return OwnDefinition(name or cls.__name__, None, cls, parameters, offline, further=further)


_policies: dict[str, Definition] = {}
_admissions: dict[str, Callable[[Definition], Definition]] = {}


def register_admission(name: str) -> Callable[[Any], Any]:
    """Decorate a function that turns the `Definition` of a policy into that of the filtered policy, ``name+policy``."""

    def enter(filtered: Callable[[Definition], Definition]) -> Any:
        _admissions[name] = filtered
        return filtered

    return enter


def register(
    name: str,
    kernel: Callable[..., Any] | None = None,
    parameters: Iterable[Parameter] = (),
    offline: bool = False,
    spatial: bool = False,
    check: Callable[..., Any] | None = None,
) -> Callable[[type], type]:
    """Register, under `name`, the policy that the decorated class defines.

    Parameters
    ----------
    name : str
        Lower case.
    kernel : callable, optional
        The policy's compiled form; without one the class itself is used, like a user's own class.
    parameters : iterable of Parameter
        The policy's parameters; if it has no kernel and none are given, those of the class's constructor.
    offline, spatial, check
        As in `Definition`, where `check` is called ``together``.

    Raises
    ------
    ParameterError
        The name is empty, not in lower case, or that of another policy; `offline`, `spatial` or `check` is given
        without a kernel or parameters; `parameters` holds something other than a `Parameter`; or the class is not a
        policy.

    Examples
    --------
    >>> @register("nothing")
    ... class Nothing(Reference):
    ...     "Caches nothing."
    ...     def __init__(self, capacity): ...
    ...     def access(self, block): return False
    >>> find_policy("Nothing").name
    'nothing'
    >>> del _policies["nothing"]
    """

    def enter(reference: type) -> type:
        check_name("policy", name, reference, _policies.get(name))
        if name in ALIASES:
            raise ParameterError(f"policy name {name!r} is another name for {ALIASES[name]}; choose a different name")
        declared = () if isinstance(parameters, Parameter) else tuple(parameters)
        if isinstance(parameters, Parameter) or not all(isinstance(each, Parameter) for each in declared):
            raise ParameterError(f"policy {name!r}: parameters is {parameters!r}; expected a list of Parameter")
        if kernel is None and not declared:
            if offline or spatial or check:
                raise ParameterError(
                    f"policy {name!r}: offline, spatial and check are only for a policy with a kernel or declared "
                    "parameters; a class is offline if its constructor's second argument is future"
                )
            _policies[name] = define(reference, name)
        else:
            _policies[name] = Definition(name, kernel, reference, declared, offline, spatial, check)
        return reference

    return enter


def check_name(kind: str, name: str, reference: type, known: Definition | None) -> None:
    """Raise a `ParameterError` if a name is empty, not in lower case, or already defined as `known` by another class.

    Examples
    --------
    >>> check_name("policy", "Mine", object, None)
    Traceback (most recent call last):
    ...
    misspenalty.errors.ParameterError: policy name 'Mine'; expected a name in lower case
    """
    if name != name.lower() or not name.strip():
        raise ParameterError(f"{kind} name {name!r}; expected a name in lower case")
    if known and (known.reference.__module__, known.reference.__qualname__) != (
        reference.__module__,
        reference.__qualname__,
    ):
        raise ParameterError(f"{kind} {name!r} is already registered, by {known.reference.__module__}")


def known_policies() -> dict[str, Definition]:
    """Return every known policy.

    Returns
    -------
    dict of str to Definition
        By name, sorted.

    Examples
    --------
    >>> "lru" in known_policies()
    True
    """
    _import_policies()
    return dict(sorted(_policies.items()))


@functools.cache
def _import_policies() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"misspenalty.policies.{module.name}")
    add_plugins(GROUP, _enter)


def _enter(name: str, value: Any) -> None:
    """Register the class of an entry point unless it registered itself on import; a module always registers itself."""
    if isinstance(value, type) and not any(known.reference is value for known in _policies.values()):
        register(name)(value)


def find_policy(policy: str | type | Definition) -> Definition:
    """Return the `Definition` of a policy.

    Parameters
    ----------
    policy : str, type or Definition
        A name in upper or lower case, which ``tinylfu+`` may precede (see `misspenalty.policies.tinylfu`); a class
        with ``access``; or a `Definition`, which is returned unchanged.

    Raises
    ------
    ParameterError
        `policy` is neither a known name nor a class that `define` accepts, a class has the name of another policy, or
        TinyLFU cannot filter the policy.

    Examples
    --------
    >>> find_policy("ARC").name
    'arc'
    """
    if isinstance(policy, Definition):
        return policy
    known = known_policies()
    if isinstance(policy, type):
        if policy.__name__ in known and known[policy.__name__].reference is not policy:
            raise ParameterError(f"class {policy.__name__} has the name of another policy; rename the class")
        return define(policy)
    if not isinstance(policy, str):
        raise ParameterError(f"policy is {policy!r}; expected a name ({', '.join(known)}) or a class with access")
    name = policy.strip().lower()
    name = ALIASES.get(name, name)
    admission, plus, behind = name.partition("+")
    if plus and admission in _admissions:
        return _admissions[admission](find_policy(behind))
    if name not in known:
        raise ParameterError(
            f"unknown policy {policy!r}{did_you_mean(name, known)}; known policies: {', '.join(known)}"
        )
    return known[name]


def find_policies(policies: Iterable[str | type | Definition]) -> list[Definition]:
    """Return the `Definition` of each policy, after checking that no two different policies have the same name.

    Raises
    ------
    ParameterError
        As in `find_policy`; or two classes have the same name, so that their results could not be told apart.

    Examples
    --------
    >>> [policy.name for policy in find_policies(["ARC", "lru", "arc"])]
    ['arc', 'lru', 'arc']
    """
    found = [find_policy(each) for each in policies]
    classes: dict[str, Any] = {}
    for each in found:
        if classes.setdefault(each.name, each.reference) is not each.reference:
            raise ParameterError(f"several classes are called {each.name}; give each policy a name of its own")
    return found
