# What the rules of the study whatif take.
def whatif_tables(item, conclusions):
    """What the runs of the what-if found, by conclusion."""
    return {study: f"results/whatif/runs/{study}_{item}.csv" for study in conclusions}


def whatif_outputs(conclusion, *more):
    """Files of the runs of one of its conclusions, by name."""
    items = ["cells", "curve", "crossovers", "checks", *more]
    return {
        f"{conclusion}_{item}": f"results/whatif/runs/{conclusion}_{item}.csv"
        for item in items
    }
