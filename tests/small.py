"""Make a copy of the tree with a small configuration, for a full run of the workflow in minutes."""

import hashlib
import importlib.util
import shutil
import site
import subprocess
import sys
from pathlib import Path

import yaml

from misspenalty_studies.dispute.published import AGGREGATED

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "tests" / "data" / "tpcc_small.parquet"
PROMPTS = ROOT / "tests" / "data" / "prompts_small.jsonl"
SMALL_RUNS = sorted(ROOT.glob("studies/*/small.yaml"))  # what each study's small run changes
RAW = "data/raw/tpcc/small.parquet"
BUILDS = "data/raw/builds"
DELAYED = "data/raw/delayed_hits"
KVCACHE = "data/raw/kvcache"
AS_THEY_ARE = [  # archived tables that a run reads if the external files are missing
    "results/classics/replays.csv",
    *(f"results/dispute/{item}.csv" for item in AGGREGATED),
]
REPLAYED = "results/dispute/replays.csv"  # archived, too, but a small run replays other traces
TREE = (
    *("Snakefile", "workflow", "config", "environment.yml", "requirements.lock"),
    *("src", "studies", "paper", "data", "benchmarks/measured"),
)
RUN = ("--workflow-profile", "workflow/profiles/default", "--cores", "2", "--")  # Snakemake's options before targets
ARCHIVED = ("*.csv", "*.pdf", "*.svg", "*.png")


def copy_tree(folder):
    """Copy what a run reads, except raw captures; of the results, copy only archived tables that it may read."""
    skip = shutil.ignore_patterns("__pycache__", "*.so", ".*", "raw", "capture")
    for name in TREE:
        source = ROOT / name
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=skip)
        else:
            shutil.copy(source, folder / name)
    for name in (*AS_THEY_ARE, REPLAYED):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def small_config():
    """Return the archived run's configuration with one small capture for all roles, four policies of MQ, and the
    changes that each study's `small.yaml` makes."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    parts = [config["mq"]["server"], config["mq"]["client"], config["mq"]["calibrated"]["capture"]]
    config["captures"] = dict.fromkeys(parts, RAW)
    for path in SMALL_RUNS:
        config[path.parent.name] |= yaml.safe_load(path.read_text())
    config["mq"]["policies"] = {label: config["mq"]["policies"][label] for label in ("opt", "mq", "fbr", "lru")}
    return config


def small_tree(folder):
    """Return a copy of the tree with the small configuration and its inputs, for runs."""
    folder = copy_tree(folder)
    (folder / RAW).parent.mkdir(parents=True)
    shutil.copy(SMALL, folder / RAW)
    shutil.copytree(ROOT / DELAYED, folder / DELAYED)
    (folder / KVCACHE).mkdir(parents=True)
    shutil.copy(PROMPTS, folder / KVCACHE)
    shutil.copytree(ROOT / BUILDS, folder / BUILDS, ignore=shutil.ignore_patterns("ssh*", "glimpse*"))
    facts = yaml.safe_load((SMALL.parent / "captures.yaml").read_text())[SMALL.name]
    (folder / RAW).with_name("captures.yaml").write_text(yaml.safe_dump({Path(RAW).name: facts}))
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(small_config()))
    calibration = folder / "data" / "calibration.yaml"  # in a short capture, all re-accesses are near
    text = calibration.read_text().replace("value: 28.8\n", "value: 100\n")
    calibration.write_text(text.replace("value: 86\n", "value: 100\n"))  # the small database fits the server's cache
    return folder


def python_of(tree, folder):
    """Make an environment in which the packages are those of a changed copy of the tree; return its interpreter.

    The kernels are copies of the installed ones, so the change must not affect them. All other packages are shared.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (tree / "misspenalty_studies").symlink_to("studies")
    (packages / "shared.pth").write_text("\n".join(map(str, (tree / "src", tree, *site.getsitepackages()))) + "\n")
    for name, source in (("misspenalty", tree / "src" / "misspenalty"), ("misspenalty_studies", tree / "studies")):
        kernels = [path.relative_to(source).with_suffix("").parts for path in source.rglob("*.pyx")]
        for parts in [*kernels, ("_cyutility",)] if name == "misspenalty" else kernels:
            built = Path(importlib.util.find_spec(".".join((name, *parts))).origin)
            shutil.copy(built, source.joinpath(*parts[:-1]))
    return folder / "bin" / "python"


def digests(folder):
    """Return the SHA-256 of every archived file that a run makes, by name."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for pattern in ARCHIVED
        for path in (folder / "results").rglob(pattern)
        if not path.stem.endswith("_measured")  # varies between runs
        and path.relative_to(folder).as_posix() not in AS_THEY_ARE
    }
