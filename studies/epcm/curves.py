"""Draw the EPCM study's figures over training, head start and the events known to perfect foresight; see `figures`."""

from itertools import cycle

import pandas as pd
from matplotlib.lines import Line2D

from misspenalty.plotting.parts import legend_above
from misspenalty.plotting.style import GREY, INK, PAGE, PUBLISHED, drawn_from, new_panels
from misspenalty_studies.epcm.figures import BENCHMARKS, KEYS, MODELS

STARTS = ("#004c8c", "#56b4e9", "#009e73", "#c98a00", "#e8702a", "#b0508f")  # colours by head start, used in turn
LINES = {16: ":", 32: "--", 64: "-"}  # line styles by partition size; others are solid
COLUMNS = {"io_reduction_pct": "I/O wait removed (%)", "read_latency_us": "Mean read call (µs)"}


@drawn_from(*KEYS, "training", "head_start_s", *COLUMNS)
def surface(table):
    """I/O wait removed and mean time of a read call in the last three recorded runs of the Andrew benchmark, by the
    number of training runs and the head start.

    The upper panels have two lines per predictor: a solid one for the shortest head start, 0 s in the study, and a
    dashed one for the longest. Perfect foresight knows the largest number of events in the table. The lower panels show
    EPCM by the number of training runs and the head start.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/surface.csv``.
    """
    told = table["model"] == "foresight"
    table = table[~told | (table["model_order"] == table.loc[told, "model_order"].max())]
    figure, (curves, grids) = new_panels(PAGE, 4.2, 2, 2)
    shown = [model for model in ("last_successor", "pcm", "epcm", "foresight") if model in set(table["model"])]
    starts = (table["head_start_s"].min(), table["head_start_s"].max())
    trainings = sorted(table["training"].unique())
    scales = ("Blues", "Blues_r")  # darker is better in both
    for axis, grid, (column, words), shades in zip(curves, grids, COLUMNS.items(), scales, strict=True):
        for model in shown:
            _, colour, _, marker = MODELS[model]
            for start, line in zip(starts, ("-", "--"), strict=True):
                mine = table[(table["model"] == model) & (table["head_start_s"] == start)].sort_values("training")
                place = [trainings.index(value) for value in mine["training"]]
                axis.plot(place, mine[column], color=colour, marker=marker, linestyle=line, markersize=3)
        axis.set_xticks(range(len(trainings)), trainings, fontsize=7)
        axis.set_xlabel("Training runs")
        axis.set_ylabel(words)
        cells = table[table["model"] == "epcm"].pivot_table(index="head_start_s", columns="training", values=column)
        image = grid.imshow(cells, origin="lower", aspect="auto", cmap=shades)
        grid.grid(False)
        grid.set_xticks(range(cells.shape[1]), cells.columns, fontsize=7)
        grid.set_yticks(range(cells.shape[0]), [f"{start:g}" for start in cells.index], fontsize=7)
        grid.set_xlabel("Training runs")
        grid.set_ylabel("Head start (s)")
        figure.colorbar(image, ax=grid).set_label(f"EPCM: {words}\n(darker is better)")
    marks = [Line2D([], [], color=MODELS[m][1], marker=MODELS[m][3], label=MODELS[m][0]) for m in shown]
    marks.append(Line2D([], [], color=INK, linestyle="--", label=f"{starts[1]:g} s of head start"))
    return legend_above(figure, marks)


