"""Test the tool that translates kernels: it uses few processes, skips unchanged kernels and never leaves partial C
files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "cython_modules.py"
# This stand-in for Cython copies each source, lists what it includes as dependencies, and logs its arguments.
CYTHON = r"""#!{python}
import sys
from pathlib import Path
made = Path(sys.argv[sys.argv.index("--output-file") + 1])
sources = sys.argv[sys.argv.index("--output-file") + 2 :]
with open({log!r}, "a") as log:
    print(*(Path(source).stem for source in sources), file=log)
for source in map(Path, sources):
    text = source.read_text()
    if "wrong" in text:
        sys.exit(1)
    folder = made / source.parent
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (source.stem + ".c")).write_text(text)
    needs = [str(source), *(line.split()[1] for line in text.splitlines() if line.startswith("include "))]
    (folder / (source.stem + ".c.dep")).write_text(source.stem + ".c: " + " \\\n ".join(needs) + "\n")
"""


@pytest.fixture
def tree(tmp_path):
    """Return a function that translates six kernels of two packages; two of the kernels include a file."""
    for name, below in (("misspenalty", "src/misspenalty"), ("misspenalty_studies", "studies")):
        (tmp_path / below).mkdir(parents=True)
        for kernel in "abc":
            (tmp_path / below / f"_{kernel}{name[-1]}.pyx").write_text(f"kernel {kernel}\n")
    (tmp_path / "src/misspenalty/_shared.pxd").write_text("shared\n")
    for path in ("src/misspenalty/_ay.pyx", "studies/_as.pyx"):
        with (tmp_path / path).open("a") as source:
            source.write("include misspenalty/_shared.pxd\n")
    cython, out = tmp_path / "cython", tmp_path / "out"
    cython.write_text(CYTHON.format(python=sys.executable, log=str(tmp_path / "log")))
    cython.chmod(0o755)
    out.mkdir()
    sources = [f"misspenalty/_{kernel}y.pyx" for kernel in "abc"] + [f"misspenalty_studies/_{k}s.pyx" for k in "abc"]

    def translate(*options):
        (tmp_path / "log").write_text("")
        command = [sys.executable, TOOL, cython, tmp_path, out, out / "kernels.d", *sources, "--", *options]
        done = subprocess.run(command, cwd=out, capture_output=True, text=True)
        lines = (tmp_path / "log").read_text().splitlines()
        return done, sorted(name for line in lines for name in line.split()), len(lines)

    return translate


ALL = ["_as", "_ay", "_bs", "_by", "_cs", "_cy"]


def later(path, text):
    """Write a file and make it newer than anything before, even if the clock is coarse."""
    path.write_text(text)
    now = path.stat().st_mtime_ns
    os.utime(path, ns=(now + 10**9, now + 10**9))


def test_all_kernels_are_translated_by_a_process_per_processor(tree, tmp_path):
    done, translated, processes = tree("-3")
    assert (done.returncode, translated) == (0, ALL)
    assert processes == min(os.cpu_count(), 4)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.c")) == [f"{name}.c" for name in ALL]
    needs = (tmp_path / "out/kernels.d").read_text()
    assert needs.startswith("_ay.c: ")
    assert needs.count("_shared.pxd") == 1
    assert needs.count(".pyx") == 6


def test_only_what_has_changed_is_translated_again(tree, tmp_path):
    assert tree("-3")[1] == ALL
    assert tree("-3")[1] == []
    later(tmp_path / "studies/_bs.pyx", "kernel b, changed\n")
    assert tree("-3")[1] == ["_bs"]
    assert (tmp_path / "out/_bs.c").read_text() == "kernel b, changed\n"
    later(tmp_path / "src/misspenalty/_shared.pxd", "shared, changed\n")
    assert tree("-3")[1] == ["_as", "_ay", "_bs"]  # _bs is newer than its own translation here


def test_other_options_another_cython_and_a_missing_file_translate_again(tree, tmp_path):
    tree("-3")
    assert tree("-3", "-X", "boundscheck=True")[1] == ALL
    (tmp_path / "out/_cy.c").unlink()
    assert tree("-3", "-X", "boundscheck=True")[1] == ["_cy"]
    later(tmp_path / "cython", (tmp_path / "cython").read_text())  # like an in-place upgrade
    assert tree("-3", "-X", "boundscheck=True")[1] == ALL


def test_c_that_would_not_change_keeps_its_time(tree, tmp_path):
    tree("-3")
    before = (tmp_path / "out/_as.c").stat().st_mtime_ns
    assert tree("-3", "--another")[1] == ALL
    assert (tmp_path / "out/_as.c").stat().st_mtime_ns == before


def test_a_kernel_that_does_not_translate_fails_and_is_tried_again(tree, tmp_path):
    tree("-3")
    later(tmp_path / "studies/_cs.pyx", "wrong\n")
    assert tree("-3")[0].returncode == 1
    assert (tmp_path / "out/_cs.c").read_text() == "kernel c\n"
    assert tree("-3")[1] == ["_cs"]
