"""Run policies written in Python: a class with ``access`` takes the place of a compiled kernel, but is slower.

Such a class has a method ``access(block) -> bool``, which references a block, given by its address in the trace, and
returns whether the block was in the cache. Its constructor takes the cache size in blocks and, by name, the policy's
parameters; a second argument called ``future`` makes the class an offline policy, which is given a list of the
addresses of all references to come. A class that also has ``__contains__(block)`` can be replayed with
``writes="refresh"``.

A class with ``access(block, size) -> bool`` is a policy for caches of bytes: ``access`` receives the size of each
request, and the constructor takes the size of the cache, in bytes; see `misspenalty.policies.sized.own`. In a cache of
blocks, ``access`` receives the block size with every reference. If ``size`` has a default, the class also works for
caches of blocks: there, ``access`` is called without a size, and the constructor takes the number of blocks.
"""

import copy
import importlib.util
import inspect
import itertools
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from misspenalty.errors import InputError, ParameterError, check_whole
from misspenalty.policies._opt import Claims

MAX_COUNT = (1 << 63) - 1
BOOLEANS = (int, np.integer, np.bool_)  # types that ``access`` may return; a bool is an int


class Adapter:
    """Adapter for a policy written in Python; it rejects outcomes that are impossible in a cache of this capacity.

    Parameters
    ----------
    name : str
        The policy's name, for messages.
    policy : object
        The constructed object, whose ``access`` is called.
    capacity : int
        Cache size, in `UNIT`.
    address : uint64, shape (blocks,)
        Address of each dense id; ``access`` is given addresses.
    block_bytes : int, optional
        Size that is passed to ``access`` with every block.
    """

    UNIT: ClassVar[str]  # unit of the capacity, for messages
    ITEM: ClassVar[str]  # word for one cached block or object, for messages
    CLAIMS: ClassVar[Callable[..., Any]]  # makes the check of claimed hits: ``CLAIMS(capacity, blocks)``

    def __init__(
        self, name: str, policy: Any, capacity: int, address: np.ndarray, block_bytes: int | None = None
    ) -> None:
        self.name, self.policy, self.capacity, self.address = name, policy, capacity, address
        self.told, self.misses = () if block_bytes is None else (block_bytes,), 0
        self._claims, self._found = type(self).CLAIMS(capacity, len(address)), np.empty(1, np.uint8)
        self._said = -1  # id of the block that `holds` has just reported as cached; -1 = none

    def _count(self, name: str, default: int) -> int:
        value = getattr(self.policy, name, default)
        return check_whole(f"policy {self.name}: {name}", value, 0, MAX_COUNT)

    def _request(self, number: int) -> tuple[int, ...]:
        """Return the arguments of ``access`` for the block of this id."""
        return (int(self.address[number]), *self.told)

    def _outcomes(self, requests: Iterable[tuple[int, ...]], refresh: np.ndarray | None) -> Iterator[bool | None]:
        """Yield the outcome of ``access`` for each request, or None if ``refresh`` is set and its block is absent."""
        if refresh is not None and not hasattr(self.policy, "__contains__"):
            raise ParameterError(
                f"policy {self.name} has no `__contains__`, which writes='refresh' needs; give the class a method"
                " __contains__(block), or choose another rule for writes"
            )
        for number, request in enumerate(requests):
            refreshes = refresh is not None and refresh[number]
            if refreshes and not self._ask("__contains__", request[:1]):
                yield None
            else:
                found = self._outcome(request, refreshes)
                self.misses += not found
                yield found

    @staticmethod
    def _noted(outcomes: Iterable[bool | None], hit: np.ndarray, refresh: np.ndarray | None) -> np.ndarray:
        """Set ``hit[i]`` to whether outcome i is a hit; return which requests accessed the policy."""
        found = list(outcomes)
        hit[:] = np.array(found, bool)  # None becomes False
        return np.ones(len(found), bool) if refresh is None else np.array([each is not None for each in found], bool)

    def access(self, number: int) -> bool:
        """Reference the block with this id; return whether it was in the cache."""
        self._found[0] = self._outcome(self._request(number), number == self._said)
        self._said = -1
        self._check(np.array([number], np.uint32), self._found, *self._sizes(number))
        return bool(self._found[0])

    def _sizes(self, number: int) -> tuple[np.ndarray, ...]:
        """Return the additional arguments of ``CLAIMS.add`` for a reference to the block of this id."""
        return ()

    def holds(self, number: int) -> bool:
        """Return whether the policy reports that it holds the block of this id."""
        held = bool(self._ask("__contains__", (int(self.address[number]),)))
        self._said = number if held else -1
        return held

    def reference(self, block: int) -> bool:
        """Return the outcome of ``access``; see `_outcome` for the errors."""
        return self._outcome((block, *self.told), False)

    def _outcome(self, request: tuple[int, ...], said: bool) -> bool:
        """Return the outcome of ``access``; `said` is whether the policy has just reported that it holds the block.

        Raises
        ------
        ParameterError
            ``access`` raised an exception, contradicted what was `said`, or returned neither a boolean nor an integer;
            in the last case, the method most likely lacks a ``return``.
        """
        found = self._ask("access", request)
        if not isinstance(found, BOOLEANS):
            raise ParameterError(
                f"policy {self.name}: {called('access', request)} returned {found!r};"
                f" expected True if the {self.ITEM} was in the cache, else False"
            )
        if said and not found:
            raise ParameterError(
                f"policy {self.name}: {called('access', request)} returned False after"
                f" {called('__contains__', request[:1])} returned True; expected both to tell whether the {self.ITEM}"
                f" is in the cache{', whatever its size' if len(request) > 1 else ''}"
            )
        return bool(found)

    def check_size(self) -> None:
        """Raise a `ParameterError` if the policy now has more blocks than its capacity.

        With ``__contains__``, the policy is queried for every block. Without it, a copy of the policy accesses every
        block, and the copy's hits are counted; the check is skipped if copying or accessing raises an exception, as it
        may in a policy that looks into the future.
        """
        if hasattr(self.policy, "__contains__"):
            held = [n for n, block in enumerate(self.address.tolist()) if self._ask("__contains__", (block,))]
        else:
            held = self._held_by_copy()
        taken = self._taken(held)
        if taken > self.capacity:
            raise ParameterError(
                f"policy {self.name} holds {taken} {self.UNIT} at the end; expected at most its capacity of"
                f" {self.capacity}: evict before you add another {self.ITEM}"
            )

    def _held_by_copy(self) -> list[int]:
        try:
            copied = copy.deepcopy(self.policy)
            return [number for number in range(len(self.address)) if copied.access(*self._request(number))]
        except Exception:
            return []

    def _taken(self, held: list[int]) -> int:
        """Return the minimum capacity that the blocks with these ids occupy."""
        return len(held)

    def _ask(self, method: str, arguments: tuple[int, ...]) -> Any:
        try:
            if len(arguments) == 1:  # a call without unpacking is faster
                return getattr(self.policy, method)(arguments[0])
            return getattr(self.policy, method)(*arguments)
        except ParameterError:
            raise
        except Exception as error:
            raise ParameterError(f"policy {self.name}: {called(method, arguments)} raised {shown(error)}") from error

    def _check(self, ids: np.ndarray, hit: np.ndarray, *sizes: np.ndarray) -> None:
        """Raise a `ParameterError` if a cache of this capacity cannot have these hits after the earlier ones."""
        first, known = self._claims.add(ids, hit, *sizes)
        if first == len(ids):
            return
        block = self.address[ids[first]]
        given = (block, *(each[first] for each in sizes), *self.told)
        claim = f"policy {self.name}: {called('access', given)} returned True"
        if not known:
            raise ParameterError(
                f"{claim} at the first reference to {self.ITEM} {block}; expected False until an access has put the"
                f" {self.ITEM} into the cache"
            )
        raise ParameterError(
            f"{claim}, but with the other hits so far the cache would have held more than its capacity of"
            f" {self.capacity} {self.UNIT}; evict before you add another {self.ITEM}"
        )


