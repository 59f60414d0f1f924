"""Judge the claims of all studies on a folder of result tables."""

from pathlib import Path

import pandas as pd

from misspenalty.errors import InputError
from misspenalty_studies.common import study as declared
from misspenalty_studies.common.claims.conditions import under_conditions
from misspenalty_studies.common.claims.ledger import load_calibration, load_ledger
from misspenalty_studies.common.claims.remarks import read_logged
from misspenalty_studies.common.claims.report import COLUMNS, judge
from misspenalty_studies.common.claims.summary import agreement, forecasts
from misspenalty_studies.common.claims.tables import BY_SEED
from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.common.study import claims_modules

STUDIES = claims_modules()


def table_files(variant="", studies=STUDIES):
    """Return the paths, within the results folder, of the tables that claims read, by study and item.

    >>> table_files()["mq_table4"]
    'mq/table4.csv'
    """
    names = [
        (study, f"{item}{suffix}")
        for study in studies
        for item, table in STUDIES[study].TABLES.items()
        for suffix in ("", BY_SEED if table.by_seed else "")
    ]
    return {f"{study}_{item}": f"{study}/{item}{variant}.csv" for study, item in names}


def write_claims(results="results", out=None, *, root=".", variant=""):
    """Judge the ledger on the tables of a folder and write the table of verdicts.

    Parameters
    ----------
    results : path-like
        Folder of the result tables, such as ``mq/table4.csv``; claims whose table is missing are not testable.
    out : path-like, optional
        Table of verdicts; by default ``claims<variant>.csv`` in `results`. Next to it, ``agreement.csv`` and
        ``forecasts.csv`` list the comparisons with programs and the forecasts of this project.
    root : path-like
        The checkout, which holds the ledgers ``studies/*/ledger.yaml`` and ``data/calibration.yaml``.
    variant : str
        Suffix of a variant's tables, such as ``_calibrated``; these tables are read instead of the others. Only the
        claims of studies that have such tables are judged, and only the table of verdicts is written.

    Returns
    -------
    DataFrame
        From `misspenalty_studies.common.claims.report.judge`.

    Raises
    ------
    InputError
        A file does not match its schema, or is not a CSV table; see
        `misspenalty_studies.common.claims.report.judge` for other errors.
    """
    results, root = Path(results), Path(root)
    out = Path(out or results / f"claims{variant}.csv")
    ledger, tables = load_ledger(root), _tables(results, variant)
    studies = STUDIES
    if variant:
        studies = {
            name: module
            for name, module in STUDIES.items()
            if any(f"{name}_{item}" in tables for item in module.TABLES)
        }
        ledger = [claim for claim in ledger if claim.study in studies]
    logged = [path for study in studies if (path := results / study / f"logged{variant}.csv").is_file()]
    frame = judge(
        ledger,
        studies,
        tables,
        notes=read_logged(logged),
        calibration=load_calibration(root / "data" / "calibration.yaml"),
        variant=variant,
    )
    write_table(frame[COLUMNS], out)
    if not variant:
        write_table(agreement(frame), out.with_name("agreement.csv"))
        write_table(forecasts(frame, ledger), out.with_name("forecasts.csv"))
    return frame


def headlines(claims, calibrated):
    """Return each study's headline, which says whether the paper's conclusion holds and, if not, why.

    Parameters
    ----------
    claims, calibrated : DataFrame
        ``results/claims.csv`` and ``results/claims_calibrated.csv``.

    Returns
    -------
    dict of str to str
        By study. Each ``study.yaml`` names the verdicts that its headline rests on; if the tables have other verdicts,
        the headline is followed by the claims concerned, with their verdicts.
    """
    verdicts = dict(zip(claims["id"], claims["verdict"], strict=True))
    verdicts |= {f"calibrated: {id}": v for id, v in zip(calibrated["id"], calibrated["verdict"], strict=True)}
    found = {}
    for study in STUDIES:
        about = declared.studies()[study]
        others = [
            f"`{id}` {verdicts.get(id, 'missing')}"
            for id, verdict in about.rests_on.items()
            if verdicts.get(id) != verdict
        ]
        found[study] = about.headline + (f" (This run says otherwise: {', '.join(others)}.)" if others else "")
    return found


def write_conditions(study, results="results", out=None, *, root="."):
    """Judge a study's claims under other conditions, and write those missed there or on the result tables.

    Parameters
    ----------
    study : str
        One of `STUDIES`.
    results : path-like
        Folder of the result tables. The tables under conditions are in ``<study>/runs/conditions``; they have the
        names and columns of the result tables and an additional column ``condition``.
    out : path-like, optional
        By default ``<study>/conditions.csv`` in `results`.
    root : path-like
        The checkout, which holds ``studies/<study>/ledger.yaml``.

    Returns
    -------
    DataFrame
        From `misspenalty_studies.common.claims.conditions.under_conditions`.

    Raises
    ------
    InputError
        A file does not match its schema, or is not a CSV table; see
        `misspenalty_studies.common.claims.report.judge` and
        `misspenalty_studies.common.claims.conditions.under_conditions` for other errors.
    """
    results, module = Path(results), STUDIES[study]
    ledger = load_ledger(root, study)
    base = judge(ledger, {study: module}, _tables(results, studies=[study]))
    varied = {
        item: _table(path)
        for item in module.TABLES
        if (path := results / study / "runs" / "conditions" / f"{item}.csv").is_file()
    }
    judged = base[base["role"] != "given"].set_index("id")["verdict"].to_dict()
    frame = under_conditions(ledger, study, module, judged, varied)
    write_table(frame, Path(out or results / study / "conditions.csv"))
    return frame


def _tables(results, variant="", studies=STUDIES):
    """Read the tables of the folder that claims use, and return them by study and item."""
    files = table_files(variant, studies)
    return {name: _table(results / path) for name, path in files.items() if (results / path).is_file()}


def _table(path):
    try:
        return pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"not a CSV table: {error}", path=path, remedy="delete it and rerun") from error
