"""The guides' changes work in a copy of the tree, from the first run to the verdict."""

import json
import subprocess
from pathlib import Path

import pandas as pd
from small import python_of, small_tree

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "docs" / "how-to" / "sample_item.diff"
JUDGE = """
import json
from misspenalty_studies.common.judge import write_claims
frame = write_claims("results", "results/claims.csv").set_index("id")
print(json.dumps(frame.loc["mq.table4.doubling.mq.128", ["obtained", "verdict", "role"]].to_dict(), default=float))
"""


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_sample_table_is_made_drawn_and_judged(tmp_path):
    tree = small_tree(tmp_path / "tree")
    run(["git", "apply", "--unsafe-paths", str(SAMPLE)], tree)
    python = python_of(tree, tmp_path / "environment")
    made = ["results/mq/doubling.csv", "results/mq/doubling.svg"]
    run([python, "-m", "snakemake", "--cores", "2", "--", *made], tree)
    table = pd.read_csv(tree / made[0])
    assert list(table.columns) == ["policy", "cache_mb", "gain_points"] and set(table["policy"]) == {"mq", "lru"}
    sizes = pd.read_csv(tree / "results" / "mq" / "table4.csv").pivot(
        index="cache_mb", columns="policy", values="hit_ratio_pct"
    )
    gained = table.set_index(["policy", "cache_mb"])["gain_points"]["mq", 128]
    assert abs(gained - (sizes["mq"][256] - sizes["mq"][128])) < 1e-9
    caption = (tree / "results" / "mq" / "runs" / "captions" / "doubling.rst").read_text()
    assert caption.startswith("Points of hit ratio gained by doubling the cache")
    judged = json.loads(run([python, "-c", JUDGE], tree))
    assert judged["role"] == "derived" and judged["verdict"] != "not_testable"
    assert abs(float(judged["obtained"]) - gained) < 0.01
