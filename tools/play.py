"""Build what the site's page "Press play" runs: the package with its kernels as WebAssembly, Pyodide, and traces.

    python tools/play.py --out build/play

The kernels are the package's own, translated by Cython with the options of the native build and compiled by Zig's C
compiler for Python's stable ABI, so any Python from 3.11 on can build them, and any later Pyodide can load them. This
needs Cython, Python's headers, the package `ziglang`, and npm to fetch Pyodide. Nothing is patched. The archive has
only those modules of the package that the page's code imports. `manifest.json` lists what was built; the page reads it.

Emscripten and Pyodide's builds of NumPy, pandas and pyarrow are not available from package registries. Zig therefore
replaces Emscripten, and small modules in `studies/common/site/play/standins` replace the packages.
"""

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

import misspenalty
from misspenalty import disks
from misspenalty.disks.drive import layout
from misspenalty.disks.drive.description import ns, seek_table
from misspenalty.errors import InputError, MissPenaltyError
from misspenalty.io.files import atomic_path
from misspenalty.io.threads import map_in_threads
from misspenalty_studies.common.claims.forms import TIE, limit_of
from misspenalty_studies.common.claims.ledger import load_ledger

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
PLAY = ROOT / "studies" / "common" / "site" / "play"
PYODIDE = "314.0.7"
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
ABI = "0x030b0000"  # Python 3.11's stable ABI, the first with the buffer protocol
COMPILE = (
    "-target",
    "wasm32-wasi",
    "-mcpu=mvp+sign_ext+mutable_globals+nontrapping_fptoint",
    "-O2",
    "-g0",
    "-fPIC",
    "-fwrapv",
    "-ffp-contract=off",
    "-fvisibility=hidden",
    "-DNDEBUG",
    f"-DPy_LIMITED_API={ABI}",
    "-DCYTHON_LIMITED_API=1",
    "-w",
)
LINK = ("--experimental-pic", "-shared", "--allow-undefined", "--no-entry", "--strip-debug")
# The drive mechanics need the product of two 128-bit numbers. Pyodide does not export the function of the compiler's
# library that computes it, so it is defined here.
WIDE = """
typedef unsigned long long word;
void __multi3(word *r, word a, word a_high, word b, word b_high) {
    word a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    word low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    r[0] = (other << 32) | (low & 0xffffffffu);
    r[1] = a1 * b1 + (middle >> 32) + (other >> 32) + a * b_high + a_high * b;
}
"""
TRACES = {
    "tpcc_small": ("tests/data/tpcc_small.parquet", "TPC-C behind a database's buffer, a short stretch"),
    "conversation": ("data/raw/kvcache/conversation.jsonl.xz", "Prompts of a chat service (Mooncake)"),
    "128mb": ("data/raw/tpcc/128mb.parquet", "TPC-C behind 128 MB of database buffer, whole; MQ is judged on it"),
}
SIZES_MB = (128, 256, 512)
JUDGED = {  # claims about Table 4 of the MQ paper, by the quantity compared
    "order": "mq.table4.order.{mb}",
    "fewer": "mq.table4.rel_miss.{mb}",
    "margin": "mq.table4.margin.{mb}",
    "value mq": "mq.table4.mq.{mb}",
    "value lru": "mq.table4.lru.{mb}",
}


def main():
    """Build the folder; exit with status 2 and one line if that is not possible."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", default="build/play")
    options = parser.parse_args()
    try:
        build(Path(options.out))
    except (MissPenaltyError, subprocess.CalledProcessError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(options.out)
    return 0


def build(out):
    """Write the folder as a whole, or nothing if a step fails."""
    with atomic_path(out) as folder, tempfile.TemporaryDirectory() as scratch:
        folder.mkdir()
        fetch_pyodide(Path(scratch), folder / "pyodide")
        pack_package(imported(), folder / "pyodide", Path(scratch), folder / "package.zip")
        traces = [pack(folder, name, *about) for name, about in TRACES.items() if (ROOT / about[0]).is_file()]
        manifest = {"traces": traces, "drives": drives(folder), "claims": claims({one["name"] for one in traces})}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def fetch_pyodide(scratch, target):
    """Fetch the Pyodide files that a page needs into a new folder."""
    command = ["npm", "pack", "--loglevel", "error", f"pyodide@{PYODIDE}"]
    if subprocess.run(command, cwd=scratch, stdout=subprocess.DEVNULL).returncode:  # npm has printed the reason
        raise InputError(
            f"npm could not fetch pyodide {PYODIDE}",
            remedy="run this again where npm reaches its registry (`npm config get registry` prints its address)",
        )
    target.mkdir()
    with tarfile.open(scratch / f"pyodide-{PYODIDE}.tgz") as packed:
        for name in FILES:
            with packed.extractfile(f"package/{name}") as source, (target / name).open("wb") as copy:
                shutil.copyfileobj(source, copy)


def imported():
    """List every module of the package that the page's code imports, directly or not, in a fresh interpreter."""
    script = "import runpy, sys; runpy.run_path(sys.argv[1]); print(*(n for n in sys.modules if n != '__main__'))"
    listed = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, PLAY / "replay.py"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        raise InputError(f"the page's code cannot be imported: {listed.stderr.strip()[-500:]}", path=PLAY / "replay.py")
    return sorted(name for name in listed.stdout.split() if name.partition(".")[0] == "misspenalty")


