"""Measure host requests per second through the storage controller, caches alone and with drives, on one core.

The load is that of the SARC study in its two configurations, at 90 % of the peak, after a warm-up, and the machine has
the values of the archived fit, ``results/sarc/fit.csv``. Times are CPU times, the best of several stretches. The rate
of the reference is given next to the kernel's.

    python benchmarks/storage_array.py [--minutes 5] [--csv results/bench/storage_array.csv]
"""

import argparse
import sys
import time
from pathlib import Path

import pandas as pd

from misspenalty import disks
from misspenalty.io.documents import read_yaml
from misspenalty.io.files import write_csv
from misspenalty.policies import find_policy
from misspenalty.traces.spc1 import requests
from misspenalty_studies.sarc.runs import CONFIGS, LOADS, TRACK, Run, fitted_shark
from misspenalty_studies.sarc.tests.reference.array import Reference

ROOT = Path(__file__).resolve().parents[1]


def study_machine():
    """Return the machine of the SARC study, as its archived runs have it."""
    settings = read_yaml(ROOT / "config" / "config.yaml")["sarc"]
    machine, fitted = ROOT / "studies" / "sarc" / "machine.yaml", ROOT / "results" / "sarc" / "fit.csv"
    return fitted_shark(machine, fitted, settings)[0]


def kernel_rate(shark, config, policy, minutes, drives=True):
    """Return the kernel's requests per CPU second in the best minute."""
    run = Run(shark, config, policy, seed=1, drives=drives)
    run.load(0.9 * LOADS[config][-1])
    rates = []
    for _ in range(minutes):
        before = time.process_time()
        counts = run.minute().counts
        rates.append((counts["reads"] + counts["writes"]) / (time.process_time() - before))
    return max(rates)


def reference_rate(shark, config, seconds):
    """Return the reference's requests per CPU second over the first seconds."""
    run = Run(shark, config, "sarc", seed=1)
    run.load(0.9 * LOADS[config][-1])
    model = shark.model()
    settings = {name: value for name, value in shark.prefetch().items()}
    cache = find_policy("sarc").reference(model.cache_pages, track_pages=TRACK, **settings)
    reference = Reference(model, disks.load(shark.drive), cache, run.bases[-1])
    drawn = requests(run.workload, 1 << 20, seconds * 10**9)
    page = drawn["block"] + pd.Series(run.bases).to_numpy()[drawn["asu"]]
    before = time.process_time()
    reference.run(drawn["time"], page, drawn["blocks"], drawn["write"], seconds * 10**9)
    return drawn["time"].size / (time.process_time() - before)


def main():
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=int, default=15, help="simulated minutes a run; the best counts")
    parser.add_argument("--csv", help="where the table goes; printed in any case")
    arguments = parser.parse_args()
    shark = study_machine()
    rows = []
    for config in CONFIGS:
        slow = reference_rate(shark, config, 3)
        for policy in ("lru_top", "lru_bottom", "sarc", "arc"):
            for drives in (False, True):
                rate = kernel_rate(shark, config, policy, arguments.minutes, drives)
                rows.append(
                    {
                        "config": config,
                        "policy": policy,
                        "drives": drives,
                        "million_requests_per_s": rate / 1e6,
                        "reference_requests_per_s": slow if drives and policy == "sarc" else float("nan"),
                    }
                )
    table = pd.DataFrame(rows)
    sys.stdout.write(table.to_string(index=False) + "\n")
    if arguments.csv:
        write_csv(table, Path(arguments.csv))


if __name__ == "__main__":
    main()
