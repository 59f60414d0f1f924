"""Run the conformance vectors through cache libraries, and write results/conformance/libraries.json.

    python conformance/run.py                        # every language whose tools are installed
    python conformance/run.py --languages python,go  # only these; the rows of the others are kept

Every cache is run twice. A cache whose two runs differ is judged like one whose outcomes depend on chance.
"""

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from misspenalty import conformance
from misspenalty.io.files import atomic_path

ROOT = Path(__file__).parents[1]
HERE, BUILD = ROOT / "conformance", ROOT / "build" / "conformance"
RESULTS = ROOT / "results" / "conformance" / "libraries.json"
VECTORS = ROOT / "data" / "conformance"
RUNS = 30  # runs per call of the adapter, if outcomes depend on chance; there are two calls


def build_python():
    """Make an environment with the pinned libraries, and return the adapter's command."""
    if not (BUILD / "python" / "bin" / "pip").exists():  # venv installs pip last, so the environment is incomplete
        subprocess.run([sys.executable, "-m", "venv", "--clear", BUILD / "python"], check=True)
    python = BUILD / "python" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "python" / "requirements.txt"], check=True)
    return [str(python), str(HERE / "python" / "adapter.py")]


def build_go():
    """Compile the adapter, and return its command."""
    program = BUILD / "go" / "conformance"
    subprocess.run(["go", "build", "-o", program, "."], cwd=HERE / "go", check=True)
    return [str(program)]


def build_javascript():
    """Install the pinned packages next to the adapter, and return its command."""
    folder = BUILD / "javascript"
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("package.json", "adapter.mjs"):
        shutil.copyfile(HERE / "javascript" / file, folder / file)
    options = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
    subprocess.run(["npm", "install", *options], cwd=folder, check=True)
    return ["node", str(folder / "adapter.mjs")]


def build_rust():
    """Compile the adapter into the build folder, and return its command; Git ignores Cargo's lock file."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(BUILD / "rust")}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE / "rust", env=environment, check=True)
    return [str(BUILD / "rust" / "release" / "conformance")]


def build_java():
    """Compile the adapter, collect its libraries in one folder, and return its command."""
    folder = BUILD / "java"
    goals = ["-q", "package", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'lib'}"]
    subprocess.run(["mvn", *goals, f"-Dtarget={folder}"], cwd=HERE / "java", check=True)
    return ["java", "-cp", f"{folder / 'classes'}:{folder / 'lib'}/*", "Adapter"]


BUILDS = {  # the tool that each language needs, and the function that builds its adapter
    "python": (sys.executable, build_python),
    "go": ("go", build_go),
    "javascript": ("npm", build_javascript),
    "rust": ("cargo", build_rust),
    "java": ("mvn", build_java),
}


def languages(text):
    """Split names of languages at commas, as an argparse type."""
    names = text.split(",")
    if unknown := [name for name in names if name not in BUILDS]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; expected some of {','.join(BUILDS)}")
    return names


def available(names):
    """Yield each of these languages whose tool is installed, with the function that builds its adapter."""
    for name in names:
        tool, build = BUILDS[name]
        if shutil.which(tool) is None:
            print(f"{name} is left out because {tool} is not installed", file=sys.stderr)
        else:
            yield name, functools.partial(built, name, build)


def built(language, build):
    """Build the adapter of a language, and return its command; exit with status 2 and one line if that fails."""
    try:
        return build()
    except (subprocess.CalledProcessError, OSError) as error:
        failed = f"{error.cmd[0]} failed, and said why above" if hasattr(error, "cmd") else error
        print(
            f"error: {HERE / language}: the adapter cannot be built ({failed}); if no registry of packages can be"
            f" reached, leave {language} out with --languages",
            file=sys.stderr,
        )
        sys.exit(2)


def check_cache(command, listed):
    """Run one cache twice, compare each run with the vectors, and return the row."""
    name, library, version, policy, kind = listed.split("\t")
    suite = conformance.load_suite(policy)
    long = {vector.id for vector in suite.long}
    runs = RUNS if kind == "chance" else 1
    arguments = [*command, name, str(VECTORS / f"{policy}.json"), str(runs)]
    texts = [subprocess.run(arguments, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    once, again = ([json.loads(line) for line in text.splitlines()] for text in texts)
    certain = kind == "certain" and once == again
    records = once if certain else [record for record in once + again if record["id"] in long]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        verdict = conformance.check_results(suite, conformance.read_results(path))
    first = verdict.first
    return {
        "cache": name,
        "library": library,
        "version": version,
        "policy": policy,
        "deterministic": certain,
        "vectors": verdict.count("passed") + verdict.count("differs"),
        "passed": verdict.count("passed"),
        "not_run": verdict.count("not run"),
        "reading": verdict.reading,
        "first_vector": first and first.vector.id,
        "first_reference": first and first.reference,
        "difference": first and first.difference,
        "tests": first and first.vector.tests,
        "decided_by": first and getattr(first.vector, "decided_by", None),
        "capacity": first and first.vector.capacity,
        "trace": first and getattr(first.vector, "trace", None),
        "long_hits_less_definition": {
            finding.vector.id.partition("/")[2]: hits - finding.vector.outcomes[0].hits
            for finding in verdict.findings
            if hasattr(finding.vector, "file") and (hits := _hits(texts[0], finding.vector.id)) is not None
        },
    }


def _hits(text, vector):
    """Return the rounded mean number of hits on a long vector in an adapter's output, or None if it was not run."""
    found = [record["hits"].count("1") for record in map(json.loads, text.splitlines()) if record["id"] == vector]
    return round(sum(found) / len(found)) if found else None


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--languages", default=",".join(BUILDS), type=languages, help="comma-separated (default: all)")
    parser.add_argument("--caches", help="comma-separated; the rows of the others are kept (default: all)")
    options = parser.parse_args()
    asked = options.caches.split(",") if options.caches else None
    found = set()
    for language, build in available(options.languages):
        command = build()
        listed = subprocess.run([*command, "list"], capture_output=True, text=True, check=True).stdout.splitlines()
        offered = {line.partition("\t")[0] for line in listed}
        found |= offered
        rows = []
        for line in sorted(listed):
            if asked and line.partition("\t")[0] not in asked:
                continue
            rows.append({"language": language} | check_cache(command, line))
            print(language, rows[-1]["cache"], f"{rows[-1]['passed']} of {rows[-1]['vectors']}", flush=True)
        _write(language, rows, offered)
    if missing := [name for name in asked or () if name not in found]:
        parser.error(
            f"argument --caches: no language that was run has {', '.join(missing)}; expected some of"
            f" {','.join(sorted(found))}"
        )


def _write(language, rows, offered):
    """Replace the rows of these caches in the table, and drop those of caches that the language no longer offers."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else []
    others = offered - {row["cache"] for row in rows}
    table = [row for row in kept if row["language"] != language or row["cache"] in others] + rows
    table.sort(key=lambda row: (row["language"], row["cache"]))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(RESULTS) as path:
        path.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