def pack_package(modules, pyodide, scratch, archive):
    """Pack the modules, with the kernels compiled, and the stand-ins into one archive."""
    headers, translated = scratch / "include", scratch / "c"
    shutil.copytree(sysconfig.get_path("include"), headers)
    (headers / "pyconfig.h").write_text(configuration(pyodide / "python_stdlib.zip"))
    translated.mkdir()
    plain = {name: path for name in modules if (path := source_of(name)).suffix == ".py"}
    kernels = [name for name in modules if source_of(name).suffix == ".pyx"]
    # Reuse what the native build has translated; only files that are out of date are translated again.
    for built in ROOT.glob("build/wheel-*"):
        for path in (*built.glob("*.c"), *built.glob("*.needs")):
            shutil.copy2(path, translated)
    sources = [source_of(name).relative_to(SOURCES) for name in kernels]
    if len({source.stem for source in sources}) < len(sources):
        raise InputError("two kernels have the same name", expected="distinct names, as all are translated at once")
    cython = Path(sys.executable).with_name("cython")
    tool = [sys.executable, ROOT / "tools" / "cython_modules.py", cython, ROOT, translated, scratch / "needed.d"]
    for command in ([*tool, "--"], [*tool, *sources, "--", *directives()]):
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    (scratch / "wide.c").write_text(WIDE)
    wide = scratch / "wide.o"
    zig("cc", *COMPILE, "-c", scratch / "wide.c", "-o", wide)

    def compiled(name):
        last = name.rpartition(".")[2]
        made, library = scratch / f"{last}.o", scratch / f"{last}.so"
        zig("cc", *COMPILE, f"-I{headers}", "-c", translated / f"{last}.c", "-o", made)
        zig("wasm-ld", *LINK, f"--export=PyInit_{last}", "-o", library, made, wide)
        return library.read_bytes()

    names = [*kernels, UTILITIES]
    libraries = map_in_threads(compiled, names, None)
    with zipfile.ZipFile(archive, "w") as packed:
        for name, library in zip(names, libraries, strict=True):
            add(packed, f"{name.replace('.', '/')}.abi3.so", library)
        for path in plain.values():
            for file in [path, *(sorted(path.parent.glob("*.yaml")) if path.name == "__init__.py" else ())]:
                add(packed, file.relative_to(SOURCES), file.read_bytes())
        for path in sorted(Path(yaml.__file__).parent.glob("*.py")):  # PyYAML works without its compiled parts
            add(packed, f"yaml/{path.name}", path.read_bytes())
        for path in sorted((PLAY / "standins").rglob("*.py")):
            add(packed, path.relative_to(PLAY / "standins"), path.read_bytes())


UTILITIES = "misspenalty._cyutility"  # module with Cython's code that all kernels share


def source_of(name):
    """Return the path of the source of a module of the package."""
    place = SOURCES / name.replace(".", "/")
    found = [path for path in (place / "__init__.py", *map(place.with_suffix, (".py", ".pyx"))) if path.is_file()]
    return found[0] if found else place


def add(packed, name, content):
    """Add a file without its time stamp to an archive, so that the archive is always the same."""
    about = zipfile.ZipInfo(str(name))
    about.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(about, content)


def zig(*arguments):
    """Run one of Zig's tools; raise an `InputError` with its messages if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InputError(f"zig {arguments[0]}: {done.stderr.strip()[-500:] or done.stdout.strip()[-500:]}")


def directives():
    """Return Cython's options in the native release build."""
    text = (ROOT / "meson.build").read_text()
    listed = re.search(r"^directives = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    return [word + ("False" if checked else "") for word, checked in re.findall(r"'([^']+)'( \+ checks)?", listed)]


