"""Run each reproduction of a difference twice, and compare what it prints with what its first line says.

    python conformance/reproduce.py                        # every language whose tools are installed
    python conformance/reproduce.py --languages python,go  # only these

A reproduction is a program in the library's own language that uses nothing but the library. Its first line states
the cache, its capacity, the trace, what the program prints, and what the policy would print. Both are either outcomes,
where 1 is a hit, or a number of hits (or a bound on it, with ``over`` or ``under``). In a trace, ``w1`` writes block 1,
``1-4`` is ``1 2 3 4``, and ``n n-20 for n to 100`` requests block n for each n from 1 to 100, and after it block n-20
if n is larger than 20.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

from run import BUILD, BUILDS, HERE, available, languages

FOLDERS = {"rust": HERE / "rust" / "examples"}  # Cargo looks for programs there; other languages use `reproductions`
ANSWER = r"[01]+|(?:over |under )?\d+ hits"
SAYS = re.compile(
    r"(?://|#) (?P<cache>\S+), capacity (?P<capacity>\d+), trace (?P<trace>[^:]+): "
    rf"prints (?P<prints>{ANSWER}); (?P<policy>\S+) has (?P<has>{ANSWER})"
)
PAIRS = re.compile(r"n n-(?P<before>\d+) for n to (?P<last>\d+)")


def reproductions(language):
    """List the programs of a language, by path."""
    folder = FOLDERS.get(language, HERE / language / "reproductions")
    return sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".go", ".mjs", ".rs", ".java"))


def says(path):
    """Return the parts of the first line of a reproduction, by their names in `SAYS`."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    found = SAYS.fullmatch(first)
    if found is None:
        raise SystemExit(f"{path}: line 1: {first!r}; expected '# CACHE, capacity N, trace …: prints …; POLICY has …'")
    return found.groupdict()


def blocks(trace):
    """Return the blocks of a trace that is written as in a first line.

    Examples
    --------
    >>> blocks("1-3 w2"), blocks("n n-1 for n to 3")
    ([1, 2, 3, 2], [1, 2, 1, 3, 2])
    """
    pairs = PAIRS.fullmatch(trace)
    if pairs:
        before = int(pairs["before"])
        return [block for n in range(1, int(pairs["last"]) + 1) for block in (n, n - before) if block >= 1]
    ends = [word.removeprefix("w").split("-") for word in trace.split()]
    return [block for each in ends for block in range(int(each[0]), int(each[-1]) + 1)]


def agrees(said, printed):
    """Return whether the printed outcomes or number of hits agree with what a first line says.

    Examples
    --------
    >>> agrees("0010", "0010"), agrees("3 hits", "3"), agrees("over 3 hits", "3"), agrees("under 4 hits", "3")
    (True, True, False, True)
    """
    if not said.endswith(" hits"):
        return printed == said
    *bound, hits = said.removesuffix(" hits").split()
    return {"over": int.__gt__, "under": int.__lt__}.get("".join(bound), int.__eq__)(int(printed), int(hits))


def command(language, path):
    """Return the command that runs a program, and the folder to run it in; the adapter must have been built."""
    if language == "python":
        return [BUILD / "python" / "bin" / "python", path], HERE
    if language == "go":
        return ["go", "run", path], HERE / "go"
    if language == "rust":
        return ["cargo", "run", "--release", "--quiet", "--example", path.stem], HERE / "rust"
    if language == "java":
        return ["java", "-cp", BUILD / "java" / "lib" / "*", path], HERE
    copied = shutil.copy(path, BUILD / "javascript")  # Node looks for the libraries next to the program
    return ["node", copied], HERE


def main():
    """Run the command line; return exit status 1 if a program does not print what its first line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--languages", default=",".join(BUILDS), type=languages, help="comma-separated (default: all)")
    status = 0
    for language, build in available(parser.parse_args().languages):
        build()
        for path in reproductions(language):
            expected = says(path)
            words, folder = command(language, path)
            environment = os.environ | {"CARGO_TARGET_DIR": str(BUILD / "rust")}
            run = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": True}
            printed = [subprocess.run(words, **run).stdout.strip() for _ in range(2)]
            as_said = all(agrees(expected["prints"], each) for each in printed)
            status = status if as_said else 1
            verdict = "as said" if as_said else f"not {expected['prints']}"
            print(language, expected["cache"], *dict.fromkeys(printed), verdict)
    return status


if __name__ == "__main__":
    sys.exit(main())
