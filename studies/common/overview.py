"""Draw the picture at the head of the README: published values, our results, and how the claims were judged."""

import matplotlib
import pandas as pd
from matplotlib.patches import Patch

from misspenalty.plotting.parts import pair_legend, pairs, stack
from misspenalty.plotting.style import GREY, need, new_figure, styled
from misspenalty_studies.common.claims.summary import FORMS, claims_of
from misspenalty_studies.common.study import studies
from misspenalty_studies.mq.figures import capture_name
from misspenalty_studies.mq.published import printed_hit_ratios, published_rates

WIDTH = 8.0  # inches: 800 pixels at half of OVERVIEW_DPI
OVERVIEW_DPI = 200

VERDICTS = {  # looks of the categories, which differ in hatching as well as in colour
    "free": {"facecolor": "#004c8c", "edgecolor": "white"},
    "calibrated": {"facecolor": "#3f7fb5", "edgecolor": "white", "hatch": "\\\\\\\\"},
    "fitted": {"facecolor": "#8fb8d9", "edgecolor": "#004c8c", "hatch": "xxxx"},
    "tie": {"facecolor": "#d9d9d9", "edgecolor": "#5a5a5a", "hatch": "...."},
    "direction": {"facecolor": "#fbe0c0", "edgecolor": "#b35806", "hatch": "----"},
    "not_reproduced": {"facecolor": "#e08214", "edgecolor": "#7f3b08", "hatch": "////"},
    "not_testable": {"facecolor": "white", "edgecolor": GREY},
}
WORDS = {
    "free": "reproduced: free",
    "direction": "right direction",
    "not_reproduced": "not reproduced",
    "not_testable": "not testable",
}

_LARGER = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


@styled
def overview(table4, printed4, fig7, printed7, claims, fitted=()):
    """Table 4 and Figure 7 of the MQ paper next to our results, and the verdicts on every claim.

    The claims are the statements of the papers; printed numbers and printed comparisons are shown apart, and
    reproduced claims are divided by basis. The right-hand column says where a study's traces come from.

    Save it with ``dpi=OVERVIEW_DPI``.

    Parameters
    ----------
    table4, fig7 : dict of str to DataFrame
        Capture -> table of that name; of `fig7`, only the first capture is shown.
    printed4, printed7 : DataFrame
        ``studies/mq/published/table4.csv`` and ``fig7.csv``.
    claims : dict of str to DataFrame
        Capture -> table of verdicts. From the first table, every study with a tested claim is shown; from the others,
        only `mq` is.
    fitted : iterable of (cache_mb, policy)
        Bars of `fig7` that a parameter was fitted to.
    """
    with matplotlib.rc_context(_LARGER):
        counts, traces = _verdict_rows(claims)
        strip = 0.75 + 0.24 * len(traces)  # inches
        figure = new_figure(WIDTH, 2.9 + strip)
        above, below = figure.subfigures(2, 1, height_ratios=[2.9, strip])
        published = printed_hit_ratios(printed4)
        first, rates = next(iter(fig7.items()))
        panels = [(name, table, published, "hit_ratio_pct", "{:.1f}") for name, table in table4.items()]
        panels.append((first, rates, published_rates(printed7), "normalized_rate", "{:.2f}"))
        axes = above.subplots(1, len(panels))
        for axis, (name, table, said, column, form) in zip(axes, panels, strict=True):
            need(table, ["cache_mb", "policy", column], name)
            pairs(axis, table, said, column, form, fitted if axis is axes[-1] else ())
            title = "TPC-C rate" if axis is axes[-1] else "Hit ratio (%)"
            axis.set(xlabel="Storage cache (MB)", title=f"{title} {capture_name(name)}")
        for axis in axes[:-1]:
            axis.set_ylim(0, max(other.get_ylim()[1] for other in axes[:-1]))
        above.legend(
            handles=pair_legend(rates["policy"], published_rates(printed7)), loc="outside upper center", ncols=4
        )
        _verdicts(below, counts, traces)
    return figure


def _verdict_rows(claims):
    """Return the counts of verdicts by form, and the sources of the traces; both have a row per study with a tested
    claim, and one per further capture of MQ."""
    first, table = next(iter(claims.items()))
    rows = {}
    for study, rest in claims_of(table).groupby("study", sort=False):
        if (rest["verdict"] != "not_testable").any():
            name = _about(study, "short_title", study)
            rows[f"{name} {capture_name(first)}" if study == "mq" else name] = rest
            for other, each in claims.items():
                if study == "mq" and other != first:
                    rows[f"{name} {capture_name(other)}"] = claims_of(each)[claims_of(each)["study"] == study]
    counts = {}
    for form in FORMS:
        found = {label: _kinds(rest[rest["form"] == form]).value_counts() for label, rest in rows.items()}
        counts[form] = pd.DataFrame(found).reindex(VERDICTS).fillna(0).astype(int).T
    return counts, [_about(rest["study"].iloc[0], "traces", "") for rest in rows.values()]


def _about(study, key, default):
    """Return a study's declared value for `key`; the default if there is no such study."""
    return getattr(studies()[study], key) if study in studies() else default


def _kinds(claims):
    """Return the category in which each claim is counted: the basis of a reproduced claim, else the verdict."""
    return claims["verdict"].where(claims["verdict"] != "reproduced", claims["basis"])


def _verdicts(figure, counts, traces):
    axes = figure.subplots(1, len(counts), sharey=True)
    for axis, (form, table) in zip(axes, counts.items(), strict=True):
        shares = table.div(table.sum(axis=1).clip(lower=1), axis=0)
        stack(axis, shares, VERDICTS)
        for place, (label, row) in enumerate(shares.iterrows()):
            for verdict, end in row.cumsum().items():
                if row[verdict]:
                    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
                    text = str(table.loc[label, verdict])
                    axis.text(end - row[verdict] / 2, place, text, ha="center", va="center", fontsize=8, bbox=box)
        axis.set_title(f"Printed {form}s")
        axis.set_xlim(0, 1)
        axis.set_xticks([])
        axis.spines["bottom"].set_visible(False)
    for place, source in enumerate(traces):
        axes[-1].text(1.02, place, source, va="center", fontsize=8)
    axes[-1].text(1.02, -0.75, "traces", va="bottom", fontsize=8)
    looks = VERDICTS.items()
    handles = [Patch(label=WORDS.get(name, name), linewidth=0.4, **look) for name, look in looks]
    figure.legend(handles=handles, loc="outside lower center", ncols=7, columnspacing=0.9, handlelength=1.8, fontsize=8)
