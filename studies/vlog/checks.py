"""Compare what the virtual-log paper's text says about figures other than Figure 9 with our tables.

The statements are those without an entry in the ledger (sections 2, 5.1 to 5.3 and 5.5). We take the text's "slightly"
to mean by less than `SLIGHTLY`, "close" to mean within `CLOSE`, and "much" to mean by a factor of at least `MUCH`.
"""

import pandas as pd

SLIGHTLY, CLOSE, MUCH = 0.25, 0.10, 1.5


def checks(fig1, fig2, fig6, fig7, fig8, bursts):
    """Compare the text's statements with our results, one row per statement and drive or platform.

    Parameters
    ----------
    fig1, fig2, fig6, fig7, fig8, bursts : DataFrame
        From `misspenalty_studies.vlog.locate` and `file_system_runs`; `bursts` has the rows of both file systems.

    Returns
    -------
    DataFrame
        ``figure, where, statement, obtained, holds``.
    """
    rows = [
        *_fig1(fig1),
        *_fig2(fig2),
        *_by_platform(fig6, _fig6),
        *_by_platform(fig7, _fig7),
        *_by_platform(fig8, _fig8),
        *_by_platform(bursts, _bursts),
    ]
    return pd.DataFrame(rows, columns=["figure", "where", "statement", "obtained", "holds"])


def _fig1(table):
    for drive, part in table.groupby("drive", sort=False):
        apart = (part["cylinder_model_us"] / part["simulated_us"] - 1).abs().max()
        yield (
            "Figure 1", drive, "the cylinder model is close to a simulation of the whole zone",
            f"at most {100 * apart:.1f} % apart", apart <= CLOSE,
        )  # fmt: skip
        apart = (part["track_model_us"] / part["simulated_us"] - 1).max()
        yield (
            "Figure 1", drive, "on a full disk, switching heads beats the single-track model",
            f"the single-track model up to {100 * apart:.0f} % above the simulation", apart > 0,
        )  # fmt: skip


def _fig2(table):
    for drive, part in table.groupby("drive", sort=False):
        cost = part["simulated_us"].to_numpy()
        best = int(cost.argmin())
        yield (
            "Figure 2", drive, "there is a best threshold between switching at once and filling up",
            f"{cost[best]:.0f} us at {part['reserve_pct'].iloc[best]:.0f} % left free; at the ends {cost[0]:.0f} and "
            f"{cost[-1]:.0f} us", 0 < best < len(cost) - 1,
        )  # fmt: skip
        low = part.iloc[0]
        yield (
            "Figure 2", drive, "filling a track costs more than random free sectors would",
            f"filled up: {low['simulated_us']:.0f} us, random: {low['random_model_us']:.0f} us",
            low["simulated_us"] > low["random_model_us"],
        )  # fmt: skip


def _by_platform(table, statements):
    for platform, part in table.groupby("platform", sort=False):
        for figure, statement, obtained, holds in statements(part):
            yield figure, platform, statement, obtained, holds


def _fig6(part):
    rate = part.set_index(["file_system", "disk", "phase"])["files_per_s"]
    for phase in ("create", "delete"):
        gain = rate["ufs", "vld", phase] / rate["ufs", "regular", phase]
        yield "Figure 6", f"UFS {phase}s files faster on the VLD", f"{gain:.2f} times", gain > 1
    gain = rate["ufs", "vld", "read"] / rate["ufs", "regular", "read"]
    yield "Figure 6", "UFS reads slightly slower on the VLD", f"{gain:.2f} times", 1 - SLIGHTLY < gain < 1
    gain = rate["lfs", "vld", "create"] / rate["lfs", "regular", "create"]
    yield "Figure 6", "LFS writes slightly faster on the VLD", f"{gain:.3f} times", 1 < gain < 1 + SLIGHTLY


def _fig7(part):
    rate = part.set_index(["file_system", "disk", "phase"])["mb_per_s"]
    for system in (("ufs", "vld"), ("lfs", "regular"), ("lfs", "vld")):
        loss = rate[(*system, "sequential_read")] / rate[(*system, "sequential_read_again")]
        name = f"{system[0].upper()} on the {'VLD' if system[1] == 'vld' else 'regular disk'}"
        yield (
            "Figure 7", f"after random writes {name} reads in order poorly", f"{loss:.1f} times slower than before",
            loss >= MUCH,
        )  # fmt: skip
    gain = rate["ufs", "regular", "sequential_read"] / rate["ufs", "regular", "sequential_write"]
    yield (
        "Figure 7",
        "UFS on the regular disk reads in order much faster than it writes",
        f"{gain:.2f} times",
        gain >= MUCH,
    )


def _fig8(part):
    in_place = part[(part["file_system"] == "ufs") & (part["disk"] == "regular")].sort_values("utilisation_pct")
    rise = in_place["latency_ms"].iloc[-1] / in_place["latency_ms"].iloc[0] - 1
    yield (
        "Figure 8", "UFS in place slows slightly as the file grows", f"{100 * rise:+.1f} % over the range",
        0 < rise < SLIGHTLY,
    )  # fmt: skip


def _bursts(part):
    for system, figure, statement in (
        ("ufs", "Figure 11", "short pauses are enough for the virtual log"),
        ("lfs", "Figure 10", "LFS needs long pauses"),
    ):
        mine = part[part["file_system"] == system]
        pause = {size: _half_gain(curve) for size, curve in mine.groupby("burst_kb")}
        other = part[part["file_system"] != system]
        rest = {size: _half_gain(curve) for size, curve in other.groupby("burst_kb")}
        shared = [size for size in pause if size in rest]
        if not shared:
            continue
        shorter = sum(pause[size] <= rest[size] for size in shared)
        longer = sum(pause[size] >= rest[size] for size in shared)
        named = ", ".join(f"{size:g} KB: {pause[size]:g} ms" for size in sorted(shared))
        holds = shorter if system == "ufs" else longer
        yield figure, statement, f"half of what pauses can gain needs at most: {named}", holds > len(shared) / 2


def _half_gain(curve):
    """Return the shortest pause, in ms, with at least half of the largest gain over no pause, or the longest pause if
    no pause gains."""
    curve = curve.sort_values("idle_ms")
    latency, idle = curve["latency_ms"].to_numpy(), curve["idle_ms"].to_numpy()
    goal = (latency[0] + latency.min()) / 2
    reached = idle[(latency <= goal) & (latency < latency[0])]
    return float(reached[0]) if len(reached) else float(idle[-1])
