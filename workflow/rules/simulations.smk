# Make one rule for each simulation that a study declares in its rule file, and for each table about the claims.

every = [*declared("simulations"), *ABOUT_CLAIMS, RECORD]
for simulation in (one for one in every if one.name not in SPARED):

    rule:
        name:
            simulation.name
        input:
            **simulation.inputs,
        output:
            **simulation.outputs,
        log:
            f"results/logs/{simulation.place}.log",
        benchmark:
            f"results/benchmarks/{simulation.place}.tsv"
        priority: simulation.priority
        conda:
            "../../environment.yml"
        threads: simulation.threads
        params:
            **simulation.params,
            job=simulation.job,
        script:
            "../scripts/simulate.py"
