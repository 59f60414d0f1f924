"""Price the counts of a client cache in nanoseconds, for a processor of the 1990s.

An operation costs instructions, each taking the processor's cycles per instruction, and cache misses: a line of the
client cache (frame or table entry) is in the second-level cache with a probability of (size of the second-level cache /
size of the client cache), at most 1, and otherwise in memory; a line of the stack is always in the second-level cache.
The unit costs are in ``studies/hac/machine.yaml``, each with its source; they are the same for all traversals.
"""

from dataclasses import dataclass, replace

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.common.machine import read_entries, variations
from misspenalty_studies.hac.machine import HacMachine
from misspenalty_studies.hac.objects.format import PAGE

REPLACEMENT = ("usage_computation", "compaction", "stack_scanning")
HIT = ("traversal", "exception", "concurrency", "usage", "residency", "swizzling", "indirection")


@dataclass(frozen=True)
class Processor:
    """A client's processor.

    Attributes
    ----------
    mhz, cpi : float
        Clock, and cycles per instruction without memory stalls.
    l2_bytes : float
    l2_ns, memory_ns : float
        Access time to a line in the second-level cache and in memory.
    line_bytes : int
    """

    mhz: float
    cpi: float
    l2_bytes: float
    l2_ns: float
    memory_ns: float
    line_bytes: int

    @property
    def instruction_ns(self):
        return 1000 * self.cpi / self.mhz

    def line_ns(self, cache_bytes):
        """Return the expected access time to a line of a client cache of this size."""
        inside = min(1.0, self.l2_bytes / cache_bytes)
        return inside * self.l2_ns + (1 - inside) * self.memory_ns


@dataclass(frozen=True)
class ObjectServerTestbed:
    """The testbed's values and their entries in the file, by name.

    Attributes
    ----------
    values : dict
        See `misspenalty_studies.hac.machine`; ``install_instructions`` is None until it is fitted.
    entries : dict of str to Parameter
        The file's entry for each value.
    """

    values: dict
    entries: dict

    def __getitem__(self, name):
        value = self.values[name]
        if value is None:
            raise ParameterError(f"{name} has no value; fit it first")
        return value

    def with_values(self, **values):
        """Return the same testbed with other values."""
        unknown = set(values) - set(self.values)
        if unknown:
            raise ParameterError(f"the testbed has no {', '.join(sorted(unknown))}")
        return replace(self, values=self.values | values)

    def processor(self, which="client"):
        """Return the Alpha (``client``), the Pentium Pro (``ppro``), or the latter with a larger L2
        (``ppro_larger_l2``)."""
        name = "ppro" if which.startswith("ppro") else "client"
        l2 = self["ppro_larger_l2_kb"] if which == "ppro_larger_l2" else self[f"{name}_l2_kb"]
        numbers = (self[f"{name}_{key}"] for key in ("mhz", "cpi"))
        latencies = (self[f"{name}_{key}"] for key in ("l2_ns", "memory_ns"))
        return Processor(*numbers, 1024 * l2, *latencies, self["line_bytes"])

    @property
    def record(self):
        """The client-cache parameter that the testbed determines: the size of an activation record."""
        return {"activation_words": self["activation_words"]}

    def variations(self):
        """Return (name, value) of each alternative for sensitivity runs, in the file's order."""
        return variations(self.entries, self.values)


def load_testbed(path):
    """Read and check ``machine.yaml``; parameters and errors are those of `read_entries`."""
    entries = read_entries(path, HacMachine)
    return ObjectServerTestbed({name: entry.value for name, entry in entries.items()}, entries)


