"""Copy the archived results of studies for the tests of the paper."""

import shutil
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
SYNTHETIC = {"mq"}  # studies whose tables tests/data/synthetic_results.py makes


def copy_archived(root):
    """Copy to ``root/results`` the archived tables of studies outside `SYNTHETIC`, and three that cover all studies.

    The three are the cost of missing facts, the reasons for missed claims, and the studies that were recomputed.
    """
    for name in ("missing_facts.csv", "reasons.csv", "recomputed.csv"):
        shutil.copy(RESULTS / name, root / "results")
    for folder in sorted(RESULTS.iterdir()):
        for path in sorted(folder.glob("*.csv")) if folder.name not in SYNTHETIC else ():
            target = root / "results" / folder.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
