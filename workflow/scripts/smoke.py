"""What `make smoke` runs: one study's main tables, in a copy of the workflow, compared with the archived ones.

The run is in ``build/smoke``, so ``results/`` stays as it is. The exit status is 0 if every table equals the archived
one.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from misspenalty_studies.common.reporting.archive.compare import compare_contents

FOLDER = Path("build/smoke")
COPIED = ("Snakefile", "workflow", "config", "environment.yml")
LINKED = ("data", "src", "studies", "paper")  # only read
TABLES = ("results/vlog/table2.csv", "results/vlog/fig9.csv", "results/vlog/statements.csv")


def main():
    """Run, print Table 2 of the virtual-log study, and say how each table compares with the archived one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", default="all")
    options = parser.parse_args()
    root, start = Path.cwd(), time.monotonic()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name in COPIED:
        (shutil.copytree if Path(name).is_dir() else shutil.copy)(name, FOLDER / name)
    for name in LINKED:
        (FOLDER / name).symlink_to(root / name)
    command = [sys.executable, "-m", "snakemake", "--cores", options.cores, "--quiet", "all", "--", *TABLES]
    if subprocess.run(command, cwd=FOLDER).returncode:
        print(f"The run failed; its logs are in {FOLDER / 'results' / 'logs'}.", file=sys.stderr)
        return 2
    print(pd.read_csv(FOLDER / TABLES[0]).to_string(index=False))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\n{time.monotonic() - start:.0f} s, {peak:.0f} MB in the largest process")
    different = 0
    for name in TABLES:
        verdict, detail = compare_contents(name, Path(name).read_bytes(), (FOLDER / name).read_bytes())
        different += verdict == "different"
        print(f"{verdict:18} {name}{': ' if detail else ''}{detail}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
