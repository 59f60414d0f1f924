"""The archived results of a study, for the tests of paper and notebooks."""

import shutil
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
SYNTHETIC = {"mq"}  # studies whose tables tests/data/synthetic_results.py draws


def copy_archived(root):
    """Copy every other study's archived tables below `root`, what missing facts cost, why claims are missed, and what
    was recomputed."""
    for name in ("missing_facts.csv", "reasons.csv", "recomputed.csv"):
        shutil.copy(RESULTS / name, root / "results")
    for folder in sorted(RESULTS.iterdir()):
        for path in sorted(folder.glob("*.csv")) if folder.name not in SYNTHETIC else ():
            target = root / "results" / folder.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
