"""Make deliberate faults in the tokens of a Python or Cython source, and draw a random sample of them.

A fault exchanges an operator or a word such as `min` or `True`, adds one to a number, inverts a condition, or leaves
out a statement. Signatures, declarations, imports and error messages get no fault, because they have no behaviour of
their own. `strict=True`, which asserts what is true anyway, and hints to the processor, which change no result, get no
fault either.
"""

import fnmatch
import io
import random
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "misspenalty"
STUDIES = ROOT / "studies"
EXCHANGED = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"+": "-", "-": "+", "+=": "-=", "-=": "+=", "*": "+", "//": "*", "%": "+", "&": "|", "|": "&"},
    **{"<<": ">>", ">>": "<<", "and": "or", "or": "and", "True": "False", "False": "True", "min": "max", "max": "min"},
    **{"break": "continue", "not": "", "is": "is not"},
}
# Lines that begin with these words have no behaviour of their own or only raise an error, and get no fault.
LEFT_OUT = ("import ", "from ", "cimport ", "@", "class ", "def ", "cdef class", "cdef enum", "raise ", "ctypedef ")
DECLARED = ("cdef ", "cpdef ", "const ")
# In kernels, these words give hints to the processor.
HINT = re.compile(r"\bprefetch\(|\bfetch\(drive|\bwarm(_stripe)?\(|\b(AHEAD|NEAR|NEXT|SOONER|LATER)\b")
FUNCTION = re.compile(r"(async def|def|cdef|cpdef) (?!class |struct |enum |extern )[^=]*\(")


def source_of(name):
    """Return the path of a source; its name is relative to the library, or to the checkout if it is a study's."""
    return (ROOT if name.startswith("studies/") else SOURCE) / name


def installed_name(name):
    """Return the path of a source relative to the folder in which the packages are installed."""
    return name.replace("studies/", "misspenalty_studies/", 1) if name.startswith("studies/") else f"misspenalty/{name}"


@dataclass(frozen=True)
class Mutant:
    """A fault: the text `after` replaces the characters from `begin` to `end` in a line of a source."""

    path: str
    line: int
    begin: int
    end: int
    after: str

    def before(self, lines):
        """Return the characters that the fault replaces."""
        return lines[self.line - 1][self.begin : self.end]

    def text(self, lines):
        """Return the whole source with the fault."""
        changed = lines[self.line - 1]
        changed = changed[: self.begin] + self.after + changed[self.end :]
        return "".join([*lines[: self.line - 1], changed, *lines[self.line :]])


def tokens(text):
    """Yield the tokens of a Python or Cython source, up to the point where it cannot be split into tokens."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return


@dataclass(frozen=True)
class Logical:
    """A statement or the header of a block: characters `begin` to `end` of a text."""

    begin: int
    end: int
    indent: int
    inside: bool  # whether the line is in the body of a function


def logical_lines(text):
    """Yield every `Logical` line of a Python or Cython source."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    blocks, first, last = [], None, None
    for token in tokens(text):
        if token.type == tokenize.NEWLINE and first:
            begin, end, indent = starts[first[0] - 1] + first[1], starts[last[0] - 1] + last[1], first[1]
            blocks = [block for block in blocks if block[0] < indent]
            yield Logical(begin, end, indent, any(function for _, function in blocks))
            if text[end - 1] == ":":
                blocks.append((indent, bool(FUNCTION.match(text[begin:end]))))
            first = None
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE):
            first, last = first or token.start, token.end


def mutants_of(path, text):
    """Return every fault that can be made in a source.

    >>> [(m.line, m.after) for m in mutants_of("a.py", "def f(a):\\n    return a < 1\\n")]
    [(2, '<='), (2, '2')]
    """
    lines, found, before = text.splitlines(keepends=True), [], ""
    idle = without_behaviour(text, hints=path.endswith(".pyx"))
    for token in tokens(text):
        row, begin = token.start
        if row > len(lines):
            break
        line = lines[row - 1].strip()
        declared = line.startswith(DECLARED) and "=" not in line[: max(begin, 0)]
        if row not in idle and not declared and token.start[0] == token.end[0]:
            after = exchanged(token, before, lines[row - 1][token.end[1] :])
            if after is not None and not lines[row - 1][:begin].endswith("strict="):
                found.append(Mutant(path, row, begin, token.end[1], after))
        before = token.string
    return found + [mutant for mutant in left_out(path, text) if mutant.line not in idle]


