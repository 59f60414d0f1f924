"""Build OO7's database in slow, readable code: objects are created, laid out and written one at a time.

Tests compare `oo7.generate` with it, byte by byte. Only the random draws are shared (`oo7_plan.Draws`); counts, order,
locations and contents are computed here independently.
"""

import struct
from dataclasses import dataclass

from misspenalty_studies.hac.objects.oo7_plan import Draws

PAGE, HEADER, CHUNK = 8192, 8, 4000
MODULE, MANUAL, COMPLEX, BASE, COMPOSITE, PART, CONNECTION, DOCUMENT = range(8)
ARRAY, STRING = 14, 15


@dataclass(eq=False)
class Thing:
    """An object with its words after the header; words that are `Thing` objects are references."""

    kind: int
    words: list
    oref: int = 0

    def body(self):
        """Return the bytes after the header, without padding."""
        if self.kind == STRING:
            return struct.pack("<I", len(self.words[0])) + self.words[0]
        words = [len(self.words), *self.words] if self.kind == ARRAY else self.words
        return b"".join(struct.pack("<I", word.oref if isinstance(word, Thing) else int(word)) for word in words)

    @property
    def size(self):
        return (4 + len(self.body()) + 7) // 8 * 8


class Builder:
    """A builder that creates a database's objects in order and keeps them in `things`."""

    def __init__(self, parameters, generator):
        self.p, self.draws, self.things = parameters, Draws(parameters, generator), []
        self.complex, self.bases, self.documents = 0, [], []
        self.modules = [self.module(number) for number in range(parameters.modules)]
        count = parameters.modules * parameters.composites
        self.composites = [self.composite(number) for number in range(count)]
        if parameters.documents == "apart":
            for number in range(count):
                self.document(number)
        self.link_bases()

    def new(self, kind, words):
        self.things.append(Thing(kind, words))
        return self.things[-1]

    def named(self, kind, type_, words):
        """Create an object followed by its type's name, whose place in `words` is marked by None."""
        thing = self.new(kind, words)
        words[words.index(None)] = self.new(STRING, [b"type%03d\0\0\0" % type_])
        return thing

    def text(self, length, what):
        """Create a tree of strings of at most 4000 characters each."""
        sentence = b"I am the %s of this part of the database. " % what
        array = self.new(ARRAY, [])
        for start in range(0, length, CHUNK):
            array.words.append(self.new(STRING, [(sentence * 200)[: min(CHUNK, length - start)]]))
        return array

    def module(self, number):
        types, dates = self.draws.module
        module = self.named(MODULE, types[number], [number + 1, None, dates[number], 0, 0])
        manual = self.new(MANUAL, [number + 1, 0, 0, self.p.manual_bytes, module])
        manual.words[1] = self.new(STRING, [b"Manual of the module".ljust(40)])
        manual.words[2] = self.text(self.p.manual_bytes, b"manual")
        self.made = 0
        module.words[3:5] = manual, self.assembly(number, module, 0, 1)
        return module

    def assembly(self, number, module, parent, level):
        types, dates = (values[number][self.made] for values in self.draws.assembly)
        self.made += 1
        if level == self.p.levels:
            self.bases.append(self.named(BASE, types, [len(self.bases) + 1, None, dates, parent, module]))
            base = self.bases[-1]
            base.words += [self.new(ARRAY, [0] * self.p.composites_per_base) for _ in ("private", "shared")]
            return base
        self.complex += 1
        me = self.named(COMPLEX, types, [self.complex, None, dates, parent, module])
        children = self.new(ARRAY, [0] * self.p.fan_out)
        me.words.append(children)
        for i in range(self.p.fan_out):
            children.words[i] = self.assembly(number, module, me, level + 1)
        return me

    def document(self, number):
        document = self.new(DOCUMENT, [number + 1, 0, 0, 0])
        document.words[1] = self.new(STRING, [b"Document of a composite part".ljust(40)])
        document.words[2] = self.text(self.p.document_bytes, b"documentation")
        self.documents.append(document)

    def composite(self, number):
        types, dates = self.draws.composite
        me = self.named(COMPOSITE, types[number], [number + 1, None, dates[number], 0, 0, 0, 0, 0])
        if self.p.documents == "between":
            self.document(number)
        parts = [self.part(number, i, me) for i in range(self.p.parts)]
        for i, part in enumerate(parts):
            for j in range(self.p.connections):
                target = parts[self.draws.to[number, i, j]]
                types, lengths = (values[number, i, j] for values in self.draws.connection)
                link = self.named(CONNECTION, types, [None, lengths, part, target])
                part.words[6].words.append(link)
                target.words[7].words.append(link)
        me.words[4] = parts[0]
        me.words[5:8] = self.new(ARRAY, parts), self.new(ARRAY, []), self.new(ARRAY, [])
        return me

    def part(self, number, i, composite):
        types, dates = (values[number, i] for values in self.draws.part)
        values = [values[number, i] for values in (self.draws.x, self.draws.y, self.draws.document_id)]
        me = self.named(PART, types, [number * self.p.parts + i + 1, None, dates, *values, 0, 0, composite])
        me.words[6:8] = self.new(ARRAY, []), self.new(ARRAY, [])
        return me

    def link_bases(self):
        """Link composites with their documents and with the base assemblies that use them, in both directions."""
        for composite, document in zip(self.composites, self.documents, strict=True):
            composite.words[3], document.words[3] = document, composite
        for field, chosen in enumerate((self.draws.private, self.draws.shared)):
            numbers = chosen.reshape(len(self.bases), self.p.composites_per_base)
            for base, row in zip(self.bases, numbers, strict=True):
                for i, number in enumerate(row):
                    base.words[5 + field].words[i] = self.composites[number]
                    self.composites[number].words[6 + field].words.append(base)


def generate(parameters, generator):
    """Return the pages of a database as bytes, and the orefs of its modules."""
    built = Builder(parameters, generator)
    pages, at = [[]], HEADER
    for thing in built.things:
        if at + thing.size + 2 * (len(pages[-1]) + 1) > PAGE or len(pages[-1]) == 512:
            pages.append([])
            at = HEADER
        thing.oref = len(pages) << 9 | len(pages[-1])
        pages[-1].append(thing)
        at += thing.size
    return b"".join(write_page(i + 1, page) for i, page in enumerate(pages)), [one.oref for one in built.modules]


def write_page(number, things):
    """Write objects from the front of a page, and their offsets from the back."""
    body, offsets = b"", []
    for oid, thing in enumerate(things):
        offsets.append(HEADER + len(body))
        body += (struct.pack("<I", thing.kind << 22 | oid) + thing.body()).ljust(thing.size, b"\0")
    end = struct.pack(f"<{len(things)}H", *offsets[::-1])
    return (struct.pack("<IHH", number, len(things), HEADER + len(body)) + body).ljust(PAGE - len(end), b"\0") + end