class Prices:
    """Prices of one testbed and processor.

    Parameters
    ----------
    testbed : ObjectServerTestbed
    processor : Processor, optional
        The testbed's client by default.
    """

    def __init__(self, testbed, processor=None):
        self.testbed, self.processor = testbed, processor or testbed.processor()

    def _ns(self, cache_bytes, instructions, lines=0, near=0):
        p = self.processor
        return instructions * p.instruction_ns + lines * p.line_ns(cache_bytes) + near * p.l2_ns

    def replacement(self, counts, cache_bytes):
        """Price foreground replacement by component, in ns.

        Parameters
        ----------
        counts : DataFrame
            Columns of `misspenalty_studies.hac.objects.cache.COUNTS`; a row is a fetch or an entire run.
        cache_bytes : float
            Size of the client cache.

        Returns
        -------
        DataFrame
            ``usage_computation, compaction, stack_scanning``.
        """
        t, c, line = self.testbed, counts, self.processor.line_bytes
        usage = self._ns(
            cache_bytes,
            t["scan_frame_instructions"] * c["frames_scanned"]
            + t["scan_object_instructions"] * c["objects_scanned"]
            + t["look_instructions"] * c["frames_looked"]
            + t["choose_instructions"] * c["frames_compacted"],
            PAGE / line * c["frames_scanned"] + c["frames_looked"],
        )
        compaction = self._ns(
            cache_bytes,
            t["compact_frame_instructions"] * c["frames_compacted"]
            + t["drop_instructions"] * c["dropped"]
            + t["discard_instructions"] * c["discarded"]
            + t["release_instructions"] * c["references_dropped"]
            + t["free_entry_instructions"] * c["entries_freed"]
            + t["retain_instructions"] * c["retained"]
            + t["move_word_instructions"] * c["bytes_moved"] / 8,
            PAGE / line * c["frames_compacted"]
            + c["discarded"]
            + c["references_dropped"]
            + c["entries_freed"]
            + c["retained"]
            + c["bytes_moved"] / line,
        )
        words = c["stack_words"]
        stack = self._ns(cache_bytes, t["stack_word_instructions"] * words, near=8 * words / line)
        return pd.DataFrame(dict(zip(REPLACEMENT, (usage, compaction, stack), strict=True)))

    def conversion(self, counts, cache_bytes):
        """Price installing objects and swizzling references, in ns; the parameters are those of `replacement`."""
        return self.testbed["install_instructions"] * counts["installed"] * self.processor.instruction_ns + (
            self.conversion_without_install(counts, cache_bytes)
        )

    def conversion_without_install(self, counts, cache_bytes):
        """Price conversion, in ns, without the instructions that install objects, whose number is fitted."""
        swizzles = self.testbed["swizzle_instructions"] * counts["swizzled"]
        return self._ns(cache_bytes, swizzles, counts["installed"] + 2 * counts["swizzled"])

    def hit_time(self, counts, cache_bytes):
        """Price a traversal without misses line by line, in ns; the parameters are those of `replacement`.

        Returns
        -------
        DataFrame
            `HIT` columns, the lines of the paper's Table 3; ``traversal`` is the table's C++ program.
        """
        t, n = self.testbed, counts["accesses"]
        lines = {"traversal": n, "indirection": n}
        names = dict(traversal="method", swizzling="swizzle_check")
        return pd.DataFrame(
            {
                name: self._ns(cache_bytes, t[f"{names.get(name, name)}_instructions"] * n, lines.get(name, 0))
                for name in HIT
            }
        )

    def client_page_ns(self):
        """Price the registration of a page in the client cache, in ns."""
        return self.testbed["client_page_instructions"] * self.processor.instruction_ns

    def mapped_ns(self, entries):
        """Price QuickStore's conversion, in ns, of a page that is mapped at its recorded address and whose mapping
        object has `entries` entries."""
        return 1000 * self.testbed["fault_us"] + (
            self.testbed["map_entry_instructions"] * entries * self.processor.instruction_ns
        )

    def corrected_ns(self, pointers, cache_bytes):
        """Price QuickStore's additional work, in ns, if it has to correct the pointers of a page."""
        return self._ns(cache_bytes, self.testbed["correct_pointer_instructions"] * pointers, pointers)