@drawn_from(*KEYS, "training", *COLUMNS)
def learning(table):
    """I/O wait removed and mean time of a read call in each recorded run of the Andrew benchmark, by the number of runs
    that the models have learnt from before it.

    For EPCM, the setting of the largest order is shown for each partition size; for PCM, only that of the largest
    partition size.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/learning.csv``.
    """
    largest = table.groupby(["model", "partition_size"], dropna=False)["model_order"].transform("max")
    table = table[table["model_order"].isna() | (table["model_order"] == largest)]
    largest = table["partition_size"].max()
    table = table[(table["model"] != "pcm") | (table["partition_size"] == largest)]
    figure, axes = new_panels(PAGE, 2.3, 2)
    entries = {}
    for axis, (column, words) in zip(axes, COLUMNS.items(), strict=True):
        for (model, size), mine in table.groupby(["model", "partition_size"], sort=False, dropna=False):
            name, colour, _, _ = MODELS[model]
            order = mine["model_order"].iloc[0]
            label = name if pd.isna(size) else f"{name} {size:.0f}/{order:.0f}"
            (entries[label],) = axis.plot(
                mine["training"], mine[column], color=colour, linestyle=LINES.get(size, "-"), linewidth=1.0, label=label
            )
        axis.set_xlabel("Training runs")
        axis.set_ylabel(words)
        axis.set_ylim(bottom=min(0, axis.get_ylim()[0]))
        axis.axhline(0, color=INK, linewidth=0.6)
    return legend_above(figure, list(entries.values()))


@drawn_from(*KEYS, "head_start_s", "demand_first", "io_reduction_pct")
def limits(table, bars, reductions):
    """I/O wait removed with perfect foresight of the coming opens and execs, against the number of these that are
    known, for each head start, with the same engine and disk as for the predictors, in the last three recorded runs.

    Solid lines are for one queue for all requests, as in Linux 2.2, dotted lines for a queue that serves demand reads
    first. The dashed line shows the best EPCM of Figure 7, which is measured over 20 runs, or 5 on Glimpse and SSH. The
    dash-dotted line shows the paper's printed value for its best EPCM.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/limits.csv``.
    bars : DataFrame
        ``results/epcm/fig7.csv``.
    reductions : DataFrame
        ``studies/epcm/published/reductions.csv``.
    """
    names = [name for name in BENCHMARKS if name in set(table["benchmark"])]
    figure, axes = new_panels(PAGE, 2.2, len(names))
    starts = dict(zip(sorted(table["head_start_s"].unique()), cycle(STARTS), strict=False))
    told = sorted(table["model_order"].unique())
    epcm = bars[(bars["model"] == "epcm") & bars["buffer_copy"]].groupby("benchmark")["io_reduction_pct"].max()
    said = reductions[(reductions["model"] == "epcm") & (reductions["quantity"] == "io_reduction")]
    said = said.set_index("benchmark")["value"]
    for axis, name in zip(axes, names, strict=True):
        mine = table[table["benchmark"] == name]
        for (start, first), rows in mine.groupby(["head_start_s", "demand_first"]):
            line = rows.set_index("model_order")["io_reduction_pct"].reindex(told)
            look = {"linestyle": ":"} if first else {"marker": "o", "markersize": 2.5}
            axis.plot(range(len(told)), line, color=starts[start], linewidth=0.9, **look)
        axis.axhline(epcm.get(name), color=GREY, linestyle="--", linewidth=0.8)
        axis.axhline(said.get(name), color=PUBLISHED, linestyle="-.", linewidth=0.9)
        axis.axhline(0, color=INK, linewidth=0.6)
        axis.set_xticks(range(len(told)), [f"{number:.0f}" for number in told], fontsize=7, rotation=45)
        axis.set_title(BENCHMARKS[name], fontsize=7)
    figure.supxlabel("Opens and execs known in advance", fontsize=7)
    axes[0].set_ylabel("I/O wait removed (%)")
    marks = [
        Line2D([], [], color=colour, marker="o", markersize=2.5, label=f"clock started after {start:g} s")
        for start, colour in starts.items()
    ]
    marks.append(Line2D([], [], color=INK, linestyle=":", linewidth=0.9, label="demand first"))
    marks.append(Line2D([], [], color=GREY, linestyle="--", linewidth=0.8, label="best EPCM"))
    marks.append(Line2D([], [], color=PUBLISHED, linestyle="-.", linewidth=0.9, label="published EPCM"))
    return legend_above(figure, marks)
