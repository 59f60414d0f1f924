# The sample study: one simulation, two tables, one figure.
plan = PLANS["mine"]

plan.stacked("faults", runs="results/mine/runs/faults.csv")
plan.table("mine.tables.added", "added", faults="faults")
plan.figure("mine.figures.anomaly", "anomaly", "Example", "faults", table="faults")

plan.simulation(
    "mine_faults",
    "mine.runs.faults",
    outputs=dict(table="results/mine/runs/faults.csv"),
    params=dict(frames=config["mine"]["frames"]),
)
