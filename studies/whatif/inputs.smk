# Inputs and outputs of the rules of the study whatif.
def whatif_tables(item, conclusions):
    """Return the files of one table of the what-if's runs, by conclusion."""
    return {study: f"results/whatif/runs/{study}_{item}.csv" for study in conclusions}


def whatif_outputs(conclusion, *more):
    """Return the files of the tables of one conclusion's runs, by name."""
    items = ["cells", "curve", "crossovers", "checks", *more]
    return {
        f"{conclusion}_{item}": f"results/whatif/runs/{conclusion}_{item}.csv"
        for item in items
    }
