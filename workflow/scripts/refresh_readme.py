"""Update the claims in README.md and ARTIFACT.md, write results/README.md and, with --cost, update the last run's cost.

`make reproduce` updates everything that is the same on every machine; `make cost` also updates the cost.
"""

import sys
from pathlib import Path
from textwrap import fill

import pandas as pd

from misspenalty.errors import InputError, MissPenaltyError
from misspenalty.io.files import atomic_path
from misspenalty_studies.common.claims.summary import conclusion, format_summary
from misspenalty_studies.common.judge import headlines
from misspenalty_studies.common.reporting.cost import artifact_text, expected_text, readme_text
from misspenalty_studies.common.reporting.dictionary import dictionary_text
from misspenalty_studies.common.reporting.markers import update_between_markers
from misspenalty_studies.common.reporting.recorded import read_manifest
from misspenalty_studies.common.study import studies


def share(rows):
    """Return the number of these claims that are reproduced, as the text ``n of m``."""
    return f"{(rows['verdict'] == 'reproduced').sum()} of {len(rows)}"


def results_of():
    """Return, by study, whether the run recomputed its tables or read archived ones."""
    found = table("recomputed")
    return dict(zip(found["study"], found["state"], strict=True)) | {"all": ""}


def claims_text(claims, variant, agreement, forecasts):
    """Return the README's section on the results."""
    lost = [study for study, about in studies().items() if about.part == "lost"]
    said, counts = conclusion(claims, lost)
    programs = agreement.groupby("program")[["agreeing", "points"]].sum()
    agreeing = "; ".join(f"{name}: {row.agreeing} of {row.points}" for name, row in programs.iterrows())
    sentences = "\n".join(f"- **{study}**: {sentence}" for study, sentence in headlines(claims, variant).items())
    paragraph = (
        f"**{said}** In the five papers of 1997 to 2005 whose traces and programs are lost, {counts['comparison']} "
        f"comparisons (orders, trends, limits) are reproduced, but only {counts['number']} numbers, not counting those "
        f"that a parameter was fitted to; if these are counted, {counts['every comparison']} comparisons and "
        f"{counts['every number']} numbers are reproduced."
    )
    return f"""{fill(paragraph, 112, break_on_hyphens=False)}

{format_summary(claims, results_of())}

Cells say how many of the tested statements, ties included, are reproduced. *Free*: nothing that the value depends on
was fitted to published values or chosen to match them. *Calibrated*: the model was calibrated on other values of the
paper. *Fitted*: the number compared was used to tune the model. *Tie*: the interval over seeds crosses the tolerance,
or the interval of a difference that decides an order includes 0. Multi-Queue is judged behind a first level of 128 MB,
as in the paper, and HAC with documents between the composite parts and a server's cache of the recollected size. Two
variants are not counted in any total: Multi-Queue behind a first level whose size was calibrated on the paper's Table
3, and HAC with documents apart and a server's cache whose size was calibrated on the printed hit rate. Their counts:

{format_summary(variant).rpartition(chr(10))[0]}

Does the conclusion of each paper hold?

{sentences}

Agreement with the programs and results of others: points within tolerance, out of all points compared
([results/agreement.csv](results/agreement.csv)):
{agreeing}.

Our own forecasts, which were stated before the runs that decide them
([results/forecasts.csv](results/forecasts.csv)): {share(forecasts)} hold.
"""


def table(name):
    """Read a table of the results."""
    path = Path("results", f"{name}.csv")
    if not path.is_file():
        raise InputError("no such file", path=path, remedy=f"run `make reproduce`, or `git checkout -- {path}`")
    return pd.read_csv(path)


def refresh(cost):
    """Write the texts, and with `cost` also those on the cost; write nothing if one of them cannot be made."""
    tables = [table(name) for name in ("claims", "claims_calibrated", "agreement", "forecasts")]
    texts = {("README.md", "claims"): claims_text(*tables), ("ARTIFACT.md", "expected"): expected_text(tables[0])}
    if cost:
        runs = [read_manifest(f"results/manifest{part}.json") for part in ("", "_supplement")]
        texts[("README.md", "cost")] = readme_text(*runs, Path())
        texts[("ARTIFACT.md", "cost")] = artifact_text(*runs, Path())
        if None in texts.values():
            raise InputError(
                "the manifests do not describe complete runs",
                path="results",
                remedy="run `make supplement` in a fresh checkout",
            )
    for (path, name), text in texts.items():
        if update_between_markers(path, name, text):
            print(f"{path}: {name} brought up to date")
    with atomic_path("results/README.md") as partial:
        partial.write_text(dictionary_text(), encoding="utf-8")


def main():
    """Run the command line; return 0, or 2 after a one-line message if something cannot be read or written."""
    try:
        refresh("--cost" in sys.argv[1:])
    except MissPenaltyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
