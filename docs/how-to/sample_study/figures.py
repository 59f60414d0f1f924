"""Draw the figure of the sample study."""

from misspenalty.plotting.style import new_figure, styled


@styled
def anomaly(table):
    """Faults by number of frames."""
    figure = new_figure(3, 2)
    axes = figure.subplots()
    for policy, rows in table.groupby("policy"):
        axes.plot(rows["frames"], rows["faults"], marker="o", label=policy)
    axes.set(xlabel="frames", ylabel="faults")
    axes.legend()
    return figure
