"""Build what the site's page "Press play" runs: the policies' kernels as WebAssembly, Pyodide, and traces.

    python tools/play.py --out build/play

The kernels are the package's own, translated by Cython with the options of the native build and compiled by Zig's C
compiler for Pyodide's Python 3.11, so this needs Python 3.11 with its headers, Cython, the package `ziglang`, and npm
to fetch Pyodide. Nothing is patched. `manifest.json` lists what was built; the page reads it.
"""

import argparse
import ast
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

import misspenalty
from misspenalty import disks
from misspenalty.claims import load_ledger
from misspenalty.claims.forms import limit_of
from misspenalty.disks.drive import layout
from misspenalty.disks.drive.description import ns, seek_table
from misspenalty.errors import InputError, MissPenaltyError
from misspenalty.io.files import atomic_path
from misspenalty.policies.registry import known_policies

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
PYODIDE = "0.25.1"  # the last release with Python 3.11
FILES = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
CPU = "mvp+sign_ext+mutable_globals+nontrapping_fptoint"
COMPILE = (
    "-target",
    "wasm32-wasi",
    f"-mcpu={CPU}",
    "-O2",
    "-g0",
    "-fPIC",
    "-fwrapv",
    "-ffp-contract=off",
    "-DNDEBUG",
    "-w",
)
LINK = ("--experimental-pic", "-shared", "--allow-undefined", "--no-entry", "--strip-debug")
SUFFIX = ".cpython-311-wasm32-emscripten.so"
# Pyodide does not export this function of the compiler's library: the product of two 128-bit numbers, which the drive
# mechanics need.
WIDE = """
typedef unsigned long long word;
void __multi3(word *r, word a, word a_high, word b, word b_high) {
    word a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    word low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & 0xffffffffu);
    r[0] = (other << 32) | (low & 0xffffffffu);
    r[1] = a1 * b1 + (middle >> 32) + (other >> 32) + a * b_high + a_high * b;
}
"""
SHARED = (
    "misspenalty._kernel",
    "misspenalty.policies._policy",
    "misspenalty.policies._track_cache",
    "misspenalty.policies._tracks",
    "misspenalty.disks.drive._mechanics",
    "misspenalty.disks.drive._medium",
    "misspenalty.disks.drive._disksim_arm",
    "misspenalty.disks.drive._disksim",
    "misspenalty.disks.drive._service",
    "misspenalty.disks.drive._drive",
    "misspenalty.systems.engine._engine",
    "misspenalty.latency._devices",
    "misspenalty.latency._replay_timed",
)
FIXED = {"100 µs": 100_000, "1 ms": 1_000_000, "5 ms": 5_000_000}
TRACES = {
    "tpcc_small": ("tests/data/tpcc_small.parquet", "TPC-C behind a database's buffer, a short stretch"),
    "conversation": ("data/raw/kvcache/conversation.jsonl.xz", "Prompts of a chat service (Mooncake)"),
    "128mb": ("data/raw/tpcc/128mb.parquet", "TPC-C behind 128 MB of database buffer, whole: what the MQ claims read"),
}
SIZES_MB = (128, 256, 512)


