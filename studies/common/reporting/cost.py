"""State the cost of a run in README.md and ARTIFACT.md, from the run's manifests and the sizes of files on disk."""

import json
import math
import os
from pathlib import Path

from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.report import published_text
from misspenalty_studies.common.study import studies

FOLDERS = {
    "environment": (".venv",),
    "checkout": ("data", "src", "studies", "tests", "docs", ".git"),
    "results": ("results", "build"),
}


def looked_at():
    """Return the table and the claims that each study names for a first look, by study."""
    return {name: (one.look_at.table, one.look_at.claims) for name, one in studies().items() if one.look_at}


def parts(run, supplement, root):
    """Return the jobs of `make reproduce` and those that `make supplement` adds.

    Return None unless each rule that makes one of their outputs has a time, because otherwise sums would not cover a
    complete run.

    Parameters
    ----------
    run, supplement : dict or None
        The two manifests.
    root : path-like
        The checkout. Its ``results/index.json`` names the rules of `make reproduce`.
    """
    index = Path(root, "results", "index.json")
    if not (run and supplement and index.is_file()):
        return None
    index, jobs = json.loads(index.read_text()), run["jobs"] | supplement["jobs"]
    rules = {index["made"][path]["rule"] for path in run["outputs"] | supplement["outputs"] if path in index["made"]}
    timed = {_rule(name) for name, job in jobs.items() if job.get("cpu_s") is not None}
    if not (rules and rules <= timed):
        return None
    mine = {name: job for name, job in jobs.items() if _rule(name) in index["reproduced"]}
    return mine, {name: job for name, job in jobs.items() if name not in mine}


def _rule(job):
    """Return the rule of a job, whose name continues with its wildcards."""
    return job.split("/")[0]


def minutes(seconds):
    """Convert seconds to whole minutes, rounded up."""
    return math.ceil(seconds / 60)


def gigabytes(n):
    """Return a number of bytes as text in units of 10^9 bytes, rounded up to one decimal."""
    return f"{math.ceil(n / 1e8) / 10:.1f} GB"


def cost(jobs):
    """Return the total CPU seconds of jobs, and the peak memory of the largest job in bytes."""
    cpu = sum(job["cpu_s"] or 0 for job in jobs)
    return cpu, 2**20 * max((job["peak_rss_mb"] or 0 for job in jobs), default=0)


def disk(root, names):
    """Count the bytes that files in folders occupy; a file with several names counts once."""
    seen, total = set(), 0
    for name in names:
        for folder, _, files in os.walk(Path(root, name)):
            for file in files:
                about = os.lstat(os.path.join(folder, file))
                if (about.st_dev, about.st_ino) not in seen:
                    seen.add((about.st_dev, about.st_ino))
                    total += about.st_size
    return total


def readme_text(run, supplement, root):
    """Return a paragraph on what `make reproduce` and `make supplement` cost; None if the manifests are not of complete
    runs.

    Parameters
    ----------
    run, supplement : dict or None
        The manifests, as in `parts`.
    root : path-like
        The checkout, whose folders are measured.
    """
    if (found := parts(run, supplement, root)) is None:
        return None
    (cpu, peak), (more, most) = (cost(jobs.values()) for jobs in found)
    environment, checkout, results = (gigabytes(disk(root, folders)) for folders in FOLDERS.values())
    return f"""The run that made these results took {minutes(cpu)} CPU minutes of jobs for `make reproduce`,
{minutes(more)} more for `make supplement`, and {gigabytes(max(peak, most))} of memory for the largest job; jobs that
run at the same time add up, and installing and building are extra. On disk the environment takes {environment}, the
checkout with its traces {checkout}, results and builds {results}."""


def artifact_text(run, supplement, root):
    """Return a table with the command of each study, its CPU minutes, memory and disk space, and some claims with their
    published values; None in the same cases as `readme_text`."""
    if (found := parts(run, supplement, root)) is None:
        return None
    published = {claim.id: published_text(claim) for claim in load_ledger(root)}
    lines = [
        "| Study | Command | CPU minutes | Memory | Disk | Claims to look at, with the published value |",
        "|---|---|---|---|---|---|",
    ]
    for study, (item, claims) in looked_at().items():
        cpu, peak = cost([job for name, job in found[0].items() if name.startswith(f"{study}_")])
        told = "; ".join(f"`{name}`: {published[name]}" for name in claims)
        size = disk(root, [f"results/{study}"])
        lines.append(
            f"| `{study}` | `.venv/bin/snakemake --cores all results/{study}/{item}.csv` | {minutes(cpu)} "
            f"| {gigabytes(peak)} | {max(math.ceil(size / 1e6), 1)} MB | {told} |"
        )
    size = gigabytes(disk(root, ["results"]))
    for name, command, made, jobs in zip(
        ("all", "rest"),
        ("make reproduce", "make supplement"),
        ("`results/claims.csv`", "`results/supplement.pdf`"),
        found,
        strict=True,
    ):
        cpu, peak = cost(jobs.values())
        lines.append(f"| {name} | `{command}` | {minutes(cpu)} | {gigabytes(peak)} | {size} | {made} |")
    return "\n".join(lines)


def expected_text(claims):
    """Return a table with the values and verdicts expected from a run, for the claims that `looked_at` names.

    Parameters
    ----------
    claims : DataFrame
        ``results/claims.csv``; claims that it lacks are left out.
    """
    rows = claims.astype(str).set_index("id")
    lines = ["| Claim | Published | Expected value | Expected verdict |", "|---|---|---|---|"]
    for name in (name for _, names in looked_at().values() for name in names if name in rows.index):
        row = rows.loc[name]
        lines.append(f"| `{name}` | {row['published']} | {row['obtained']} | {row['verdict'].replace('_', ' ')} |")
    return "\n".join(lines)
