"""Run the reproductions of differences, and compare what each prints, twice, with what its first line says.

    python conformance/reproduce.py                        # of every language whose tools are here
    python conformance/reproduce.py --languages python,go  # of some

A reproduction is a program in the library's own language that uses nothing but the library. Its first line says which
cache it is, the capacity, the trace (``w1`` writes block 1), what it prints, and what the policy has; 1 is a hit.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

from run import BUILD, BUILDS, HERE

FOLDERS = {"rust": HERE / "rust" / "examples"}  # where Cargo looks for them; elsewhere the folder is `reproductions`
SAYS = re.compile(
    r"(?://|#) (?P<cache>\S+), capacity (?P<capacity>\d+), trace (?P<trace>[w\d ]+): "
    r"prints (?P<prints>[01]+); (?P<policy>\S+) has (?P<has>[01]+)"
)


def reproductions(language):
    """List the programs of a language, by path."""
    folder = FOLDERS.get(language, HERE / language / "reproductions")
    return sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".go", ".mjs", ".rs"))


def says(path):
    """Return what the first line of a reproduction says, by name."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    found = SAYS.fullmatch(first)
    if found is None:
        raise SystemExit(f"{path}: line 1: {first!r}; expected '# CACHE, capacity N, trace …: prints …; POLICY has …'")
    return found.groupdict()


def command(language, path):
    """Return the command that runs a program once the adapter is built, and its folder."""
    if language == "python":
        return [BUILD / "python" / "bin" / "python", path], HERE
    if language == "go":
        return ["go", "run", path], HERE / "go"
    if language == "rust":
        return ["cargo", "run", "--release", "--quiet", "--example", path.stem], HERE / "rust"
    copied = shutil.copy(path, BUILD / "javascript")  # next to its libraries
    return ["node", copied], HERE


def main():
    """Run the command line; the exit status is 1 if a program prints something else."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--languages", default="python,go,javascript,rust", help="comma-separated (default: all)")
    status = 0
    for language in parser.parse_args().languages.split(","):
        tool, build = BUILDS[language]
        if shutil.which(tool) is None:
            print(f"{language}: left out, {tool} is not here", file=sys.stderr)
            continue
        build()
        for path in reproductions(language):
            expected = says(path)
            words, folder = command(language, path)
            environment = os.environ | {"CARGO_TARGET_DIR": str(BUILD / "rust")}
            run = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": True}
            printed = {subprocess.run(words, **run).stdout.strip() for _ in range(2)}
            as_said = printed == {expected["prints"]}
            status = status if as_said else 1
            print(language, expected["cache"], *printed, "as said" if as_said else f"not {expected['prints']}")
    return status


if __name__ == "__main__":
    sys.exit(main())
