# What the rules of the study sarc take.
from misspenalty_studies.sarc.fit import STEPS
from misspenalty_studies.sarc.runs import PAPERS

SARC = config["sarc"]


wildcard_constraints:
    group="|".join([*PAPERS, "beyond"]),
    step="|".join(STEPS),


def sarc_fit_before(wildcards):
    """What a step of the fit builds on: those before it."""
    steps = list(STEPS)
    before = steps[: steps.index(wildcards.step)]
    return [f"results/sarc/runs/fit/{step}.csv" for step in before]


def sarc_policies(wildcards):
    """Policies of a group of runs: one of the paper's, or all that go beyond it."""
    return SARC["beyond"] if wildcards.group == "beyond" else [wildcards.group]


def sarc_seeds(wildcards):
    """Seeds of a group of runs: those beyond the paper have the first alone."""
    return SARC["seeds"][:1] if wildcards.group == "beyond" else SARC["seeds"]