class PythonPolicy(Adapter):
    """Adapter that gives a Python policy a kernel's interface, for a cache of blocks.

    Evictions are those of a cache that loads every missed block, unless the policy has its own count, ``evictions``.
    Ghost hits are the policy's ``ghost_hits``, or 0 if it has none.
    """

    UNIT, ITEM, CLAIMS = "blocks", "block", Claims

    def __init__(
        self, name: str, policy: Any, capacity: int, address: np.ndarray, block_bytes: int | None = None
    ) -> None:
        super().__init__(name, policy, capacity, address, block_bytes)
        self.blocks, self.requests, self.counted_evictions = len(address), 0, 0

    @property
    def evictions(self) -> int:
        """Number of blocks evicted so far."""
        return self._count("evictions", max(self.misses - self.capacity, 0))

    @property
    def ghost_hits(self) -> int:
        """Number of misses on blocks that the policy's history still held."""
        return self._count("ghost_hits", 0)

    def replay(
        self, ids: np.ndarray, hit: np.ndarray, refresh: np.ndarray | None = None, counted: np.ndarray | None = None
    ) -> int:
        """Replay references; set ``hit[i]`` to whether ``ids[i]`` was in the cache.

        A reference with ``refresh[i]`` set is ignored unless its block is in the cache. Hits and evictions are counted
        for the references with ``counted[i]`` set, by default for all; the evictions are added to
        `counted_evictions`.

        Returns
        -------
        int
            Number of hits among the counted references.

        Raises
        ------
        ParameterError
            A method of the policy raised an exception; ``access`` returned neither a boolean nor an integer,
            contradicted ``__contains__``, or claimed a hit that a cache of this capacity cannot have; the policy's own
            count of evictions is not a whole number of at least 0; or `refresh` is given and the policy has no
            ``__contains__``.
        """
        before = self.evictions
        requests = zip(self.address[ids].tolist(), *map(itertools.repeat, self.told), strict=False)
        outcomes = self._outcomes(requests, refresh)
        if counted is not None:
            outcomes = self._evicting(outcomes, counted)
        accessed = self._noted(outcomes, hit[: len(ids)], refresh)
        if counted is None:
            self.counted_evictions += self.evictions - before
        self.requests += len(ids)
        self._check(np.ascontiguousarray(ids[accessed]), hit[: len(ids)][accessed])
        marked = hit[: len(ids)] if counted is None else hit[: len(ids)] & counted
        return int(np.count_nonzero(marked))

    def _evicting(self, outcomes: Iterable[bool | None], counted: np.ndarray) -> Iterator[bool | None]:
        """Yield the outcomes, and add the evictions of the counted references to `counted_evictions`."""
        before = self.evictions
        for found, counts in zip(outcomes, counted.tolist(), strict=True):
            after = self.evictions
            self.counted_evictions += after - before if counts else 0
            before = after
            yield found


