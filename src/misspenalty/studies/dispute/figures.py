"""Figures of the dispute study: tidy tables in, a figure out."""

from misspenalty.plotting.style import GREY, INK, PAGE, need, new_figure, policy_name, styled
from misspenalty.studies.dispute.published import FIGURE_6

SIZES = {0.1: "10 % of the objects", 0.001: "0.1 % of the objects"}


@styled
def means(table):
    """Mean reduction of the miss ratio from FIFO over the traces of the authors' selection.

    Thick lines are 95 % intervals with traces drawn, thin lines with whole data sets drawn.

    Parameters
    ----------
    table : DataFrame
        ``selection, size_ratio, policy, mean, low, high, low_datasets, high_datasets``; see
        `misspenalty.studies.dispute.published.reductions`.
    """
    columns = ["selection", "size_ratio", "policy", "mean", "low", "high", "low_datasets", "high_datasets"]
    need(table, columns, "means")
    figure = new_figure(PAGE, 3.0)
    axes = figure.subplots(1, len(SIZES), sharey=True)
    places = range(len(FIGURE_6))
    for axis, (size, title) in zip(axes, SIZES.items(), strict=True):
        own = table[(table["selection"] == "authors") & (table["size_ratio"] == size)]
        rows = own.set_index("policy").loc[list(FIGURE_6)]
        axis.hlines(places, rows["low_datasets"], rows["high_datasets"], color=GREY, linewidth=0.8)
        axis.hlines(places, rows["low"], rows["high"], color=INK, linewidth=2.5)
        axis.plot(rows["mean"], places, "o", color=INK, markersize=3)
        axis.axvline(0, color=GREY, linewidth=0.7)
        axis.set(xlabel="Lower miss ratio than FIFO (%)", title=title)
    axes[0].set_yticks(places, [policy_name(name) for name in FIGURE_6])
    axes[0].invert_yaxis()
    return figure
