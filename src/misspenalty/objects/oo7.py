"""OO7: the object-database benchmark that HAC was measured with, generated as real bytes on pages.

A module is a tree of assemblies; base assemblies use composite parts, each a graph of atomic parts joined by
connections, with a document beside. Objects are laid out in the order of their creation: module, manual and assemblies
(depth first), then one composite part after the other: the composite, all its atomic parts, all its connections, its
set of parts and its back-references.

Paper: M. J. Carey, D. J. DeWitt, J. F. Naughton, "The OO7 benchmark", SIGMOD 1993; order of creation, draws and counts
follow the authors' C++ program (facts only, no code). Of HAC's paper comes the clustering by time of creation (section
4.2.1). Stated nowhere, and chosen here:

- type names are strings of their own, the connections to and from a part are arrays of their own, as in a language
  whose fields are words; HAC's 500,000 objects read by T2b (section 4.6) are the 100,000 parts, their arrays of
  outgoing connections and the 300,000 connections;
- documents (trees of strings, since none fits a page) stand in an area of their own behind the composites; with
  ``documents="between"`` each stands behind its composite;
- the layout was not found blind: about twenty were compared, before this program was written, with the size of the
  database and the used shares of a page that are recollected of HAC's paper (38 MB; 3, 27, 49, 91 %).

Draws need not match the authors' bit by bit; the seed is a parameter.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty.objects.format import ARRAY, STRING, Class, Pages, read_object

TYPES = 10
CHUNK = 4000  # bytes of a string of a long text


def _class(name, *members):
    """A class from its fields; a name in angle brackets is a reference."""
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


@dataclass(frozen=True)
class Parameters:
    """Sizes of an OO7 database; the defaults are those of *medium* with 3 connections.

    Attributes
    ----------
    parts, connections : int
        Atomic parts of a composite part, connections of an atomic part.
    composites : int
        Composite parts of a module.
    document_bytes, manual_bytes : int
    fan_out, levels : int
        Children of an assembly, levels of the tree; the last holds the base assemblies.
    composites_per_base : int
        Private ones of a base assembly, and as many shared ones.
    modules : int
    documents : {"apart", "between"}
        In an area of their own, or each behind its composite part.
    """

    parts: int = 200
    connections: int = 3
    composites: int = 500
    document_bytes: int = 20_000
    manual_bytes: int = 1_000_000
    fan_out: int = 3
    levels: int = 7
    composites_per_base: int = 3
    modules: int = 1
    documents: str = "apart"

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "documents" and not (isinstance(value, int) and value >= 1):
                raise ParameterError(f"{field.name} is {value!r}; expected a whole number from 1")
        if self.documents not in ("apart", "between"):
            raise ParameterError(f"documents is {self.documents!r}; expected apart or between")
        if self.levels > 12 or self.modules * self.composites * self.parts * (4 + 2 * self.connections) > 2**25:
            raise ParameterError("the database would have more than 33 million objects")

    @property
    def complex_assemblies(self):
        """Of a module."""
        return sum(self.fan_out**level for level in range(self.levels - 1))

    @property
    def base_assemblies(self):
        """Of a module."""
        return self.fan_out ** (self.levels - 1)


MEDIUM = Parameters()
SMALL = replace(MEDIUM, parts=20, document_bytes=2_000, manual_bytes=100_000)


@dataclass(frozen=True)
class Database:
    """A database on pages.

    Attributes
    ----------
    pages : uint8 array, shape (pages, 8192)
        The page with id p is row p - 1.
    classes : tuple of Class
    roots : tuple of int
        Orefs of the modules.
    objects : int
    parameters : Parameters
    """

    pages: np.ndarray
    classes: tuple
    roots: tuple
    objects: int
    parameters: Parameters

    def read(self, oref):
        """The object with this oref, from its page."""
        return read_object(self.pages, self.classes, oref)


def generate(parameters, generator):
    """Generate a database.

    Parameters
    ----------
    parameters : Parameters
    generator : numpy.random.Generator

    Returns
    -------
    Database
    """
    plan = _Plan(parameters)
    draws = _Draws(parameters, generator)
    pages = Pages(CLASSES, *plan.objects(draws))
    _fill_modules(pages, plan, draws)
    _fill_assemblies(pages, plan, draws)
    _fill_composites(pages, plan, draws)
    _fill_parts(pages, plan, draws)
    _fill_documents(pages, plan)
    roots = tuple(int(oref) for oref in pages.orefs[plan.module])
    return Database(pages.pages, CLASSES, roots, len(pages.orefs), parameters)


class _Draws:
    """Everything random, drawn in a fixed order: type names are numbers here, composites are indices over all."""

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


class _Plan:
    """Serial numbers of all objects in the order of creation."""

    def __init__(self, p):
        self.p = p
        self.manual_chunks = -(-p.manual_bytes // CHUNK)
        self.chunks = -(-p.document_bytes // CHUNK)
        self.level, self.parent = _tree(p.fan_out, p.levels)
        self.is_base = self.level == p.levels
        head = 5 + self.manual_chunks  # module, its type; manual, title, text and chunks
        sizes = np.where(self.is_base, 4, 3)  # an assembly, its type, its one or two arrays
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
        """Class and length of every object."""
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
        put(self.part + 3, ARRAY, _incoming(draws.to)[1])
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
    """Level (1 is the root) and parent of each assembly of a module, depth first; -1 = none."""
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
    """Connections into each part: their order by composite and part, and how many each part has."""
    count, parts, _ = to.shape
    where = to.astype(np.int64) + (np.arange(count) * parts)[:, None, None]
    order = np.argsort(where.ravel(), kind="stable")
    return order, np.bincount(where.ravel(), minlength=count * parts).reshape(count, parts).astype(np.uint32)


def _fill_named(pages, serials, kind, types, names_at=1):
    """The reference to the type's name, and the name itself, which stands behind its object."""
    pages.fill(serials, CLASSES[kind].word("type"), pages.orefs[serials + names_at])
    for number in range(TYPES):
        pages.fill_text((serials + names_at)[types == number], b"type%03d\0\0\0" % number)


