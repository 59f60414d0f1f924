"""The archived results of a study, for the tests of paper and notebooks."""

import shutil
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
SYNTHETIC = {"mq"}  # studies whose tables tests/data/synthetic_results.py draws


def copy_archived(root):
    """Copy every other study's archived tables below `root`, and what missing facts cost."""
    shutil.copy(RESULTS / "missing_facts.csv", root / "results")
    for folder in sorted(RESULTS.iterdir()):
        for path in sorted(folder.glob("*.csv")) if folder.name not in SYNTHETIC else ():
            target = root / "results" / folder.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