def main():
    """Build the folder; exits with status 2 and one line if that is not possible."""
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
    """Write everything, or nothing."""
    if sys.version_info[:2] != (3, 11):
        raise InputError(
            f"this is Python {sys.version_info.major}.{sys.version_info.minor}",
            expected="Python 3.11, whose headers Pyodide's kernels need",
            remedy="make PYTHON=python3.11 in a fresh clone",
        )
    with atomic_path(out) as folder, tempfile.TemporaryDirectory() as scratch:
        folder.mkdir()
        fetch_pyodide(Path(scratch), folder / "pyodide")
        policies = [describe(name, one) for name, one in known_policies().items()]
        modules = sorted({*SHARED, *(one["module"] for one in policies)})
        compile_kernels(modules, folder / "pyodide", Path(scratch), folder / "kernels.zip")
        traces = [pack(folder, name, *about) for name, about in TRACES.items() if (ROOT / about[0]).is_file()]
        manifest = {"policies": policies, "traces": traces, "devices": devices(folder), "claims": claims()}
        (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


def fetch_pyodide(scratch, target):
    """The Pyodide files that a page needs."""
    subprocess.run(
        ["npm", "pack", "--silent", f"pyodide@{PYODIDE}"], cwd=scratch, check=True, stdout=subprocess.DEVNULL
    )
    target.mkdir()
    with tarfile.open(scratch / f"pyodide-{PYODIDE}.tgz") as packed:
        for name in FILES:
            with packed.extractfile(f"package/{name}") as source, (target / name).open("wb") as copy:
                shutil.copyfileobj(source, copy)


def describe(name, definition):
    """What the page needs to make a kernel of a policy with its default parameters."""
    parameters = definition.check({})
    lines = {"places": np.arange(4, dtype=np.uint32), "tracks": 4} if definition.spatial else {}
    kind = type(definition.kernel(2, 4, **parameters, **lines))
    if definition.kernel is not kind:  # a function that chooses between kernels: the page makes the one it chose
        taken = {key: value for key, value in parameters.items() if _takes(kind, key, parameters)}
        parameters = taken
    return {
        "name": name,
        "summary": definition.summary,
        "module": kind.__module__,
        "kernel": kind.__name__,
        "parameters": parameters,
        "offline": definition.offline,
        "spatial": definition.spatial,
    }


def _takes(kind, key, parameters):
    """Whether a kernel can be made with only the parameters that it knows."""
    try:
        kind(2, 4, **{key: parameters[key]})
    except TypeError as error:
        return f"'{key}'" not in str(error) or "unexpected" not in str(error)
    return True


def compile_kernels(modules, pyodide, scratch, archive):
    """Translate, compile and link each module; all of them with the package's errors in one archive."""
    headers = scratch / "include"
    shutil.copytree(sysconfig.get_path("include"), headers)
    (headers / "pyconfig.h").write_text(configuration(pyodide / "python_stdlib.zip"))
    sources = [f"{module.replace('.', '/')}.pyx" for module in modules]
    translated = scratch / "c"
    translated.mkdir()
    wide = scratch / "wide.o"
    (scratch / "wide.c").write_text(WIDE)
    zig("cc", *COMPILE, "-fvisibility=hidden", "-c", scratch / "wide.c", "-o", wide)
    cython = Path(sys.executable).with_name("cython")
    subprocess.run([cython, *directives(), "--output-file", translated, *sources], cwd=SOURCES, check=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in sorted({str(above) for source in sources for above in Path(source).parents[:-1]}):
            packed.writestr(zipfile.ZipInfo(f"{package}/__init__.py"), "")
        packed.writestr(zipfile.ZipInfo("misspenalty/errors.py"), (SOURCES / "misspenalty" / "errors.py").read_text())
        for module, source in zip(modules, sources, strict=True):
            last = module.rpartition(".")[2]
            made, library = scratch / f"{last}.o", scratch / f"{last}.so"
            zig("cc", *COMPILE, f"-I{headers}", "-c", translated / f"{last}.c", "-o", made)
            zig("wasm-ld", *LINK, f"--export=PyInit_{last}", "-o", library, made, wide)
            about = zipfile.ZipInfo(source.removesuffix(".pyx") + SUFFIX)
            about.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(about, library.read_bytes())


def zig(*arguments):
    """Run one of Zig's tools."""
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InputError(f"zig {arguments[0]}: {done.stderr.strip()[-500:] or done.stdout.strip()[-500:]}")


def directives():
    """Cython's options in the native release build, without the shared module."""
    text = (SOURCES / "misspenalty" / "meson.build").read_text()
    listed = re.search(r"^directives = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)[1]
    options = re.findall(r"'([^']+)'( \+ checks)?", listed)
    return [word + ("False" if checked else "") for word, checked in options if not word.startswith("--shared")]


def configuration(library):
    """``pyconfig.h`` of Pyodide's Python, from the build variables in its standard library."""
    with zipfile.ZipFile(library) as packed:
        text = packed.read("_sysconfigdata__emscripten_wasm32-emscripten.py").decode()
    variables = ast.literal_eval(text.partition("build_time_vars = ")[2])
    wanted = re.compile(
        r"HAVE_|SIZEOF_|ALIGNOF_|Py_|PY_|WITH_|USE_|ENABLE_|RETSIGTYPE|STDC_HEADERS|_POSIX|_GNU|PTHREAD|TIME_|TM_IN"
        r"|DOUBLE_|FLOAT_|_FILE|_LARGE|VA_LIST"
    )
    lines = ["#ifndef Py_PYCONFIG_H", "#define Py_PYCONFIG_H"]
    for name, value in sorted(variables.items()):
        plain = not isinstance(value, str) or not re.search(r"[ /]|^-", value)
        if wanted.match(name) and value not in (0, "", None) and plain:
            lines.append(f"#define {name} {value}")
    return "\n".join([*lines, "#endif", ""])


def pack(folder, name, path, title):
    """A trace as ids in order of first use, highest bit set for writes, and addresses by id; byte by byte, gzipped."""
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
        "references": len(trace),
        "blocks": int(trace.blocks),
        "block_bytes": int(trace.block_bytes),
        "bytes": len(packed),
    }


def byte_by_byte(numbers):
    """The first bytes of all numbers, then the second bytes, and so on, which compresses better."""
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(len(numbers), -1).T).tobytes()


def devices(folder):
    """Fixed times and all disk drives with their tables: a line of JSON, then arrays, gzipped."""
    (folder / "drives").mkdir()
    found = [{"name": name, "title": f"every fetch takes {name}", "ns": time} for name, time in FIXED.items()]
    for name in disks.names("disk"):
        kind = disks.load(name)
        geometry, mechanics = kind.data["geometry"], kind.data["mechanics"]
        tracks, runs, by_track = layout.build(geometry)
        seeks = seek_table(mechanics["seek"], geometry["cylinders"])
        arrays = ((tracks, ""), (runs, ""), (by_track, "i"), (seeks, "q"))
        about = {
            "arrays": [(array.itemsize, len(array), kind) for array, kind in arrays],
            "arguments": [
                mechanics["rpm"],
                ns(mechanics["head_switch_ms"]),
                ns(mechanics["write_settle_ms"]),
                geometry["heads"],
            ],
            "settings": kind.settings,
        }
        text = json.dumps(about).encode() + b"\n" + b"".join(byte_by_byte(array) for array, _ in arrays)
        (folder / "drives" / f"{name}.bin").write_bytes(gzip.compress(text, 9, mtime=0))
        title = f"{kind.model}, {kind.gigabytes:.3g} GB, {mechanics['rpm']} rpm"
        found.append(
            {
                "name": name,
                "title": title,
                "path": f"drives/{name}.bin",
                "blocks": kind.blocks,
                "sector_bytes": geometry["sector_bytes"],
            }
        )
    return found


def claims():
    """The claims about MQ's hit ratios that a page can judge, and the values archived for them."""
    ledger = {claim.id: claim for claim in load_ledger(ROOT / "data" / "published" / "claims.yaml")}
    archived = pd.read_csv(ROOT / "results" / "claims.csv", dtype=str, keep_default_na=False).set_index("id")
    found = []
    for mb in SIZES_MB:
        for policy in ("mq", "lru"):
            claim = ledger[f"mq.table4.{policy}.{mb}"]
            measure, size = limit_of(claim)
            found.append(
                {
                    "id": claim.id,
                    "statement": claim.statement,
                    "trace": "128mb",
                    "policy": policy,
                    "cache_blocks": mb * 2**20 // 8192,
                    "published": claim.published,
                    "tolerance": size,
                    "measure": measure,
                    "archived": archived.loc[claim.id, "reproduced"],
                    "verdict": archived.loc[claim.id, "verdict"],
                }
            )
    return found


if __name__ == "__main__":
    sys.exit(main())
