"""Read DiskSim 4.0's parameter files: blocks of ``name = value`` with lists, nested blocks and ``source FILE``.

This module handles only the syntax (DiskSim 4.0 Reference Manual, section 3.1); `misspenalty.disks.disksim.importer`
interprets the parameters.
"""

import math
import re
from pathlib import Path

from misspenalty.errors import InputError

MOST_BYTES = 16 << 20
MOST_FILES = 1000  # maximum number of files sourced in total, counting repetitions
MAX_NESTING = 32
MAX_DIGITS = 30  # maximum number of characters of a number
MOST_INSTANCES = 10_000  # maximum number of names in a range
TOKEN = re.compile(r"[{}\[\],=]|[^{}\[\],=\s][^{}\[\],=\n]*")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
RANGE = re.compile(r"(.*?)(\d{1,9}) ?\.\. ?\1(\d{1,9})")


class Block(dict):
    """A block's parameters by name; `type` and `name` are the words before its brace, `path` is the file it is in."""

    def __init__(self, type_, name, path):
        super().__init__()
        self.type, self.name, self.path = type_, name, path


def read(path, _depth=0, _opened=None):
    """Read all named blocks of a parameter file and of the files it sources, in order.

    Returns
    -------
    blocks : list of Block
    instances : dict of str to str
        For ``instantiate [ disk0 ] as ATLAS``, ``{"disk0": "ATLAS"}``; a range ``disk0 .. disk8`` yields an item for
        each of its names.
    topology : list
        Nested ``[type, name, [children]]``.

    Raises
    ------
    InputError
        A file is missing, too large, not text, or violates the grammar; or files source each other in a cycle, or too
        many are sourced.
    """
    return _Parser(path, _depth, [] if _opened is None else _opened).file()


class _Parser:
    def __init__(self, path, depth, opened):
        self.path, self.depth, self.opened = Path(path), depth, opened
        opened.append(self.path)
        if depth > MAX_NESTING or len(opened) > MOST_FILES:
            raise InputError("files source each other in a cycle, or too many are sourced", path=path)
        try:
            if self.path.stat().st_size > MOST_BYTES:
                raise InputError(f"is larger than {MOST_BYTES >> 20} MiB; no parameter file is that large", path=path)
            text = self.path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from error
        except UnicodeDecodeError as error:
            raise InputError("is not a text file", path=path, expected="a DiskSim parameter file") from error
        if "\0" in text:
            raise InputError("contains a null character", path=path, expected="a DiskSim parameter file")
        self.tokens = []
        for number, line in enumerate(text.splitlines(), 1):
            words = (match.group().split() for match in TOKEN.finditer(line.partition("#")[0]))
            self.tokens += [(" ".join(parts), number) for parts in words]
        self.at = 0

    def file(self):
        blocks, instances, topology = [], {}, []
        while self.at < len(self.tokens):
            word = self.next()
            first, _, rest = word.partition(" ")
            if first == "source":
                inner = read(self.sibling(rest), self.depth + 1, self.opened)
                blocks += inner[0]
                instances.update(inner[1])
                topology = topology or inner[2]
            elif first == "instantiate":
                names = self.list()
                kind = self.next().removeprefix("as").strip()
                instances.update((each, kind) for name in names for each in self.instances(str(name)))
            elif first == "topology":
                topology = self.node(rest)
            elif self.peek() == "{":
                blocks.append(self.block(word))
            elif self.peek() == "=":  # skip an assignment outside a block
                self.next()
                self.value()
            else:
                self.fail(f"{word!r}", "a block of DiskSim's parameters, such as disksim_disk NAME { … }")
        return blocks, instances, topology

    def instances(self, name):
        """Return the names that an entry of a list of instances denotes: one name, or all names of a range."""
        match = RANGE.fullmatch(name)
        if match is None:
            return [name]
        numbers = range(int(match[2]), int(match[3]) + 1)
        if not 0 < len(numbers) <= MOST_INSTANCES:
            self.fail(f"range {name!r}", f"1 to {MOST_INSTANCES} names")
        return [f"{match[1]}{number}" for number in numbers]

    def node(self, words):
        kind, _, name = words.partition(" ")
        return [kind, name.strip(), self.items("[", lambda: self.node(self.next()), "]")]

    def block(self, words):
        kind, _, name = words.partition(" ")
        made = Block(kind, name.strip() or None, self.path)
        made.update(self.items("{", self.parameter, "}"))
        return made

    def parameter(self):
        key = self.next()
        self.expect("=")
        return key, self.value()

    def value(self):
        if self.peek() == "[":
            return self.list()
        word = self.next()
        if word in "{}],=":
            self.fail(f"{word!r}", "a value")
        if self.peek() == "{":
            return self.block(word)
        first, _, rest = word.partition(" ")
        if first == "source":
            blocks, _, _ = read(self.sibling(rest), self.depth + 1, self.opened)
            if len(blocks) != 1:
                self.fail(f"source {rest!r} with {len(blocks)} blocks", "one block")
            return blocks[0]
        if not NUMBER.match(word):
            return word
        if len(word) > MAX_DIGITS or not math.isfinite(float(word)):
            self.fail(f"number {word[:MAX_DIGITS]}", f"a finite one of at most {MAX_DIGITS} characters")
        return float(word) if re.search("[.eE]", word) else int(word)

    def list(self):
        return self.items("[", self.value, "]")

    def items(self, opening, item, closing):
        """Return the items between two brackets, each read by `item`; commas between them may be left out."""
        made = []
        self.expect(opening)
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail("depth", f"at most {MAX_NESTING} nested brackets")
        while self.peek() != closing:
            made.append(item())
            if self.peek() == ",":
                self.next()
        self.expect(closing)
        self.depth -= 1
        return made

    def sibling(self, name):
        """Return the path of a sourced file: a plain name, in the folder of the file that names it."""
        name = name.strip()
        if not name or Path(name).name != name:
            self.fail(f"source {name!r}", "a file in the same folder")
        return self.path.parent / name

    def peek(self):
        return self.tokens[self.at][0] if self.at < len(self.tokens) else None

    def next(self):
        if self.at == len(self.tokens):
            raise InputError("ends in the middle of a block", path=self.path)
        self.at += 1
        return self.tokens[self.at - 1][0]

    def expect(self, token):
        found = self.next()
        if found != token:
            self.fail(repr(found), repr(token))

    def fail(self, what, expected=None):
        line = self.tokens[self.at - 1][1]  # line of the last token that was read
        raise InputError(f"unexpected {what}", path=self.path, line=line, expected=expected)
