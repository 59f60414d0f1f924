"""Plan the objects of an OO7 database: classes, random draws, and the order in which they are created."""

import numpy as np

from misspenalty_studies.hac.objects.format import ARRAY, STRING, Class

TYPES = 10
CHUNK = 4000  # bytes per string of a long text


def _class(name, *members):
    """Return a class with the given fields; fields with names in angle brackets are references."""
    return Class(name, tuple(m.strip("<>") for m in members), frozenset(m.strip("<>") for m in members if m[0] == "<"))


CLASSES = (
    _class("module", "id", "<type>", "build_date", "<manual>", "<root>"),
    _class("manual", "id", "<title>", "<text>", "length", "<module>"),
    _class("complex", "id", "<type>", "build_date", "<parent>", "<module>", "<children>"),
    _class("base", "id", "<type>", "build_date", "<parent>", "<module>", "<private>", "<shared>"),
    _class(
        "composite", "id", "<type>", "build_date", "<document>", "<root_part>", "<parts>", "<used_private>",
        "<used_shared>",
    ),
    _class("part", "id", "<type>", "build_date", "x", "y", "document_id", "<to>", "<from>", "<composite>"),
    _class("connection", "<type>", "length", "<from>", "<to>"),
    _class("document", "id", "<title>", "<text>", "<composite>"),
)  # fmt: skip
MODULE, MANUAL, COMPLEX, BASE, COMPOSITE, PART, CONNECTION, DOCUMENT = range(len(CLASSES))


class Draws:
    """All random values, drawn in a fixed order; types are numbers, and composite parts are numbered over all
    modules."""

    def __init__(self, p, generator):
        def integers(low, high, *shape):
            return generator.integers(low, high, shape, np.uint32)

        self.module = integers(0, TYPES, p.modules), integers(1000, 2000, p.modules)
        assemblies = p.complex_assemblies + p.base_assemblies
        self.assembly = integers(0, TYPES, p.modules, assemblies), integers(0, 1000, p.modules, assemblies)
        shape = (p.modules, p.base_assemblies, p.composites_per_base)
        own = np.arange(p.modules, dtype=np.uint32)[:, None, None] * np.uint32(p.composites)
        self.private = integers(0, p.composites, *shape) + own
        self.shared = integers(0, p.modules * p.composites, *shape)
        count = p.modules * p.composites
        young = (np.arange(count) + 1) % 10 == 0
        self.composite = (
            integers(0, TYPES, count),
            integers(0, 1000, count) + np.where(young, 2000, 0).astype(np.uint32),
        )
        parts = (count, p.parts)
        self.part = integers(0, TYPES, *parts), integers(0, 1000, *parts)
        self.x, self.y = integers(0, 100_000, *parts), integers(0, 100_000, *parts)
        self.document_id = integers(1, count + 1, *parts)
        self.to = integers(0, p.parts, count, p.parts, p.connections)
        self.to[:, :, 0] = (np.arange(p.parts) + 1) % p.parts
        self.connection = integers(0, TYPES, *self.to.shape), integers(0, 100_000, *self.to.shape)


class Plan:
    """Serial numbers of all objects in the order of creation."""

    def __init__(self, p):
        self.p = p
        self.manual_chunks = -(-p.manual_bytes // CHUNK)
        self.chunks = -(-p.document_bytes // CHUNK)
        self.level, self.parent = _tree(p.fan_out, p.levels)
        self.is_base = self.level == p.levels
        head = 5 + self.manual_chunks  # the module and its type; the manual, its title, text and chunks
        sizes = np.where(self.is_base, 4, 3)  # an assembly, its type, and its one or two arrays
        self.per_module = head + sizes.sum()
        self.module = np.arange(p.modules) * self.per_module
        self.assembly = self.module[:, None] + head + np.cumsum(sizes) - sizes
        self.per_document = 3 + self.chunks
        inside = self.per_document if p.documents == "between" else 0
        count = p.modules * p.composites
        per_composite = 2 + inside + p.parts * (4 + 2 * p.connections) + 3
        self.composite = p.modules * self.per_module + np.arange(count) * per_composite
        self.part = self.composite[:, None] + 2 + inside + 4 * np.arange(p.parts)
        links = np.arange(p.parts * p.connections).reshape(p.parts, p.connections)
        self.connection = self.part[:, :1, None] + 4 * p.parts + 2 * links
        self.parts_array = self.composite + per_composite - 3
        end = p.modules * self.per_module + count * per_composite
        self.document = self.composite + 2 if inside else end + np.arange(count) * self.per_document
        self.count = end if inside else end + count * self.per_document

    def objects(self, draws):
        """Return the class and length of every object."""
        p = self.p
        kinds, lengths = np.full(self.count, STRING, np.uint32), np.full(self.count, 10, np.uint32)

        def put(serials, kind, length=0):
            kinds[serials], lengths[serials] = kind, length

        put(self.module, MODULE)
        put(self.module + 2, MANUAL)
        put(self.module + 3, STRING, 40)
        put(self.module + 4, ARRAY, self.manual_chunks)
        self._put_chunks(put, self.module + 5, self.manual_chunks, p.manual_bytes)
        for serials, kind, length in (
            (self.assembly[:, ~self.is_base], COMPLEX, p.fan_out),
            (self.assembly[:, self.is_base], BASE, p.composites_per_base),
        ):
            put(serials, kind)
            put(serials + 2, ARRAY, length)
        put(self.assembly[:, self.is_base] + 3, ARRAY, p.composites_per_base)
        put(self.composite, COMPOSITE)
        put(self.parts_array, ARRAY, p.parts)
        count = len(self.composite)
        put(self.parts_array + 1, ARRAY, np.bincount(draws.private.ravel(), minlength=count))
        put(self.parts_array + 2, ARRAY, np.bincount(draws.shared.ravel(), minlength=count))
        put(self.part, PART)
        put(self.part + 2, ARRAY, p.connections)
        put(self.part + 3, ARRAY, _incoming(draws.to))
        put(self.connection, CONNECTION)
        put(self.document, DOCUMENT)
        put(self.document + 1, STRING, 40)
        put(self.document + 2, ARRAY, self.chunks)
        self._put_chunks(put, self.document + 3, self.chunks, p.document_bytes)
        return kinds, lengths

    @staticmethod
    def _put_chunks(put, first, chunks, size):
        put(first[:, None] + np.arange(chunks), STRING, CHUNK)
        put(first + chunks - 1, STRING, size - (chunks - 1) * CHUNK)


def _tree(fan_out, levels):
    """Return the level (the root's is 1) and parent (the root's is -1) of each assembly of a module, depth first."""
    level, parent = [], []

    def visit(depth, above):
        level.append(depth)
        parent.append(above)
        me = len(level) - 1
        for _ in range(fan_out if depth < levels else 0):
            visit(depth + 1, me)

    visit(1, -1)
    return np.array(level), np.array(parent)


def _incoming(to):
    """Return how many connections lead to each part."""
    count, parts, _ = to.shape
    where = to.astype(np.int64) + (np.arange(count) * parts)[:, None, None]
    return np.bincount(where.ravel(), minlength=count * parts).reshape(count, parts).astype(np.uint32)
