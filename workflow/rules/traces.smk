# Raw traces are compiled once: dense block ids in order of first use, memory-mapped by every later job.


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
