"""Run a policy (a compiled kernel, a readable definition, or a class of your own) on a trace and record its answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from misspenalty.conformance.suite import set_digest
from misspenalty.policies.python_policy import PythonPolicy
from misspenalty.policies.registry import Definition, define, find_policy


@dataclass(frozen=True)
class Answer:
    """Outcome of every reference of a trace.

    Attributes
    ----------
    hits : str
        One character per reference: 1 if the block was in the cache, else 0.
    evicted : dict of int to list of int, or None
        Blocks that a reference evicted, ascending, by the number of the reference; None if the policy does not report
        evictions.
    cached, ghosts : list of str or None
        Digest of the blocks in the cache, and of the evicted blocks that are remembered, after each reference; None if
        not reported.
    """

    hits: str
    evicted: dict[int, list[int]] | None = None
    cached: list[str] | None = None
    ghosts: list[str] | None = None


Run = Callable[[int, Sequence[int], dict[str, Any], bool], Answer | None]


def answer_reference(
    make: Callable[..., Any], capacity: int, trace: Sequence[int], parameters: dict, details: bool
) -> Answer:
    """Run the readable definition ``make(capacity, [future,] **parameters)``; without `details`, report only its hits.

    Examples
    --------
    >>> from misspenalty.policies.lru import LRU
    >>> answer_reference(LRU, 1, [5, 5, 6], {}, True).evicted
    {2: [5]}
    """
    future = [list(trace)] if isinstance(make, type) and define(make).offline else []
    policy = make(capacity, *future, **parameters)
    hits, evicted, cached, ghosts = [], {}, [], []
    before: set[int] = set()
    for number, block in enumerate(trace):
        hits.append("1" if policy.access(block) else "0")
        if details:
            after = policy.cached_blocks()
            if before - after:
                evicted[number] = sorted(before - after)
            cached.append(set_digest(after))
            ghosts.append(set_digest(policy.ghost_blocks()))
            before = after
    if not details:
        return Answer("".join(hits))
    return Answer("".join(hits), evicted, cached, ghosts if len(set(ghosts)) > 1 else None)


def run_kernel(policy: str) -> Run:
    """Return a function that runs the compiled kernel of a registered policy, or its class if it has no kernel.

    Examples
    --------
    >>> run_kernel("lru")(1, [5, 5, 6], {}, True).hits
    '010'
    """
    return _run_of(find_policy(policy))


def run_class(cls: type) -> Run:
    """Return a function that runs a Python policy; see `misspenalty.policies.python_policy`.

    Evictions are compared if the class has ``__contains__``. A vector that needs a parameter which the constructor does
    not take is left out.

    Raises
    ------
    ParameterError
        The class is not a policy. The returned function raises it, too, if the constructor, ``access`` or
        ``__contains__`` raises an exception, or if ``access`` returns neither a boolean nor an integer.
    """
    return _run_of(define(cls))


def _run_of(definition: Definition) -> Run:
    def run(capacity, trace, parameters, details):
        if not all(definition.takes(name) for name in parameters):
            return None
        number = {block: i for i, block in enumerate(dict.fromkeys(trace))}  # numbers the blocks in order of first use
        blocks, ids = list(number), np.array([number[block] for block in trace], np.uint32)
        cache = definition.cache(capacity, np.array(blocks, np.uint64), parameters, lambda: [ids], 1)
        python = isinstance(cache, PythonPolicy)
        tells = details and (hasattr(cache.policy, "__contains__") if python else not definition.offline)
        holds = cache.holds if python else cache.__contains__
        hit, evicted, cached, before, used = np.empty(len(ids), np.uint8), {}, [], set(), 0
        if not python and not tells:
            cache.replay(ids, hit)
            return Answer("".join(map(str, hit.tolist())))
        for place, block in enumerate(trace):
            if python:
                hit[place] = cache.reference(block)
            else:
                cache.replay(ids[place : place + 1], hit[place : place + 1])
            if tells:
                used = max(used, int(ids[place]) + 1)
                after = {each for i, each in enumerate(blocks[:used]) if holds(i)}
                if before - after:
                    evicted[place] = sorted(before - after)
                cached.append(set_digest(after))
                before = after
        hits = "".join(map(str, hit.tolist()))
        return Answer(hits, evicted if tells else None, cached if tells and not python else None)

    return run
