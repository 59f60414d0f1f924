# Define the inputs of the HAC study's rules.
from misspenalty_studies.hac.objects.traversals import BY_CALLS, STATIC

HAC = config["hac"]
HAC_TRAVERSALS = list(STATIC)
HAC_LAYOUTS = {str(i): sizes for i, sizes in enumerate(HAC["layouts"].values(), 1)}
HAC_CALIBRATED = str(1 + list(HAC["layouts"]).index(HAC["calibrated"]["layout"]))


wildcard_constraints:
    traversal="|".join(map(re.escape, HAC_TRAVERSALS)),
    layout="study|[0-9]+",


def hac_layout_sizes(wildcards):
    """Return the sizes of the study's database, or of one with another layout."""
    return HAC["database"] | (
        {} if wildcards.layout == "study" else HAC_LAYOUTS[wildcards.layout]
    )


def hac_layout_sweeps(axis, layouts):
    """Return the sweeps of the traversals on the databases with these layouts, one database after another."""
    return collect(
        f"results/hac/runs/layouts/{{layout}}/{axis}_{{traversal}}.parquet",
        layout=layouts,
        traversal=HAC_TRAVERSALS,
    )
