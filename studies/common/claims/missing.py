"""Count, for each fact that a paper leaves open, the missed claims that are reproduced if the fact is changed."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.conditions import MISSED
from misspenalty_studies.common.validated import read_entries

COLUMNS = ["study", "fact", "kind", "conditions", "alone", "together"]
NONE = "none of the conditions tried"
UNLISTED = "unlisted"
REMEDY = "studies/README.md explains the keys"


class MissingFact(BaseModel):
    """A fact that a paper leaves open, and patterns that match the conditions that change it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str
    fact: str
    kind: Literal[
        "stream", "machine", "state", "protocol", "algorithm", "definition", "selection", "control", "baseline"
    ]
    conditions: tuple[str, ...] = Field(min_length=1)


def missing_facts_table(claims, conditions, facts):
    """Read the tables of a run and the lists of missing facts, and pass them to `missing_facts`.

    Parameters
    ----------
    claims : path-like
        ``results/claims.csv``.
    conditions : list of path-like
        ``conditions.csv`` of every study that has one.
    facts : list of path-like
        ``missing_facts.yaml`` of every study that has one; the study is the name of its folder.

    Returns
    -------
    DataFrame
        See `missing_facts`.

    Raises
    ------
    InputError
        A file is missing, is not YAML or is not a list, an entry does not match its model, or a part of a condition
        matches several facts.
    """
    entries = [
        fact
        for path in facts
        for fact in read_entries(MissingFact, path, REMEDY, study=Path(path).absolute().parent.name)
    ]
    tried = pd.concat([pd.read_csv(path, dtype=str) for path in conditions])
    return missing_facts(pd.read_csv(claims, dtype=str, keep_default_na=False), tried, entries)


def missing_facts(claims, conditions, facts):
    """Count, per missing fact, the missed claims that are reproduced if the fact is changed.

    Parameters
    ----------
    claims : DataFrame
        Verdicts with ``id``, ``study``, ``role`` and ``verdict``, see `misspenalty_studies.common.claims.report.judge`;
        rows with the role ``claim`` are counted.
    conditions : DataFrame
        ``claim, condition, value, verdict`` of all studies, see
        `misspenalty_studies.common.claims.conditions.under_conditions`. The parts of a joint condition are separated by
        ``"; "``.
    facts : list of MissingFact
        A part of a condition that matches no pattern of its study's facts is listed as a fact of its own, of the kind
        ``unlisted``, because a configuration may add conditions.

    Returns
    -------
    DataFrame
        ``study, fact, kind, conditions, alone, together``: `conditions` is the number of conditions that change the
        fact; `alone` counts the missed claims that are reproduced if this fact alone is changed, `together` those that
        are reproduced only if it is changed together with others. A claim can be counted for several facts, but is
        counted for none if the baseline reproduces it: all conditions of the study share the baseline, which changes no
        fact. In the last row of a study, `alone` is the number of missed claims that are counted for no fact, and
        `conditions` the number of all conditions; its kind is empty.

    Raises
    ------
    InputError
        A part of a condition matches several facts.

    Examples
    --------
    >>> claims = pd.DataFrame({"id": ["mq.a"], "study": ["mq"], "role": ["claim"], "verdict": ["not_reproduced"]})
    >>> tried = pd.DataFrame({"claim": ["mq.a"], "condition": ["writes bypass"], "verdict": ["reproduced"]})
    >>> facts = [MissingFact(study="mq", fact="whether writes count", kind="definition", conditions=("writes *",))]
    >>> missing_facts(claims, tried, facts)[["fact", "alone", "together"]].values.tolist()
    [['whether writes count', 1, 0], ['none of the conditions tried', 0, 0]]
    """
    counted = claims[(claims["role"] == "claim") & claims["verdict"].isin(MISSED)]
    study_of = dict(zip(claims["id"], claims["study"], strict=True))
    changed = {
        (study_of[claim], condition): frozenset(_fact(part, study_of[claim], facts) for part in condition.split("; "))
        for claim, condition in conditions[["claim", "condition"]].drop_duplicates().itertuples(index=False)
    }
    facts = [*facts, *dict.fromkeys(fact for found in changed.values() for fact in found if fact.kind == UNLISTED)]
    holding = conditions[conditions["verdict"] == "reproduced"].groupby("claim")["condition"].agg(list).to_dict()
    rows = []
    for study in dict.fromkeys(fact.study for fact in facts):
        own = {fact: [0, 0] for fact in facts if fact.study == study and fact not in controls(facts)}
        unexplained = 0
        for claim in counted.loc[counted["study"] == study, "id"]:
            found = [changed[study, condition] for condition in holding.get(claim, [])]
            shared = any(fact.kind == "baseline" for one in found for fact in one)
            sets = [] if shared else [one - controls(facts) for one in found]
            alone = set().union(*(one for one in sets if len(one) == 1))
            together = set() if alone else set().union(*sets)
            for place, found in enumerate((alone, together)):
                for fact in found:
                    own[fact][place] += 1
            unexplained += not alone and not together
        for fact, (alone, together) in own.items():
            tried = sum(study == name and fact in found for (name, _), found in changed.items())
            rows.append((study, fact.fact, fact.kind, tried, alone, together))
        rows.append((study, NONE, "", sum(study == name for name, _ in changed), unexplained, 0))
    return pd.DataFrame(rows, columns=COLUMNS)


def controls(facts):
    """Return the entries that change only our own run, not a fact of a paper."""
    return {fact for fact in facts if fact.kind in ("control", "baseline")}


def _fact(part, study, facts):
    found = [
        fact for fact in facts if fact.study == study and any(fnmatchcase(part, pattern) for pattern in fact.conditions)
    ]
    if len(found) > 1:
        raise InputError(
            f"condition {part!r} of {study} changes {' and '.join(fact.fact for fact in found)}",
            expected=f"at most one entry of studies/{study}/missing_facts.yaml whose patterns match it",
            remedy="make the patterns narrower",
        )
    return found[0] if found else MissingFact.model_construct(study=study, fact=part, kind=UNLISTED, conditions=(part,))
