"""Build sources that contain all their faults at once; at run time, a number switches one of them on.

In this way, a kernel is compiled once for all its faults, and the process that tries a fault has already imported the
package and collected the tests. A statement becomes an `if` chain of its variants; a condition, the range of a loop or
the value of a declaration becomes a conditional expression. A fault in code that runs at import cannot be switched on
later, so it needs a source of its own.
"""

import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tokenize
from pathlib import Path

import numpy as np
from faults import installed_name, logical_lines, source_of, tokens

SWITCH, VARIABLE = "_fault_", "MISSPENALTY_FAULT"
BEFORE = {
    ".py": f"""\
import os as _os_
{SWITCH} = int(_os_.environ.get("{VARIABLE}", 0))
def _switch_(number):
    global {SWITCH}
    {SWITCH} = number
""",
    ".pyx": f"""\
import os as _os_
cdef int {SWITCH} = int(_os_.environ.get("{VARIABLE}", 0))
def _switch_(int number):
    global {SWITCH}
    {SWITCH} = number
""",
}
DIRECTIVES = (
    "boundscheck=False,wraparound=False,initializedcheck=False,nonecheck=False,cdivision=True,auto_pickle=False"
)


def pieces(text, signs):
    """Return the positions of the tokens `signs` outside brackets and strings, as ``(begin, end)``."""
    depth, found = 0, []
    for token in tokens(text + "\n"):
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if depth == 0 and token.string in signs and token.start[0] == 1:
            found.append((token.start[1], token.end[1]))
    return found


def expressions(line, cython):
    """Return the positions of the expressions in a header or a declaration that can become a choice, as
    ``(begin, end)``; return None for a statement, which becomes a choice as a whole."""
    word = line.split(" ")[0]
    if word in ("if", "elif", "while"):
        return [(len(word) + 1, len(line) - 1)]
    if word == "for":
        begin = next(end for _, end in pieces(line, ("in",))) + 1
        if not cython:
            return [(begin, len(line) - 1)]
        if not line.startswith("range(", begin) or not line.endswith("):"):
            return []
        begin, end = begin + len("range("), len(line) - len("):")
        return between(line, begin, end, pieces(line[begin:end], (",",)))
    if word in ("cdef", "cpdef"):
        commas = [(0, 0), *pieces(line, (",",)), (len(line), len(line))]
        parts = itertools.pairwise(commas)
        return [(signs[0][1], part[1][0]) for part in parts if (signs := values(line, part))]
    return [] if line.endswith(":") or word in ("@", "with") else None


def values(line, part):
    """Return the position of the ``=`` before the value in one part of a declaration, as a list that may be empty."""
    (_, begin), (end, _) = part
    return [place for place in pieces(line, ("=",)) if begin <= place[0] < end]


def between(line, begin, end, commas):
    """Return the positions of the arguments of a call, as ``(begin, end)``."""
    cuts = [begin, *(begin + a for a, _ in commas), end]
    return [(a + (line[a] == ","), b) for a, b in itertools.pairwise(cuts)]


def spelled(line, begin, end, fault):
    """Return `line` with the fault's replacement in place of the text from `begin` to `end`."""
    return line[:begin] + fault.after + line[end:]


def choice(line, indent, faults, cython):
    """Return a logical line that chooses between the original and its faults, and the numbers of these faults.

    Parameters
    ----------
    line : str
    indent : int
    faults : list of (int, int, int, Mutant)
        Number of each fault, its begin and end within the line, and the fault.
    cython : bool

    Returns
    -------
    str
    list of int

    Examples
    --------
    >>> from faults import Mutant
    >>> choice("while a < b:", 4, [(7, 8, 9, Mutant("a.py", 1, 8, 9, "<="))], False)[0]
    'while ((a <= b) if _fault_ == 7 else (a < b)):'
    """
    spans = expressions(line, cython)
    if spans is None:
        text, word = "", "if"
        for number, begin, end, fault in faults:
            text += (
                f"{word} {SWITCH} == {number}:\n{' ' * indent}    {spelled(line, begin, end, fault)}\n{' ' * indent}"
            )
            word = "elif"
        return f"{text}else:\n{' ' * indent}    {line}", [number for number, *_ in faults]
    # Convert both sides to truth values, because Cython 3.3.1 crashes on an `and` or `or` of an int and a bint.
    condition = cython and line.split(" ")[0] in ("if", "elif", "while")
    value = "(not (not ({})))".format if condition else "({})".format
    text, done = line, []
    for a, b in reversed(spans):
        expression = line[a:b].strip()
        chosen = ""
        for number, begin, end, fault in faults:
            # A fault that begins like this inverts the whole condition.
            if (begin, end) == (0, len(line)) and fault.after.startswith("if not ("):
                wrong = fault.after[len("if ") : -1]
            elif a <= begin and end <= b:
                wrong = spelled(line, begin, end, fault)[a : b + len(fault.after) - (end - begin)].strip()
            else:
                continue
            chosen += f"{value(wrong)} if {SWITCH} == {number} else "
            done.append(number)
        if chosen:
            space = " " * (len(line[a:b]) - len(line[a:b].lstrip()))
            text = f"{text[:a]}{space}({chosen}{value(expression)}){text[b:]}"
    return text, done


