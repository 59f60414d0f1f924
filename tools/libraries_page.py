"""Write docs/reference/libraries.md: what each cache in results/conformance passed, where it differs and why.

python tools/libraries_page.py
"""

import csv
import json
import re
from pathlib import Path

from misspenalty.io.documents import read_yaml

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "libraries.md"
RESULTS = ROOT / "results" / "conformance"
EXPLANATIONS = ROOT / "conformance" / "explanations.yaml"
HEAD = """# Libraries

`tools/libraries_page.py` writes this page from `results/conformance` and `conformance/explanations.yaml`. Each cache
has its own address on this page, such as `libraries.html#library-go-hashicorp-arc`. A difference is not a judgement of
quality: some libraries announce the difference, or improve on the paper. [The guide](../how-to/conformance.md) explains
the vectors.
"""


def page():
    """Return the text of the page."""
    rows = json.loads((RESULTS / "libraries.json").read_text(encoding="utf-8"))
    explained, costs = read_yaml(EXPLANATIONS), _costs()
    return HEAD + "".join(
        _section(row, explained.get(row["cache"]), costs.get((row["language"], row["cache"]), [])) for row in rows
    )


def address(row):
    """Return the anchor of a cache.

    Examples
    --------
    >>> address({"language": "go", "cache": "hashicorp.2Q"})
    'library-go-hashicorp-2q'
    """
    return f"library-{row['language']}-" + re.sub(r"[^a-z0-9]+", "-", row["cache"].lower()).strip("-")


def _section(row, explained, costs):
    passed = f"passes {row['passed']} of {row['vectors']} vectors of `{row['policy']}`"
    not_run = f"; {row['not_run']} {'was' if row['not_run'] == 1 else 'were'} not run" if row["not_run"] else ""
    chance = (
        ""
        if row["deterministic"]
        else " Its answers depend on chance or background work, so it is judged by its hits on the long traces."
    )
    lines = [
        f"\n({address(row)})=\n\n## {row['cache']} ({row['language']})\n",
        f"{row['library']} {row['version']} {passed}{not_run}.{chance} "
        f'The reading that fits best is "{row["reading"]}".\n',
    ]
    if row["first_vector"]:
        lines.append(f"The first difference is in `{row['first_vector']}` ({row['tests']}): {row['difference']}.")
        if row["trace"]:
            lines.append(f"The capacity is {row['capacity']}, and the trace is `{' '.join(map(str, row['trace']))}`.")
        if row["decided_by"]:
            lines.append(f"Decided by: {row['decided_by']}")
        lines.append(f"\n{explained['says']} We know this from {explained['by']}.")
    if costs:
        lines.append("\n| trace | references | cache | definition | library | difference |\n|---|---|---|---|---|---|")
        for cost in costs:
            sizes = f"{int(cost['references']):,} | {int(cost['capacity']):,}"
            ratios = f"{float(cost['definition']):.2%} | {float(cost['library']):.2%}"
            lines.append(f"| {cost['trace']} | {sizes} | {ratios} | {100 * float(cost['difference']):+.2f} points |")
    return "\n".join(lines) + "\n"


def _costs():
    found = {}
    with (RESULTS / "costs.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["language"], row["cache"]), []).append(row)
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
