"""Count the verdicts on the claims of papers, separately for printed numbers and printed comparisons."""

import pandas as pd

from misspenalty_studies.common.claims.report import BASES

FORMS = ("number", "comparison")


def claims_of(frame):
    """Return the rows of a table of verdicts that are counted, that is, the claims of papers."""
    return frame[frame["role"] == "claim"]


def summary(frame):
    """Count the claims of papers by study, with a last row ``all``.

    Parameters
    ----------
    frame : DataFrame
        From `judge`.

    Returns
    -------
    DataFrame
        ``study``; for each form (`FORMS`) and basis, the number of claims reproduced, ``<form>_<basis>``, and tested,
        ``<form>_<basis>_of``; for both forms together, ``tie``, ``direction``, ``not_reproduced``, ``not_testable`` and
        ``claims``. The studies are in the order of the ledger.

    Examples
    --------
    >>> frame = pd.DataFrame({"study": "mq", "role": "claim", "form": "number", "basis": ["free", "free", ""],
    ...                       "verdict": ["reproduced", "direction", "not_testable"]})
    >>> summary(frame).loc[0, ["number_free", "number_free_of", "direction", "not_testable", "claims"]].tolist()
    [1, 2, 1, 1, 3]
    """
    rows = {}
    counted = claims_of(frame)
    for study in [*counted["study"].unique(), "all"]:
        part = counted if study == "all" else counted[counted["study"] == study]
        row = {}
        for form in FORMS:
            for basis in BASES:
                tested = part[(part["form"] == form) & (part["basis"] == basis) & (part["verdict"] != "not_testable")]
                row[f"{form}_{basis}"] = int((tested["verdict"] == "reproduced").sum())
                row[f"{form}_{basis}_of"] = len(tested)
        row |= {
            name: int((part["verdict"] == name).sum())
            for name in ("tie", "direction", "not_reproduced", "not_testable")
        }
        rows[study] = row | {"claims": len(part)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("study").reset_index()


def headline(frame, results=None):
    """Return the summary of a table of verdicts as text, for a page.

    Parameters
    ----------
    frame : DataFrame
        From `judge`.
    results : mapping of str to str, optional
        By study, a text that says whether its tables are recomputed; it becomes the last column, ``results``.

    Returns
    -------
    DataFrame
        ``study``; per form and basis (``numbers, free``) how many tested claims are reproduced; ``tie`` and
        ``not testable``.
    """
    rows = []
    for count in summary(frame).to_dict("records"):
        row = {"study": count["study"]}
        for form in FORMS:
            for basis in BASES:
                of = count[f"{form}_{basis}_of"]
                row[f"{form}s, {basis}"] = f"{count[f'{form}_{basis}']} of {of}" if of else "–"
        row |= {"tie": str(count["tie"]), "not testable": str(count["not_testable"])}
        rows.append(row | ({"results": results.get(count["study"], "")} if results else {}))
    return pd.DataFrame(rows)


def conclusion(frame, studies):
    """Return a sentence that compares how often comparisons and numbers are reproduced, and the counts behind it.

    Parameters
    ----------
    frame : DataFrame
        From `judge`.
    studies : iterable of str
        Names of the studies to include.

    Returns
    -------
    sentence : str
    counts : dict of str to str
        ``number`` and ``comparison``: how many of the tested claims are reproduced, as ``1 of 2``, without the claims
        whose basis is ``fitted``; ``every number`` and ``every comparison``: the same with these claims.

    Examples
    --------
    >>> rows = [("a", "claim", "number", "free", "direction"), ("a", "claim", "comparison", "free", "reproduced")]
    >>> frame = pd.DataFrame(rows, columns=["study", "role", "form", "basis", "verdict"])
    >>> conclusion(frame, ["a"])[0]
    'Printed comparisons are reproduced far more often than printed numbers.'
    """
    tested = claims_of(frame).query("verdict != 'not_testable'")
    tested = tested[tested["study"].isin(list(studies))]
    counts, shares = {}, {}
    for form in FORMS:
        every = tested[tested["form"] == form]
        for name, part in ((form, every[every["basis"] != "fitted"]), (f"every {form}", every)):
            reproduced = int((part["verdict"] == "reproduced").sum())
            counts[name], shares[name] = f"{reproduced} of {len(part)}", reproduced / max(len(part), 1)
    more = shares["comparison"] - shares["number"]
    words = {0.3: "far more often than", 0.1: "more often than", -0.1: "about as often as", -2: "less often than"}
    often = next(word for least, word in words.items() if more > least)
    return f"Printed comparisons are reproduced {often} printed numbers.", counts


def format_summary(frame, results=None):
    """Return the `headline` of a table of verdicts as a Markdown table."""
    table = headline(frame, results)
    return markdown([list(table.columns), *table.to_numpy().tolist()])


def markdown(rows):
    """Return a table in Markdown; the first column and columns of words are left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = [
        at == 0 or not any(row[at][:1].isdigit() or row[at] == "–" for row in rows[1:]) for at in range(len(widths))
    ]
    columns = list(zip(widths, words, strict=True))
    lines = [[c.ljust(w) if left else c.rjust(w) for c, (w, left) in zip(row, columns, strict=True)] for row in rows]
    lines.insert(1, ["-" * w if left else "-" * (w - 1) + ":" for w, left in columns])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def agreement(frame):
    """List the comparisons with programs, each with the number of points at which our results agree.

    Parameters
    ----------
    frame : DataFrame
        From `judge`.

    Returns
    -------
    DataFrame
        One row per entry of the role ``agreement``: ``id, study, program, statement, points, agreeing, tolerance,
        deviation`` (the greatest), ``verdict``.
    """
    rows = frame[frame["role"] == "agreement"].rename(columns={"source": "program"})
    columns = ["id", "study", "program", "statement", "points", "agreeing", "tolerance", "deviation", "verdict"]
    return rows[columns].reset_index(drop=True)


def forecasts(frame, ledger):
    """Return the statements that this project made before the runs that decide them, with their verdicts.

    Parameters
    ----------
    frame : DataFrame
        From `judge`.
    ledger : list of Claim

    Returns
    -------
    DataFrame
        One row per entry of the role ``forecast``: ``id, study, statement, stated_on, stated_in`` (the commit),
        ``forecast, obtained, unit, verdict``.
    """
    about = {claim.id: claim for claim in ledger}
    rows = frame[frame["role"] == "forecast"].rename(columns={"published": "forecast"})
    rows = rows.assign(**{key: [getattr(about[id], key) for id in rows["id"]] for key in ("stated_on", "stated_in")})
    columns = ["id", "study", "statement", "stated_on", "stated_in", "forecast", "obtained", "unit", "verdict"]
    return rows[columns].reset_index(drop=True)