def _fill_text_tree(pages, serials, first, chunks, size, what):
    """The array of a text's strings and their characters."""
    text = (b"I am the %s of this part of the database. " % what) * (CHUNK // 40 + 1)
    pieces = first[:, None] + np.arange(chunks)
    for i in range(chunks):
        pages.fill(serials, 2 + i, pages.orefs[pieces[:, i]])
    for i in range(chunks):
        pages.fill_text(pieces[:, i], text[: CHUNK if i < chunks - 1 else size - (chunks - 1) * CHUNK])


def _fill_modules(pages, plan, draws):
    module, orefs = plan.module, pages.orefs
    _fill_fields(
        pages,
        module,
        MODULE,
        id=np.arange(len(module)) + 1,
        build_date=draws.module[1],
        manual=orefs[module + 2],
        root=orefs[plan.assembly[:, 0]],
    )
    _fill_named(pages, module, MODULE, draws.module[0])
    _fill_fields(
        pages,
        module + 2,
        MANUAL,
        id=np.arange(len(module)) + 1,
        title=orefs[module + 3],
        text=orefs[module + 4],
        length=plan.p.manual_bytes,
        module=orefs[module],
    )
    pages.fill_text(module + 3, b"Manual of the module".ljust(40))
    _fill_text_tree(pages, module + 4, module + 5, plan.manual_chunks, plan.p.manual_bytes, b"manual")


def _fill_assemblies(pages, plan, draws):
    orefs, above = pages.orefs, np.where(plan.parent < 0, 0, plan.parent)
    parent = np.where(plan.parent < 0, 0, orefs[plan.assembly[:, above]]).astype(np.uint32)
    module = np.broadcast_to(orefs[plan.module][:, None], parent.shape)
    for kind, chosen in ((COMPLEX, ~plan.is_base), (BASE, plan.is_base)):
        serials = plan.assembly[:, chosen]
        _fill_fields(
            pages,
            serials,
            kind,
            id=(np.arange(serials.size) + 1).reshape(serials.shape),
            build_date=draws.assembly[1][:, chosen],
            parent=parent[:, chosen],
            module=module[:, chosen],
        )
        _fill_named(pages, serials, kind, draws.assembly[0][:, chosen])
    inner = plan.assembly[:, ~plan.is_base]
    _fill_fields(pages, inner, COMPLEX, children=orefs[inner + 2])
    children = np.flatnonzero(plan.parent >= 0)
    children = children[np.argsort(plan.parent[children], kind="stable")].reshape(-1, plan.p.fan_out)
    for i in range(plan.p.fan_out):
        pages.fill(inner + 2, 2 + i, orefs[plan.assembly[:, children[:, i]]])
    base = plan.assembly[:, plan.is_base]
    _fill_fields(pages, base, BASE, private=orefs[base + 2], shared=orefs[base + 3])
    for at, chosen in ((2, draws.private), (3, draws.shared)):
        for i in range(plan.p.composites_per_base):
            pages.fill(base + at, 2 + i, orefs[plan.composite[chosen[:, :, i]]])


def _fill_composites(pages, plan, draws):
    orefs, composite = pages.orefs, plan.composite
    _fill_fields(
        pages,
        composite,
        COMPOSITE,
        id=np.arange(len(composite)) + 1,
        build_date=draws.composite[1],
        document=orefs[plan.document],
        root_part=orefs[plan.part[:, 0]],
        parts=orefs[plan.parts_array],
        used_private=orefs[plan.parts_array + 1],
        used_shared=orefs[plan.parts_array + 2],
    )
    _fill_named(pages, composite, COMPOSITE, draws.composite[0])
    for i in range(plan.p.parts):
        pages.fill(plan.parts_array, 2 + i, orefs[plan.part[:, i]])
    base = orefs[plan.assembly[:, plan.is_base]]
    for at, chosen in ((1, draws.private), (2, draws.shared)):
        _fill_ragged(pages, plan.parts_array + at, chosen.ravel(), np.repeat(base.ravel(), chosen.shape[2]))


def _fill_ragged(pages, serials, owner, values):
    """Give each array the values whose owner it is, in their order."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(serials))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    pages.fill(serials[owner[order]], 2 + place, values[order])


def _fill_parts(pages, plan, draws):
    orefs, part, connection = pages.orefs, plan.part, plan.connection
    _fill_fields(
        pages,
        part,
        PART,
        id=(np.arange(part.size) + 1).reshape(part.shape),
        build_date=draws.part[1],
        x=draws.x,
        y=draws.y,
        document_id=draws.document_id,
        composite=np.broadcast_to(orefs[plan.composite][:, None], part.shape),
        to=orefs[part + 2],
        **{"from": orefs[part + 3]},
    )
    _fill_named(pages, part, PART, draws.part[0])
    target = part[np.arange(len(part))[:, None, None], draws.to]
    _fill_fields(
        pages,
        connection,
        CONNECTION,
        length=draws.connection[1],
        to=orefs[target],
        **{"from": np.broadcast_to(orefs[part][:, :, None], connection.shape)},
    )
    _fill_named(pages, connection, CONNECTION, draws.connection[0])
    for i in range(plan.p.connections):
        pages.fill(part + 2, 2 + i, orefs[connection[:, :, i]])
    owner = (draws.to.astype(np.int64) + (np.arange(len(part)) * plan.p.parts)[:, None, None]).ravel()
    _fill_ragged(pages, part.ravel() + 3, owner, orefs[connection].ravel())


def _fill_documents(pages, plan):
    document, orefs = plan.document, pages.orefs
    _fill_fields(
        pages,
        document,
        DOCUMENT,
        id=np.arange(len(document)) + 1,
        title=orefs[document + 1],
        text=orefs[document + 2],
        composite=orefs[plan.composite],
    )
    pages.fill_text(document + 1, b"Document of a composite part".ljust(40))
    _fill_text_tree(pages, document + 2, document + 3, plan.chunks, plan.p.document_bytes, b"documentation")


def _fill_fields(pages, serials, kind, **values):
    for field, value in values.items():
        pages.fill(serials, CLASSES[kind].word(field), value)
