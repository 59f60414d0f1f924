"""Make the changes that the guides show in a copy of the tree, and test them from the first run to the verdict."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from small import RUN, python_of, small_tree

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "docs" / "how-to" / "sample_item.diff"
STUDY = ROOT / "docs" / "how-to" / "sample_study"
ITEM = ["results/mq/doubling.csv", "results/mq/doubling.svg"]
MINE = [f"results/mine/{name}" for name in ("faults.csv", "added.csv", "anomaly.svg")]
JUDGE = """
from misspenalty_studies.common.judge import write_claims
frame = write_claims("results", "results/claims.csv").set_index("id")
print(frame[["obtained", "verdict", "role"]].astype(str).to_json(orient="index"))
"""


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def guided(tmp_path_factory):
    """Add the sample table and then the sample study to a copy of the tree; then make and judge what they declare.

    Return the tree, its Python, the verdicts, the configuration that the study wrote, and the files that each changed.
    """
    tree, environment = (tmp_path_factory.mktemp("guided") / name for name in ("tree", "environment"))
    before = contents(small_tree(tree))
    run(["git", "apply", "--unsafe-paths", str(SAMPLE)], tree)
    changed = [differing(before, between := contents(tree))]
    config = tree / "config" / "config.yaml"
    small = yaml.safe_load(config.read_text())
    shutil.copytree(STUDY, tree / "studies" / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    python = python_of(tree, environment)
    run([python, "-m", "misspenalty_studies.common.configuration", "--write"], tree)
    changed.append(differing(between, contents(tree)))
    written = yaml.safe_load(config.read_text())
    mine = yaml.safe_load((tree / "studies" / "mine" / "small.yaml").read_text())
    config.write_text(yaml.safe_dump(small | {"mine": mine}))
    run([python, "-m", "snakemake", *RUN, *ITEM, *MINE], tree)
    judged = json.loads(run([python, "-c", JUDGE], tree))
    return SimpleNamespace(tree=tree, python=python, judged=judged, written=written, changed=changed)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for part in ("config", "paper", "src", "studies", "workflow")
        for path in (folder / part).rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyc")
    }


def differing(before, after):
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def test_the_sample_table_is_made_drawn_and_judged(guided):
    assert all(name.startswith("studies/mq/") for name in guided.changed[0])
    table = pd.read_csv(guided.tree / ITEM[0])
    assert list(table.columns) == ["policy", "cache_mb", "gain_points"] and set(table["policy"]) == {"mq", "lru"}
    sizes = pd.read_csv(guided.tree / "results" / "mq" / "table4.csv").pivot(
        index="cache_mb", columns="policy", values="hit_ratio_pct"
    )
    gained = table.set_index(["policy", "cache_mb"])["gain_points"]["mq", 128]
    assert abs(gained - (sizes["mq"][256] - sizes["mq"][128])) < 1e-9
    caption = (guided.tree / "results" / "mq" / "runs" / "captions" / "doubling.rst").read_text()
    assert caption.startswith("Points of hit ratio gained by doubling the cache")
    judged = guided.judged["mq.table4.doubling.mq.128"]
    assert judged["role"] == "derived" and judged["verdict"] != "not_testable"
    assert abs(float(judged["obtained"]) - gained) < 0.01


def test_the_sample_study_is_made_drawn_and_judged_and_lives_in_its_folder(guided):
    assert {name for name in guided.changed[1] if not name.startswith("studies/mine/")} == {"config/config.yaml"}
    assert guided.written["mine"] == {"frames": [2, 3, 4, 5]}
    assert pd.read_csv(guided.tree / MINE[1]).values.tolist() == [["fifo", 4, 1], ["lru", 4, -2]]
    judged = {name: row for name, row in guided.judged.items() if name.startswith("mine.")}
    assert len(judged) == 3 and {row["verdict"] for row in judged.values()} == {"reproduced"}
    assert float(judged["mine.example.four"]["obtained"]) == 10
    run([guided.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "studies/mine/tests"], guided.tree)


TYPED = """
from matplotlib.figure import Figure

import misspenalty
from misspenalty import disks
from misspenalty.disks.requests import read_requests, replay
from misspenalty.plotting import save_figure
from misspenalty.plotting.style import new_figure, styled
from misspenalty.prefetch.predictors.accuracy import measure_accuracy

trace = misspenalty.open_trace("mine.spc")
print(misspenalty.simulate(trace, "lru", "10%").hit_ratio, misspenalty.policies()["lru"].summary)
print(misspenalty.penalty(trace, ["lru"], [10], [disks.load("cheetah9lp"), "5ms"]), disks.names("flash"))
print(replay(disks.load("cheetah9lp"), read_requests("requests.txt")).row(), measure_accuracy([0, 1], "last_successor"))


@styled
def empty() -> Figure:
    return new_figure(3, 2)


save_figure(empty(), "empty", ["svg"])
"""


def test_a_strict_type_checker_accepts_a_script_that_uses_the_package(tmp_path):
    (tmp_path / "mine.py").write_text(TYPED)
    run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "mine.py"], tmp_path)


@pytest.mark.parametrize("page", ["setting", "study", "table-figure-claim"])
def test_a_guide_builds_the_package_before_it_runs_what_was_edited(page):
    """A package that was not built again would write the old settings, and a run would be refused."""
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text()
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if ".venv/bin/" in block]
    assert blocks and all("make build" in block.partition(".venv/bin/")[0] for block in blocks)
