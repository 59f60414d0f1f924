# Make tables and figures of your own traces. Each row of config/traces.tsv (key `traces`) is a target,
# `snakemake -c all NAME`, that makes results/traces/NAME; the target `traces` makes all of them, and `all_traces` makes
# one Parquet data set of their tables. None of this belongs to a full run.
from misspenalty.characterize.rows import read_rows
from misspenalty.characterize.runs import TABLES as TRACE_TABLES
from misspenalty_studies.common.reporting.provenance import file_digest

OWN_TABLE = Path(config["traces"])
try:  # only the default table may be absent
    absent = OWN_TABLE == Path("config/traces.tsv") and not OWN_TABLE.exists()
    OWN_TRACES = {} if absent else read_rows(OWN_TABLE)
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from None

OWN_TABLES = {name: f"results/traces/{{own}}/{name}.csv" for name in TRACE_TABLES}
OWN = "|".join(map(re.escape, OWN_TRACES)) or "none^"


rule fetch_trace:
    input:
        table=ancient(config["traces"]),
    output:
        raw=directory("results/traces/raw/{own}"),
    log:
        "results/logs/fetch_trace/{own}.log",
    benchmark:
        "results/benchmarks/fetch_trace/{own}.tsv"
    wildcard_constraints:
        own=OWN,
    conda:
        "../../environment.yml"
    params:
        row=own_row,
        mirror=config.get("mirror"),
        code=CODE.digest("misspenalty.io.external"),
    script:
        "../scripts/fetch_trace.py"


rule trace_tables:
    input:
        raw=own_raw,
        drives=own_drive,
    output:
        **OWN_TABLES,
    log:
        "results/logs/trace_tables/{own}.log",
    benchmark:
        "results/benchmarks/trace_tables/{own}.tsv"
    wildcard_constraints:
        own=OWN,
    conda:
        "../../environment.yml"
    threads: 2
    params:
        row=own_row,
        job=job(CODE, "misspenalty.characterize.runs.tables"),
    script:
        "../scripts/simulate.py"


rule trace_page:
    input:
        **OWN_TABLES,
    output:
        pdf="results/traces/{own}/{own}.pdf",
        figures=expand(
            "results/traces/{{own}}/{figure}.{form}",
            figure=["profile", "curves", "penalty"],
            form=["pdf", "svg", "png"],
        ),
    log:
        "results/logs/trace_page/{own}.log",
    benchmark:
        "results/benchmarks/trace_page/{own}.tsv"
    wildcard_constraints:
        own=OWN,
    conda:
        "../../environment.yml"
    params:
        code=CODE.digest("misspenalty.characterize.page"),
        template=file_digest(
            CODE.path_of("misspenalty.characterize.page").with_name("page.typ")
        ),
    script:
        "../scripts/trace_page.py"


rule all_traces:
    input:
        tables=expand(
            "results/traces/{own}/{table}.csv", own=OWN_TRACES, table=TRACE_TABLES
        ),
    output:
        folder=directory("results/traces/all"),
    log:
        "results/logs/all_traces.log",
    benchmark:
        "results/benchmarks/all_traces.tsv"
    conda:
        "../../environment.yml"
    params:
        folders=expand("results/traces/{own}", own=OWN_TRACES),
        code=CODE.digest("misspenalty.characterize.runs"),
    script:
        "../scripts/all_traces.py"


# The Snakefile includes this file last, so these are all other rules.
if taken := set(OWN_TRACES) & {rule.name for rule in workflow.rules}:
    raise WorkflowError(
        f"{config['traces']}: row {min(taken)}, column name: the workflow already has a rule with this name; choose another name"
    )

# The name of each row is a target that makes the row's page; `traces` makes all pages and the data set.
OWN_TARGETS = {own: [f"results/traces/{own}/{own}.pdf"] for own in OWN_TRACES}
OWN_TARGETS["traces"] = [*sum(OWN_TARGETS.values(), []), "results/traces/all"]
for own, files in OWN_TARGETS.items():

    rule:
        name:
            own
        input:
            files,