def switched(text, numbered, suffix):
    """Return a source with faults that can be switched on at run time.

    Parameters
    ----------
    text : str
    numbered : dict of int to Mutant
    suffix : {".py", ".pyx"}

    Returns
    -------
    str
    list of int
        Numbers of the faults that it contains; the others run at import, or cannot be written as a choice.
    """
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places = {number: (starts[m.line - 1] + m.begin, starts[m.line - 1] + m.end) for number, m in numbered.items()}
    lines, parts, position, done, begun = list(logical_lines(text)), [], 0, [], False
    for logical in lines:
        line = text[logical.begin : logical.end]
        if not begun and not line.startswith(('"""', 'r"""', "from __future__")):
            parts += [text[position : logical.begin], BEFORE[suffix]]
            position, begun = logical.begin, True
        inside = [
            (number, begin - logical.begin, end - logical.begin, numbered[number])
            for number, (begin, end) in places.items()
            if logical.begin <= begin and end <= logical.end
        ]
        if inside and logical.inside:
            chosen, numbers = choice(line, logical.indent, inside, suffix == ".pyx")
            parts += [text[position : logical.begin], chosen]
            position, done = logical.end, done + numbers
    return "".join([*parts, text[position:]]), done


def faults_near(text, line):
    """Return the numbers of the faults in a line of a switched source, or in the nearest earlier line that has any."""
    for content in reversed(text.splitlines()[:line]):
        if numbers := re.findall(rf"{SWITCH} == (\d+)", content):
            return [int(number) for number in numbers]
    return []


class Copy:
    """A copy of the installed packages in a separate folder; if `of` is another copy, its files are hard-linked."""

    def __init__(self, folder, of=None):
        self.folder = Path(folder)
        for name in ("misspenalty", "misspenalty_studies"):
            shutil.copytree(
                Path(of.folder, name) if of else package(name),
                self.folder / name,
                copy_function=os.link if of else shutil.copy2,
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    def put(self, name, text):
        """Replace a source and compile it; return the error message of the compiler, or "" if there is none."""
        path = self.folder / installed_name(name)
        path.unlink()  # do not overwrite it, because other copies are hard links to the same file
        path.write_text(text)
        if path.suffix == ".py":
            try:
                compile(text, path.name, "exec")
            except SyntaxError as error:
                return str(error)
            return ""
        library = path.with_name(path.stem + sysconfig.get_config_var("EXT_SUFFIX"))
        c = path.with_suffix(".c")
        cython = [sys.executable, "-m", "cython", "-3", "--shared=misspenalty._cyutility", "-X", DIRECTIVES]
        headers = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
        gcc = [*(os.environ.get("CC") or "cc").split(), "-O0", "-w", "-shared", "-fPIC", "-ffp-contract=off", *headers]
        library.unlink(missing_ok=True)
        steps = ([*cython, "-I", str(self.folder), "-o", str(c), str(path)], [*gcc, "-o", str(library), str(c), "-lm"])
        for step in steps:
            done = subprocess.run(step, cwd=self.folder, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.stderr or f"{step[0]} failed without a message"
        c.unlink()
        return ""


def package(name="misspenalty"):
    """Return the folder of an installed package without importing it."""
    return Path(importlib.util.find_spec(name).origin).parent


def put_switched(copy, name, faults):
    """Insert the faults of a source that compile into a copy; return the numbers of these faults.

    Parameters
    ----------
    copy : Copy
    name : str
        Name of the source, as `source_of` takes it.
    faults : dict of int to Mutant
    """
    text, left = source_of(name).read_text(), dict(faults)
    while True:
        changed, inside = switched(text, left, Path(name).suffix)
        said = copy.put(name, changed)
        if not said:
            return inside
        lines = re.findall(r"(?m)^[^:\s]+\.pyx:(\d+):\d+: ", said)
        wrong = {number for line in lines for number in faults_near(changed, int(line))} or set(left)
        left = {number: fault for number, fault in left.items() if number not in wrong}
