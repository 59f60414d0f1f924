# For each study, one job judges its claims under other conditions, and lists the verdicts on claims that are missed by
# the study's results or under a condition. The study's rule file lists the tables that are made under these conditions
# (`conditions`).
from misspenalty_studies.common.judge import table_files


def conditions_from(study):
    """Return the files from which a study's verdicts under other conditions are made."""
    varied = f"results/{study}/runs/conditions/{{item}}.csv"
    return {
        "ledger": f"studies/{study}/ledger.yaml",
        "tables": collect(
            "results/{table}", table=table_files(studies=[study]).values()
        ),
        "varied": collect(varied, item=PLANS[study].conditions),
    }


VARIED = [study for study, plan in PLANS.items() if plan.conditions]
for study in (study for study in VARIED if f"{study}_conditions" not in SPARED):

    rule:
        name:
            f"{study}_conditions"
        input:
            **conditions_from(study),
        output:
            table=f"results/{study}/conditions.csv",
        log:
            f"results/logs/{study}_conditions.log",
        benchmark:
            f"results/benchmarks/{study}_conditions.tsv"
        conda:
            "../../environment.yml"
        params:
            study=study,
            code=judging("misspenalty_studies.common.judge", studies=[study]),
        script:
            "../scripts/conditions.py"