def construct(
    name: str,
    cls: Callable[..., Any],
    capacity: int,
    address: np.ndarray,
    parameters: dict[str, Any],
    future: Callable[[], Iterable[np.ndarray]] | None,
    block_bytes: int | None = None,
) -> PythonPolicy:
    """Return a cache with the Python policy `cls`; `future` yields the ids of all references, for an offline policy.

    Raises
    ------
    ParameterError
        The constructor raised an exception, or ``access`` requires a size and the blocks have none.
    """
    size = size_argument(cls)
    if size is None or size.default is not size.empty:
        block_bytes = None
    elif block_bytes is None:
        raise ParameterError(
            f"policy {name} has access(block, {size.name}), but this cache counts objects, whatever their sizes; give"
            f" cache sizes in bytes (64MB, --by-bytes), or give {size.name} a default"
        )
    room = capacity if block_bytes is None else capacity * block_bytes
    coming = [] if future is None else [[block for ids in future() for block in address[ids].tolist()]]
    policy = make(f"policy {name}", cls, room, *coming, **parameters)
    return PythonPolicy(name, policy, capacity, address, block_bytes)


def make(what: str, cls: Callable[..., Any], /, *arguments: Any, **parameters: Any) -> Any:
    """Return an object of class `cls`; raise a `ParameterError` if its constructor raises an exception."""
    try:
        return cls(*arguments, **parameters)
    except ParameterError:
        raise
    except Exception as error:
        raise ParameterError(f"{what}: its constructor raised {shown(error)}") from error


