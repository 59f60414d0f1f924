"""Print what has changed in the ledger of published statements since a revision, and why.

    python tools/ledger_changes.py [REVISION]

Count the entries of the older and the present ledger by status, role, verdict and basis. Then print, with the reason,
every entry that is new, that has left the ledger, or whose status, role, rule or reason (`changed`) differs. Without a
revision, the older ledger is taken from the commit before the present roles were introduced.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
# Older revisions have a single ledger, BEFORE.
BEFORE, CLAIMS = "data/published/claims.yaml", "results/claims.csv"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
RULE = ("kind", "published", "unit", "tolerance", "complement", "tie", "clear")  # keys that decide a verdict
WITHDRAWN = re.compile(r"^\| `([a-z0-9_.]+)` \| (.*) \|$", re.MULTILINE)
ROLES = {"result": "claim", "setup": "given", "condition": "given"}  # present names of the roles in older ledgers


def git(*words):
    """Run a git command in the checkout, and return its output."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}; give a revision of this repository")
    return done.stdout


def first_ledger():
    """Return the commit before the one that introduced the current roles."""
    commits = git("log", "--format=%H", "--reverse", "-S", "role: agreement", "--", BEFORE).split()
    if not commits:
        sys.exit("no commit of this repository introduced the roles of the ledger; give a revision")
    return f"{commits[0]}~1"


def ledgers_of(revision):
    """Return the texts of the ledgers of a revision."""
    names = git("ls-tree", "-r", "--name-only", revision, "data/published", "studies").split()
    return [git("show", f"{revision}:{name}") for name in names if name == BEFORE or name.endswith("/ledger.yaml")]


def counts(ledger, claims):
    """Count the entries by status and role, and their verdicts by basis; return the tables as text."""
    entries = pd.DataFrame(ledger.values())[["id", "status", "role"]]
    table = entries.merge(claims[["id", "verdict", "basis"]], on="id", how="left").fillna("–")
    parts = [
        table.groupby(keys).size().rename("entries") for keys in (["status", "role"], ["role", "verdict", "basis"])
    ]
    return "\n\n".join(part.to_string() for part in parts)


def changes(old, new, withdrawn):
    """Yield a line, with the reason, for each entry that has changed, has left the ledger, or is new."""
    for id, entry in old.items():
        if id not in new:
            yield f"{id}: left the ledger: {withdrawn.get(id, 'NO REASON GIVEN')}"
            continue
        now = new[id]
        told = [f"{key} {entry[key]} -> {now[key]}" for key in ("status",) if entry[key] != now[key]]
        told += (
            [f"role {entry['role']} -> {now['role']}"] if ROLES.get(entry["role"], entry["role"]) != now["role"] else []
        )
        told += [f"{key} {entry.get(key)} -> {now.get(key)}" for key in RULE if entry.get(key) != now.get(key)]
        if told or now.get("changed") != entry.get("changed"):
            yield f"{id}: {'; '.join(told) or 'reason'}: {now.get('changed', 'NO REASON GIVEN')}"
    for id in sorted(new.keys() - old.keys()):
        yield f"{id}: new: {new[id].get('changed', 'NO REASON GIVEN')}"


def main(arguments=None):
    """Print the counts and the changes; exit with 1 if a change has no reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", help="the older ledger, such as a tag or HEAD~3")
    revision = parser.parse_args(arguments).revision or first_ledger()
    old, new = (
        {entry["id"]: entry for text in texts for entry in yaml.load(text, LOADER)}
        for texts in (ledgers_of(revision), [path.read_text() for path in sorted(ROOT.glob("studies/*/ledger.yaml"))])
    )
    withdrawn = dict(WITHDRAWN.findall((ROOT / "studies" / "README.md").read_text()))
    for name, ledger, text in (
        ("old", old, git("show", f"{revision}:{CLAIMS}")),
        ("new", new, (ROOT / CLAIMS).read_text()),
    ):
        claims = pd.read_csv(pd.io.common.StringIO(text), dtype=str, keep_default_na=False)
        print(f"# {name} ledger: {len(ledger)} entries\n\n{counts(ledger, claims)}\n")
    lines = list(changes(old, new, withdrawn))
    print(f"# {len(lines)} entries changed\n", *lines, sep="\n")
    return any("NO REASON GIVEN" in line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
