# Compile each raw trace once, to dense block ids in order of first use. Every later job loads the result or, if it is
# large, maps it into memory.


rule compile_trace:
    input:
        raw=raw_capture,
    output:
        trace=directory("results/traces/{capture}.trace"),
    log:
        "results/logs/compile_trace/{capture}.log",
    benchmark:
        "results/benchmarks/compile_trace/{capture}.tsv"
    wildcard_constraints:
        capture="|".join(CAPTURES),
    priority: SOON
    conda:
        "../../environment.yml"
    params:
        code=CODE.digest("misspenalty.traces.open_trace"),
    script:
        "../scripts/compile_trace.py"
