# Make the sample study: one simulation, two tables and one figure.
plan = PLANS["mine"]

plan.stacked("faults", runs="results/mine/runs/faults.csv")
plan.table("mine.tables.added", faults="faults")
plan.figure("anomaly", "Example", "faults", table="faults")

plan.simulation(
    "mine_faults",
    "mine.runs.faults",
    outputs="runs/faults",
    params=dict(frames=config["mine"]["frames"]),
)