def without_behaviour(text, hints):
    """Return the numbers of the lines that get no fault: imports, signatures, errors, multi-line strings and, if
    `hints`, hints to the processor."""
    strings = (token for token in tokens(text) if token.type == tokenize.STRING and token.start[0] != token.end[0])
    found = {line for token in strings for line in range(token.start[0], token.end[0] + 1)}
    for logical in logical_lines(text):
        line = text[logical.begin : logical.end]
        if (
            (hints and HINT.search(line))
            or line.startswith(LEFT_OUT)
            or (line.startswith(DECLARED) and line.endswith(":") and "(" in line)
        ):
            first = text.count("\n", 0, logical.begin) + 1
            found |= set(range(first, first + line.count("\n") + 1))
    return found


def exchanged(token, before, rest):
    """Return the replacement of a token, or None: signs, casts and the stars of calls or pointers have none."""
    if token.type == tokenize.NUMBER and token.string.isdigit():
        return str(int(token.string) + 1)
    if token.type not in (tokenize.OP, tokenize.NAME) or token.string not in EXCHANGED:
        return None
    unary = before in ("(", ",", "[", "=", "", "\n", "return", ":") or before in EXCHANGED
    if token.type == tokenize.OP and (unary or not rest.startswith(" ")):  # as in `<type>x`, `-1`, `*args`
        return None
    if (token.string, rest.split(" ")[1:2]) in (("|", ["None"]), ("is", ["not"])):  # in a type; part of "is not"
        return None
    return EXCHANGED[token.string]


def left_out(path, text):
    """Return the faults that remove a simple statement or invert an `if` condition, if it is on a single line."""
    found, starts = [], {logical.begin: logical for logical in logical_lines(text)}
    place = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        begin = len(line) - len(line.lstrip())
        logical = starts.get(place + begin)
        place += len(line)
        if logical is None or logical.end > place:
            continue
        end, what = begin + logical.end - logical.begin, text[logical.begin : logical.end]
        if what.startswith("if ") and what.endswith(":"):
            found.append(Mutant(path, number, begin, end, f"if not ({what[3:-1]}):"))
        elif is_statement(what):
            found.append(Mutant(path, number, begin, end, "pass"))
    return found


def is_statement(text):
    """Tell whether a line is a call, or changes an existing variable, attribute or item."""
    head = text.split("(")[0].split(" ")[0]
    call = text.endswith(")") and head.replace(".", "").replace("_", "").isalnum() and "(" in text and " = " not in text
    known = any(sign in text for sign in (" += ", " -= ")) or (" = " in text and ("." in head or "[" in head))
    return (call or known) and not text.startswith(
        (*LEFT_OUT, *DECLARED, "return", "if ", "for ", "while ", "with ", ">>>")
    )


def choose(patterns, count, seed):
    """Return `count` random faults in the sources that match a pattern, with about the same number from each source,
    regardless of its length.

    The order in which a source's faults are drawn depends only on that source and the seed.
    """
    by_source = {}
    library = (path.relative_to(SOURCE) for path in SOURCE.rglob("*"))
    studies = (path.relative_to(ROOT) for path in STUDIES.rglob("*") if "tests" not in path.parts)
    for path in sorted(p for p in (*library, *studies) if p.suffix in (".py", ".pyx")):
        name = path.as_posix()
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            found = mutants_of(name, source_of(name).read_text())
            by_source[name] = random.Random(f"{seed} {name}").sample(found, len(found))
    names = random.Random(seed).sample(sorted(by_source), len(by_source))
    rounds = max(map(len, by_source.values()), default=0)
    return [by_source[name][turn] for turn in range(rounds) for name in names if turn < len(by_source[name])][:count]
