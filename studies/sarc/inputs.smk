# Select the inputs and parameters of the SARC study's rules.
from misspenalty_studies.sarc.fit import STEPS
from misspenalty_studies.sarc.runs import PAPERS

SARC = config["sarc"]


wildcard_constraints:
    group="|".join([*PAPERS, "beyond"]),
    step="|".join(STEPS),


def sarc_fit_before(wildcards):
    """Return the tables of the earlier steps of the fit, from which a step starts."""
    steps = list(STEPS)
    before = steps[: steps.index(wildcards.step)]
    return [f"results/sarc/runs/fit/{step}.csv" for step in before]


def sarc_policies(wildcards):
    """Return the policies of a group of runs: one policy of the paper, or all policies beyond it."""
    return SARC["beyond"] if wildcards.group == "beyond" else [wildcards.group]


def sarc_seeds(wildcards):
    """Return the seeds of a group of runs; the group beyond the paper has only the first."""
    return SARC["seeds"][:1] if wildcards.group == "beyond" else SARC["seeds"]