def configuration(library):
    """Return the text of ``pyconfig.h`` for Pyodide's Python, from the build variables in its standard library."""
    variables = {}
    with zipfile.ZipFile(library) as packed:
        exec(packed.read("_sysconfigdata__emscripten_wasm32-emscripten.py").decode(), variables)
    wanted = re.compile(
        r"HAVE_|SIZEOF_|ALIGNOF_|Py_|PY_|WITH_|USE_|ENABLE_|RETSIGTYPE|STDC_HEADERS|_POSIX|_GNU|PTHREAD|TIME_|TM_IN"
        r"|DOUBLE_|FLOAT_|_FILE|_LARGE|VA_LIST"
    )
    lines = ["#ifndef Py_PYCONFIG_H", "#define Py_PYCONFIG_H"]
    for name, value in sorted(variables["build_time_vars"].items()):
        plain = not isinstance(value, str) or not re.search(r"[ /]|^-", value)
        if wanted.match(name) and value not in (0, "", None) and plain:
            lines.append(f"#define {name} {value}")
    return "\n".join([*lines, "#endif", ""])


def pack(folder, name, path, title):
    """Write a trace to a gzipped file, and return its description.

    The file has the dense id of each reference, with the highest bit set for a write, then the address of each id.
    """
    trace = misspenalty.open_trace(ROOT / path)
    ids = trace.ids.astype("<u4")
    if trace.write is not None:
        ids |= trace.write.astype("<u4") << np.uint32(31)
    (folder / "traces").mkdir(exist_ok=True)
    packed = gzip.compress(byte_by_byte(ids) + byte_by_byte(trace.address.astype("<u8")), 6, mtime=0)
    (folder / "traces" / f"{name}.bin").write_bytes(packed)
    return {
        "name": name,
        "title": title,
        "source": path,
        "references": len(trace),
        "blocks": int(trace.blocks),
        "block_bytes": int(trace.block_bytes),
        "format": trace.format,
        "bytes": len(packed),
    }


def byte_by_byte(numbers):
    """Return the first bytes of all numbers, then their second bytes, and so on; this order compresses better."""
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(len(numbers), -1).T).tobytes()


def drives(folder):
    """Write a gzipped file for each drive: a line of JSON, then the tables of a disk drive."""
    (folder / "drives").mkdir()
    found = []
    for name in disks.names():
        kind = disks.load(name)
        about, arrays = {"data": kind.data}, ()
        title = f"{kind.model}, {kind.gigabytes:.3g} GB"
        if kind.data["kind"] == "disk":
            geometry, mechanics = kind.data["geometry"], kind.data["mechanics"]
            tracks, runs, by_track = layout.build(geometry)
            seeks = seek_table(mechanics["seek"], geometry["cylinders"], mechanics["seek_left_out"])
            arrays = ((tracks, ""), (runs, ""), (by_track, "i"), (seeks, "q"))
            about |= {
                "arrays": [(array.itemsize, len(array), code) for array, code in arrays],
                "arguments": [
                    mechanics["rpm"],
                    ns(mechanics["head_switch_ms"]),
                    ns(mechanics["write_settle_ms"]),
                ],
                "settings": kind.settings,
            }
            title += f", {mechanics['rpm']} rpm"
        text = json.dumps(about).encode() + b"\n" + b"".join(byte_by_byte(array) for array, _ in arrays)
        (folder / "drives" / f"{name}.bin").write_bytes(gzip.compress(text, 9, mtime=0))
        found.append({"name": name, "title": title, "path": f"drives/{name}.bin"})
    return found


def claims(traces=("128mb",)):
    """List the claims about MQ's hit ratios that a page with these traces can judge, beginning with one per verdict.

    A claim is about one hit ratio (``value``), about MQ's lead in points (``margin``), about the share of LRU's misses
    that MQ saves (``fewer``), or about which of the two hits more often (``order``).
    """
    ledger = {claim.id: claim for claim in load_ledger(ROOT)}
    archived = pd.read_csv(ROOT / "results" / "claims.csv", dtype=str, keep_default_na=False).set_index("id")
    found = []
    for mb in SIZES_MB if "128mb" in traces else ():
        for form, id in JUDGED.items():
            claim = ledger[id.format(mb=mb)]
            measure, size = ("relative", TIE if claim.clear else 0) if claim.kind == "ordering" else limit_of(claim)
            found.append(
                {
                    "id": claim.id,
                    "statement": claim.statement,
                    "trace": "128mb",
                    "form": form.partition(" ")[0],
                    "policies": [form.partition(" ")[2]] if " " in form else ["mq", "lru"],
                    "cache_blocks": mb * 2**20 // 8192,
                    "published": 0 if claim.kind == "ordering" else claim.published,
                    "unit": claim.unit,
                    "tolerance": size,
                    "measure": measure,
                    "archived": archived.loc[claim.id, "obtained"],
                    "verdict": archived.loc[claim.id, "verdict"],
                }
            )
    firsts = list({one["verdict"]: one for one in reversed(found)}.values())
    return firsts + [one for one in found if one not in firsts]


if __name__ == "__main__":
    sys.exit(main())
