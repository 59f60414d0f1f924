"""Define replacement policies for objects of different sizes, in a cache whose size is in bytes.

`reference` defines the common part; `queues`, `ranked` and `admission` define the policies, and ``_queues.pyx`` and the
other ``.pyx`` files are their kernels. `own` runs a user's own class.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from misspenalty.errors import ParameterError, check_choice, did_you_mean
from misspenalty.policies.python_policy import make, size_argument
from misspenalty.policies.registry import ALIASES, Definition, Parameter, find_policy, known_policies
from misspenalty.policies.sized import _admission, _queues, _ranked, admission, queues, ranked
from misspenalty.policies.sized._sized import CHANGES as SIZE_CHANGES
from misspenalty.policies.sized.own import PythonBytes
from misspenalty.traces.selection import MOST_REFERENCES

LARGEST = 1 << 62  # maximum size of a cache, bytes

__all__ = ["LARGEST", "SIZED", "SIZE_CHANGES", "SizedPolicy", "check_changes", "find_sized"]


@dataclass(frozen=True)
class SizedPolicy:
    """A policy for objects of different sizes.

    Attributes
    ----------
    name : str
        Name of the policy for blocks. If every object has one byte, this policy behaves like that one, except for
        `fixed` and for W-TinyLFU without objects in probation (see `admission`).
    kernel, reference : type
        ``reference(room, changes, **parameters)`` is the slow, readable definition of ``kernel``. A user's own class,
        ``reference(room, **parameters)``, has no kernel.
    left_out : tuple of str
        Parameters of the policy for blocks that this one does not have.
    fixed : mapping
        Further arguments of the kernel, whose values differ from those for blocks.
    own : Definition or None
        Definition of a user's own class.
    """

    name: str
    kernel: Callable[..., Any] | None
    reference: Callable[..., Any]
    left_out: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    own: Definition | None = None

    @property
    def blocks(self) -> Definition:
        """The policy for blocks, or the definition of a user's own class."""
        return self.own or find_policy(self.name)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the policy for blocks, except those left out."""
        return tuple(each for each in self.blocks.parameters if each.name not in self.left_out)

    def takes(self, name: str) -> bool:
        """Return whether this policy has a parameter of this name."""
        return name not in self.left_out and self.blocks.takes(name)

    def check(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters, with defaults filled in.

        Raises
        ------
        ParameterError
            A name is unknown or one of `left_out`, or a value is invalid.
        """
        for name in self.left_out:
            if name in parameters:
                raise ParameterError(f"{self.name} has no parameter {name!r} for objects of different sizes")
        return {n: value for n, value in self.blocks.check(parameters).items() if n not in self.left_out}

    def cache(
        self,
        room: int,
        sizes: np.ndarray,
        changes: str,
        parameters: Mapping[str, Any],
        address: np.ndarray | None = None,
    ) -> Any:
        """Return the kernel of a cache of `room` bytes for objects of these sizes, indexed by dense id.

        For a user's own class, return a `PythonBytes`, which needs the `address` of each object and ignores `changes`.
        """
        own = self.check(parameters) | dict(self.fixed)
        if self.kernel is None:
            made = make(f"policy {self.name}", self.reference, room, **own)
            return PythonBytes(self.name, made, room, address, sizes)
        if self.name == "wtinylfu":
            own["mean_bytes"] = max(int(sizes.sum()) // max(len(sizes), 1), 1)
        return self.kernel(min(room, MOST_REFERENCES), len(sizes), room=room, sizes=sizes, changes=changes, **own)


SIZED = {
    policy.name: policy
    for policy in (
        SizedPolicy("arc", _queues.ARC, queues.ARC),
        SizedPolicy("clock", _queues.Clock, queues.Clock),
        SizedPolicy("fifo", _queues.FIFO, queues.FIFO),
        SizedPolicy("gdsf", _ranked.GDSF, ranked.GDSF, fixed={"bypass": 1}),
        SizedPolicy("lfu", _ranked.LFU, ranked.LFU),
        SizedPolicy("lru", _queues.LRU, queues.LRU),
        SizedPolicy("lru2", _ranked.LRUK, ranked.LRUK, ("correlated_period",)),
        SizedPolicy("s3fifo", _queues.S3FIFO, queues.S3FIFO),
        SizedPolicy("sieve", _queues.Sieve, queues.Sieve),
        SizedPolicy("slru", _queues.SLRU, queues.SLRU, ("fill_up",)),
        SizedPolicy("wtinylfu", _admission.WTinyLFU, admission.WTinyLFU),
    )
}


def find_sized(policy: Any) -> SizedPolicy:
    """Return the form of a policy for objects of different sizes.

    Raises
    ------
    ParameterError
        The policy is unknown or has no such form, or is a class that looks into the future.

    Examples
    --------
    >>> find_sized("LRU").name
    'lru'
    >>> find_sized("TinyLFU").name
    'wtinylfu'
    """
    named = isinstance(policy, str)
    name = policy.strip().lower() if named else find_policy(policy).name
    name = ALIASES.get(name, name) if named else name
    if name in SIZED:
        return SIZED[name]
    meant = did_you_mean(name, SIZED) if named and name not in known_policies() else ""
    known = None if meant else find_policy(name if named else policy)
    if known is not None and size_argument(known.reference):
        if known.offline:
            raise ParameterError(
                f"policy {name} looks into the future, which is not supported for objects of different sizes:"
                " remove the argument future from its constructor"
            )
        return SizedPolicy(known.name, None, known.reference, own=known)
    hint = "give the class a method access(block, size), or " if known is not None and known.kernel is None else "or "
    raise ParameterError(
        f"policy {name!r} is not defined for objects of different sizes{meant}; the policies"
        f" defined for them are {', '.join(SIZED)} (and opt, as bounds of hit ratios only); {hint}give the cache a size"
        " in objects, such as 1000"
    )


def check_changes(policies: Iterable[Any], size_changes: str) -> None:
    """Raise a `ParameterError` if a rule for changing sizes is chosen but applies to none of the policies."""
    check_choice("size_changes", size_changes, SIZE_CHANGES)
    names = [each.name if each.kernel is None else None for each in policies]
    if size_changes != "replace" and names and None not in names:
        raise ParameterError(
            f"size_changes is {size_changes!r}, which does not apply to {', '.join(map(str, names))}: your own"
            " class receives each size and decides for itself; leave out size_changes"
        )
