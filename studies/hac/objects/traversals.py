"""Run OO7's traversals as a program on a client cache.

T1 visits every atomic part below a module depth first, T6 only the root part of each composite part. T2a and T2b visit
the same parts as T1, and swap x and y of the root part (T2a) or of every part (T2b); "T1 iterative" visits without
recursion. HAC's paper adds T1-, T1+ and dynamic traversals. We recollect what they do: T1- stops after half of a
composite part's atomic parts (and then reads nothing more of that composite). T1+ also reads all other objects of a
composite except the document. A dynamic traversal is a series of operations on a hot and a cold module, which swap
roles part-way; each operation follows a random path to a composite part and makes one of the static visits to it. "T1-
by calls" is another reading of T1-: once half of the parts have been visited, no more are visited, but calls still in
progress follow the remaining connections of their parts.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import _hit_time
from misspenalty_studies.hac.objects._traversals import Traversals

BY_CALLS = "T1- by calls"
KINDS = {"T6": 0, "T1": 1, "T1-": 2, "T1+": 3, "T2a": 4, "T2b": 5, "T1 iterative": 6, BY_CALLS: 7}
STATIC = ("T6", "T1-", "T1", "T1+")
HIT_STEPS = ("traversal", "indirection", "swizzling", "residency", "usage", "concurrency", "exception")


@dataclass(frozen=True)
class Dynamic:
    """A dynamic traversal; all its numbers are assumptions.

    Attributes
    ----------
    operations : int
    shift : float
        Share of the operations after which the hot and the cold module swap roles.
    hot : float
        Share of the operations on the hot module.
    mix : dict of str to float
        Share of the operations that make each static visit.
    """

    operations: int = 7500
    shift: float = 0.5
    hot: float = 0.8
    mix: dict = field(default_factory=lambda: {"T1-": 0.8, "T1": 0.2})


class Program:
    """A program that has references to the modules of an OO7 database and runs on one cache.

    Parameters
    ----------
    cache : ClientCache
    database : Database
        The database for which the cache was made.

    Raises
    ------
    ParameterError
        The cache was made for a different database.
    """

    def __init__(self, cache, database):
        if cache.database is not database:
            raise ParameterError("the cache was made for another database; make both from the same one")
        p = database.parameters
        self.cache, self.parameters = cache, p
        parts = p.modules * p.composites * p.parts
        self._kernel = Traversals(cache.kernel, parts, max(p.parts // 2, 1), p.parts * p.connections + 1)
        self._modules = [self._kernel.hold(root) for root in database.roots]

    def run(self, name):
        """Run a static traversal of the first module once.

        Returns
        -------
        int
            Number of atomic parts visited (T1 and its variants), of root parts visited (T6), or of swaps (T2a, T2b).

        Raises
        ------
        ParameterError
            There is no such traversal, or the cache fails: for example, it is too small for the program's stack.
        """
        if name not in KINDS:
            raise ParameterError(f"the traversal is {name!r}; expected one of {', '.join(KINDS)}")
        self.cache.check()
        done = self._kernel.traverse(self._modules[0], KINDS[name])
        self.cache.kernel.end_run()
        self.cache.check()
        return done

    def run_dynamic(self, dynamic, generator):
        """Run a dynamic traversal; return the number of atomic parts visited in each operation, int64."""
        p = self.parameters
        if p.modules < 2:
            raise ParameterError(f"the database has {p.modules} module; a dynamic traversal needs two modules")
        if abs(sum(dynamic.mix.values()) - 1) > 1e-9 or not set(dynamic.mix) <= set(STATIC):
            raise ParameterError(f"the mix is {dynamic.mix}; expected shares of {', '.join(STATIC)} that add up to 1")
        n = dynamic.operations
        swapped = np.arange(n) >= dynamic.shift * n
        module = (generator.random(n) >= dynamic.hot) ^ swapped
        kinds = generator.choice([KINDS[kind] for kind in dynamic.mix], n, p=list(dynamic.mix.values()))
        choices = generator.integers(0, p.fan_out, (n, p.levels), np.uint8)
        choices[:, -1] = generator.integers(0, p.composites_per_base, n, np.uint8)
        done = np.empty(n, np.int64)
        for i in range(n):
            done[i] = self._kernel.descend(self._modules[int(module[i])], choices[i], int(kinds[i]))
            self.cache.check()
        self.cache.kernel.end_run()
        return done

    def walk(self, oref, steps):
        """Walk along references from any object as the kernel's `walk` describes; return the number of objects met."""
        entry = self._kernel.hold(oref)
        self.cache.check()  # this raises an error if, for example, the oref is beyond the last page
        met = self._kernel.walk(entry, np.ascontiguousarray(steps, np.uint32))
        self.cache.kernel.end_run()
        self.cache.check()
        return met

    @property
    def checksum(self):
        """Sum of the values read; it depends on the traversals and the database's content, but not on the cache."""
        return self._kernel.checksum


class Ladder:
    """A traversal of a program's cache, compiled once for each of `HIT_STEPS`, each time with one more mechanism.

    Parameters
    ----------
    program : Program
        Program that has run the traversal; its cache must hold everything that the traversal reads. The ladder works
        on a copy of the cache's contents.
    name : {"T1", "T6"}

    Raises
    ------
    ParameterError
        `name` is another traversal.
    """

    def __init__(self, program, name):
        if name not in ("T1", "T6"):
            raise ParameterError(f"the traversal is {name!r}; hit time is measured for T1 or T6")
        p = program.parameters
        self._roots = name == "T6"
        self._kernel = _hit_time.Ladder(program.cache.kernel, program._modules[0], p.modules * p.composites * p.parts)

    def run(self, step):
        """Run the traversal on the copy made by `prepare`; return (parts or roots visited, sum of the values read)."""
        return self._kernel.run(step, self._roots)

    def prepare(self, step):
        """Make a fresh copy of the cache's contents, with references in the form that the step reads."""
        self._kernel.prepare(step)

    def round(self):
        """Return the seconds of processor time of every step; each runs on a fresh copy, after one run that is not
        timed."""
        return [self._seconds(step) for step in range(len(HIT_STEPS))]

    def _seconds(self, step):
        self.prepare(step)
        self.run(step)
        begin = time.thread_time()
        self.run(step)
        return time.thread_time() - begin


def ticks_per_second():
    """Measure the rate of the tick counter that the caches' timers read, against the system's clock for 50 ms."""
    begin, ticks = time.perf_counter(), _hit_time.now()
    while time.perf_counter() - begin < 0.05:
        pass
    return (_hit_time.now() - ticks) / (time.perf_counter() - begin)
