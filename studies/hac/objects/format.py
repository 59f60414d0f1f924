"""Represent pages and objects as bytes: lay out a database, write it, and read it back.

A page has 8192 bytes: a header (page id, 32 bits; number of objects and offset of the end of the last one, 16 bits
each), the objects one after another, and, growing downwards from the end, the 16-bit offset of every object. No object
crosses a page boundary. An object begins with a 32-bit header, which holds its class and its number in the page (oid);
its size is a multiple of 8 bytes. Arrays of references and strings of bytes have their length in the second word; all
other words are fields. A reference is an *oref*: the page id in the bits above 9 bits of oid, or 0 for no object.

Source: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems",
SOSP 1997, sections 2 and 3: pages of 8 KB, 32-bit references, no object across pages, larger objects as trees.
The split of an oref (22 and 9 bits), the 32-bit header and the page header that maps oids to 16-bit offsets are
recollected; rounding to 8 bytes and the length word are ours.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import _layout

PAGE = 8192
PAGE_HEADER = 8
OID_BITS = 9
CLASS_SHIFT = 22
ARRAY = 14
STRING = 15
FIRST_PAGE = 1  # ids begin at 1 so that no oref is 0
LARGEST = PAGE - PAGE_HEADER - 2  # bytes of an object that fills a page
LONGEST = (LARGEST // 8 * 8 - 8) // 4  # references of the longest array


@dataclass(frozen=True)
class Class:
    """A class of objects with fields of 4 bytes.

    Attributes
    ----------
    name : str
    fields : tuple of str
        Names of the fields in the order of their words.
    references : frozenset of str
        Names of the fields that hold orefs; the others hold unsigned integers.
    """

    name: str
    fields: tuple
    references: frozenset

    @property
    def size(self):
        """Size of an object in bytes, including header and rounding."""
        return (4 + 4 * len(self.fields) + 7) & ~7

    @property
    def mask(self):
        """A mask in which bit w is set if word w of an object is a reference; word 0 is the header."""
        return sum(1 << (i + 1) for i, field in enumerate(self.fields) if field in self.references)

    def word(self, field):
        """Return the index of the word that holds a field of an object."""
        return self.fields.index(field) + 1


@dataclass(frozen=True)
class Object:
    """An object read back from its page.

    Attributes
    ----------
    oref : int
    kind : int
        Number of its class in the database, or ``ARRAY`` or ``STRING``.
    values : tuple of int or bytes
        Its fields, an array's references, or a string's characters.
    """

    oref: int
    kind: int
    values: object


class Pages:
    """A database under construction: objects are placed in order of their serial numbers; then fields are filled in.

    Parameters
    ----------
    classes : sequence of Class
        At most 14; the class at index k has the number k.
    kinds : array of int
        Class of each object, in the order of placement.
    lengths : array of int
        Number of references of an array or of bytes of a string; 0 for other objects.

    Attributes
    ----------
    pages : uint8 array, shape (pages, 8192)
        The page with id p is row p - 1.
    orefs : uint32 array, shape (objects,)

    Raises
    ------
    ParameterError
        An object does not fit on a page.
    """

    def __init__(self, classes, kinds, lengths):
        kinds, lengths = np.asarray(kinds, np.uint32), np.asarray(lengths, np.uint32)
        sizes = np.array([one.size for one in classes] + [0] * (STRING + 1 - len(classes)), np.uint32)[kinds]
        sizes = np.where(kinds == ARRAY, (8 + 4 * lengths + 7) & ~np.uint32(7), sizes)
        sizes = np.where(kinds == STRING, (8 + lengths + 7) & ~np.uint32(7), sizes).astype(np.uint32)
        if len(sizes) and sizes.max() > LARGEST:
            raise ParameterError(f"an object of {sizes.max()} bytes does not fit on a page; the largest is {LARGEST}")
        self.orefs = np.empty(len(kinds), np.uint32)
        offsets = np.empty(len(kinds), np.uint32)
        count = _layout.place(np.ascontiguousarray(sizes), self.orefs, offsets, FIRST_PAGE)
        self.pages = np.zeros((count, PAGE), np.uint8)
        row = (self.orefs >> OID_BITS).astype(np.int64) - FIRST_PAGE
        oid = (self.orefs & ((1 << OID_BITS) - 1)).astype(np.int64)
        self._words = self.pages.reshape(-1).view(np.uint32)
        self._at = row * (PAGE // 4) + offsets // 4
        self._write_headers(row, oid, offsets, sizes)
        self._words[self._at] = kinds << np.uint32(CLASS_SHIFT) | oid.astype(np.uint32)
        sized = kinds >= ARRAY
        self._words[self._at[sized] + 1] = lengths[sized]

    def _write_headers(self, row, oid, offsets, sizes):
        halves = self.pages.reshape(-1).view(np.uint16)
        halves[row * (PAGE // 2) + PAGE // 2 - 1 - oid] = offsets
        last = np.flatnonzero(np.diff(row, append=-1))
        self._words[row[last] * (PAGE // 4)] = row[last] + FIRST_PAGE
        halves[row[last] * (PAGE // 2) + 2] = oid[last] + 1
        halves[row[last] * (PAGE // 2) + 3] = offsets[last] + sizes[last]

    def fill(self, serials, word, values):
        """Write word number `word` of the given objects (1 is the first field; elements of arrays begin at 2)."""
        self._words[self._at[serials] + word] = values

    def fill_text(self, serials, text):
        """Write the same text into the given strings, each of which has the length of the text."""
        padded = np.frombuffer(text + b"\0" * (-len(text) % 4), np.uint32)
        self._words[self._at[serials][:, None] + 2 + np.arange(len(padded))] = padded


def read_object(pages, classes, oref):
    """Read the object with a given oref from its page.

    Parameters
    ----------
    pages : uint8 array, shape (pages, 8192)
    classes : sequence of Class
    oref : int

    Returns
    -------
    Object

    Raises
    ------
    ParameterError
        No object has this oref.
    """
    row, oid = (oref >> OID_BITS) - FIRST_PAGE, oref & ((1 << OID_BITS) - 1)
    if not 0 <= row < len(pages) or oid >= int(pages[row, 4:6].view(np.uint16)[0]):
        raise ParameterError(f"no object has the oref {oref:#x}")
    page = pages[row]
    at = int(page[PAGE - 2 * (oid + 1) : PAGE - 2 * oid].view(np.uint16)[0])
    words = page[at:].view(np.uint32)
    kind = int(words[0]) >> CLASS_SHIFT & 15
    if kind == STRING:
        return Object(oref, kind, page[at + 8 : at + 8 + int(words[1])].tobytes())
    fields = words[2 : 2 + int(words[1])] if kind == ARRAY else words[1 : 1 + len(classes[kind].fields)]
    return Object(oref, kind, tuple(int(value) for value in fields))


def object_sizes(pages):
    """Return the oref and the size in bytes of every object of a database.

    Parameters
    ----------
    pages : uint8 array, shape (pages, 8192)

    Returns
    -------
    (uint32 array, int64 array), each of shape (objects,)
        Orefs in ascending order; sizes in bytes, including rounding.
    """
    halves = pages.reshape(-1).view(np.uint16).reshape(len(pages), -1)
    count, end = halves[:, 2].astype(np.int64), halves[:, 3].astype(np.int64)
    row = np.repeat(np.arange(len(pages)), count)
    oid = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    begin = halves[row, PAGE // 2 - 1 - oid].astype(np.int64)
    stop = np.append(begin[1:], 0)
    last = oid == count[row] - 1
    stop[last] = end[row[last]]
    return ((row + FIRST_PAGE) << OID_BITS | oid).astype(np.uint32), stop - begin


def references_by_page(database):
    """Count the references that each page holds, and the distinct pages to which these references lead.

    Parameters
    ----------
    database : Database

    Returns
    -------
    (int64 array, int64 array), each of shape (pages,)
        Numbers of references that are not null, and of pages that they lead to, excluding the page itself.
    """
    words = database.pages.reshape(-1).view(np.uint32)
    halves = database.pages.reshape(-1).view(np.uint16)
    count = halves.reshape(len(database.pages), -1)[:, 2].astype(np.int64)
    row = np.repeat(np.arange(len(count)), count)
    oid = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    at = row * (PAGE // 4) + halves[row * (PAGE // 2) + PAGE // 2 - 1 - oid] // 4
    kind = words[at] >> CLASS_SHIFT & 15
    fields = [
        (row[kind == number], at[kind == number] + one.word(field))
        for number, one in enumerate(database.classes)
        for field in one.fields
        if field in one.references
    ]
    lengths = words[at[kind == ARRAY] + 1].astype(np.int64)
    inside = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    fields.append((np.repeat(row[kind == ARRAY], lengths), np.repeat(at[kind == ARRAY] + 2, lengths) + inside))
    source = np.concatenate([rows for rows, _ in fields])
    target = words[np.concatenate([places for _, places in fields])]
    source, target = source[target > 0], target[target > 0]
    leads = (target >> OID_BITS).astype(np.int64) - FIRST_PAGE
    size = len(database.pages)
    pairs = np.unique((source * size + leads)[source != leads])
    return np.bincount(source, minlength=size), np.bincount(pairs // size, minlength=size)
