# Decide which archived tables are kept, see misspenalty_studies.common.reporting.kept: the rules that make them (SPARED) are
# left out, so that Snakemake reads the tables as they are. This file has no rules.
import contextlib
import functools

KEPT = {
    study: [path for paths in plan.kept().values() for path in paths]
    for study, plan in PLANS.items()
    if plan.kept()
}
KEPT_FILES = [path for paths in KEPT.values() for path in paths]


# The environment, and the rules and scripts that make kept tables of every study; `made_now` adds a study's own rules.
KEPT_BY = [
    "requirements.lock",
    "workflow/rules/common.smk",
    "workflow/rules/conditions.smk",
    "workflow/rules/simulations.smk",
    "workflow/rules/tables.smk",
    "workflow/rules/traces.smk",
    "workflow/scripts/compile_trace.py",
    "workflow/scripts/conditions.py",
    "workflow/scripts/mq_first_level.py",
    "workflow/scripts/simulate.py",
    "workflow/scripts/tables.py",
]


@functools.cache
def made_now(study):
    """Return the digest of what a study's kept tables would be made from, as it was at the first call."""
    rules = (Path("studies", name).glob("*.smk") for name in read_from(study, PLANS))
    more = [*KEPT_BY, *(path.as_posix() for paths in rules for path in paths)]
    if study not in STUDIES:
        return made_from(study, PLANS, config, files=more)
    judge = judging("misspenalty_studies.common.judge", studies=[study])
    more.append(f"studies/{study}/ledger.yaml")
    return made_from(study, PLANS, config, [judge], more)


def kept_from(wildcards):
    """Return, by study, the digest of what its kept tables are made from."""
    return {study: made_now(study) for study in KEPT}


RECORD = Simulation(
    "kept",
    job(CODE, "misspenalty_studies.common.reporting.kept.kept_table"),
    inputs={"tables": KEPT_FILES},
    outputs={"table": KEPT_TABLE},
    params={"made_from": kept_from},
    part="kept",
)
# Take the digests now, because a file that is edited during the run may have been read before. If one is missing, the
# job that reads it will say so.
if workflow.is_main_process:
    with contextlib.suppress(OSError, MissPenaltyError):
        kept_from(None)
# A job's own process must know every rule; it runs no rule that the main process leaves out.
try:
    FITTING = fitting(KEPT, made_now) if workflow.is_main_process and keeping() else []
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from None
SPARED = {name for study in FITTING for name in PLANS[study].kept()}
if FITTING == sorted(KEPT):
    SPARED.add(RECORD.name)
if FITTING:
    logger.info(
        "Kept: archived tables of what else was tried, which were made from the same code, settings and files, of "
        f"{', '.join(FITTING)}. MISSPENALTY_KEEP=no makes them again."
    )