def size_argument(cls: Callable[..., Any]) -> inspect.Parameter | None:
    """Return the parameter of ``access`` for the size of a request, which follows the one for the block.

    Return None if there is no such parameter, or if it has a default and is not called ``size``.

    Examples
    --------
    >>> class Mine:
    ...     def access(self, block, size): ...
    >>> size_argument(Mine).name
    'size'
    """
    access = inspect.getattr_static(cls, "access", None)
    try:
        taken = list(inspect.signature(cls.access).parameters.values())  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):  # `access` is not a Python function but, say, dict.get
        return None
    positional = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not isinstance(access, staticmethod | classmethod):
        del positional[:1]  # self
    second = positional[1] if len(positional) > 1 else None
    return second if second and (second.default is second.empty or second.name == "size") else None


def arguments(cls: type) -> tuple[bool, dict[str, Any], bool]:
    """Return the arguments of a Python policy's constructor.

    Returns
    -------
    offline : bool
        Whether the second argument is ``future``.
    parameters : dict
        Default of each parameter, by name; `inspect.Parameter.empty` if it has none.
    further : bool
        Whether the constructor takes further parameters of any name.

    Raises
    ------
    ParameterError
        The class has no ``access``, or its constructor takes no positional argument for the capacity.
    """
    if not callable(getattr(cls, "access", None)):
        raise ParameterError(f"class {cls.__name__} has no method access(block); a policy needs one")
    try:
        taken = list(inspect.signature(cls).parameters.values())
    except ValueError:  # the constructor is that of a built-in type, such as dict
        taken = []
    positional = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not positional:
        raise ParameterError(f"class {cls.__name__}: expected a constructor (capacity, **parameters)")
    offline = len(positional) > 1 and positional[1].name == "future"
    named = {p.name: p.default for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for first in positional[: 1 + offline]:
        named.pop(first.name, None)
    return offline, named, any(p.kind is p.VAR_KEYWORD for p in taken)


def load_class(text: str) -> type:
    """Return the class named by ``path/to/file.py:Class``, or the only class with ``access`` in ``path/to/file.py``.

    Raises
    ------
    InputError
        The file is missing, is not a Python file, or cannot be run.
    ParameterError
        The file has no such class or, if the text names none, does not have exactly one with ``access``.
    """
    file, _, name = (text, "", "") if text.endswith(".py") else text.rpartition(":")
    path = Path(file)
    try:
        exists = path.is_file()
    except OSError as error:  # the name is too long, or searching the folder is forbidden
        raise InputError(f"cannot be read: {error.strerror}", path=file) from error
    if not exists:
        raise InputError("no such file", path=file, expected="a Python file, named as in ./mine.py:Mine")
    module_name = f"misspenalty_policy_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError("is not a Python file", path=file, expected="a name that ends in .py, as in ./mine.py:Mine")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"cannot be run: {shown(error)}", path=file) from error
    own = [k for k, v in vars(module).items() if isinstance(v, type) and v.__module__ == module_name]
    if not name:
        policies = [each for each in own if hasattr(vars(module)[each], "access")]
        if not policies:
            raise ParameterError(f"{file} has no class with a method access(block); a policy needs one")
        if len(policies) > 1:
            found = ", ".join(policies)
            raise ParameterError(f"{file} has {len(policies)} classes with access ({found}); name one, {file}:CLASS")
        name = policies[0]
    cls = getattr(module, name, None)
    if not isinstance(cls, type):
        raise ParameterError(f"{file} has no class {name!r}; it has {', '.join(own) or 'none'}")
    return cls


def called(method: str, arguments: Iterable[Any]) -> str:
    """Return the call of a method as text.

    Examples
    --------
    >>> called("access", (5, 10))
    'access(5, 10)'
    """
    return f"{method}({', '.join(map(str, arguments))})"


def shown(error: BaseException) -> str:
    """Return an exception in one line, with the place where it was raised.

    Examples
    --------
    >>> try:
    ...     {}["seven"]
    ... except KeyError as error:
    ...     shown(error).partition(" (")[0]
    "KeyError: 'seven'"
    """
    what = traceback.format_exception_only(error)[-1].strip()
    place = traceback.extract_tb(error.__traceback__)[-1]
    file, line = place.filename, place.lineno
    if isinstance(error, SyntaxError) and error.filename:  # the traceback ends at the import, not at the faulty line
        file, line = error.filename, error.lineno
    return f"{what} ({Path(file).name}, line {line})"
