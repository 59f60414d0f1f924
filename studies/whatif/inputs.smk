# Name the inputs and outputs of the what-if's rules.
def whatif_tables(item, conclusions):
    """Return the files of one table of the what-if's runs, by conclusion."""
    return {study: f"results/whatif/runs/{study}_{item}.csv" for study in conclusions}


def whatif_outputs(conclusion, *more):
    """Return the names of the files of one conclusion's runs, by table."""
    items = ["cells", "curve", "crossovers", "checks", *more]
    return {f"{conclusion}_{i}": f"runs/{conclusion}_{i}" for i in items}
