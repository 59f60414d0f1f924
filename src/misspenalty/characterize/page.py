"""Describe one trace on one page: draw its figures, and make a PDF from them and the tables."""

import json
import shutil
from pathlib import Path

import pandas as pd

from misspenalty.characterize import figures
from misspenalty.characterize.rows import parse_load
from misspenalty.io.files import temporary_folder
from misspenalty.io.typesetting import compile_paper
from misspenalty.plotting import save_figure
from misspenalty.plotting.style import policy_name
from misspenalty.replay.profile import describe
from misspenalty.traces.reading import counted
from misspenalty.traces.trace import format_bytes

TEMPLATE = Path(__file__).with_name("page.typ")
OVERLOADED = 10  # an open loop overloads a device if queueing exceeds the sum of all other components by this factor
HEAD = ["Cache", "Footprint", "Most hits", "Hit ratio", "LRU", "OPT", "Gap closed", "Fastest", "Mean"]


def draw(folder, output):
    """Draw the figures of a trace into the folder of its tables, and typeset the page.

    Parameters
    ----------
    folder : path-like
        Folder of the tables; see `misspenalty.characterize.runs.TABLES`.
    output : path-like
        The PDF.
    """
    folder = Path(folder)
    facts = read_profile(folder / "profile.csv")
    names = ("over_time", "request_sizes", "runs", "reuse", "frequency", "curves", "penalty", "best")
    tables = {name: pd.read_csv(folder / f"{name}.csv") for name in names}
    objects = facts["object_bytes_max"] is not None
    drawn = {
        "profile": figures.profile(*(tables[name] for name in names[:5]), facts["block_bytes"], objects),
        "curves": figures.curves(tables["curves"]),
        "penalty": figures.penalty(tables["penalty"]),
    }
    for name, figure in drawn.items():
        save_figure(figure, folder / name)
    with temporary_folder() as place:
        for name in drawn:
            shutil.copy(folder / f"{name}.svg", place)
        shutil.copy(TEMPLATE, place)
        content = contents(facts, tables["best"], tables["penalty"])
        (Path(place) / "page.json").write_text(json.dumps(content), encoding="utf-8")
        compile_paper(Path(place) / TEMPLATE.name, place, output)


def read_profile(path):
    """Read a trace's profile from its table, and return it in the form of `misspenalty.replay.profile.profile`."""
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    return {what: _value(what, value) for what, value in zip(table["what"], table["value"], strict=True)}


def _value(what, value):
    if what in ("name", "format", "selection", "device", "load"):
        return value
    return None if value in ("None", "") else float(value) if "." in value or "e" in value else int(value)


def contents(facts, best, times):
    """Return the page's contents except the figures: title, facts, the table of the best policies and a note."""
    shown = [line.split(None, 1) for line in describe(facts).replace("reuse distance", "distance").splitlines()[1:]]
    shown.append(["replayed", f"{facts['selection']}; warm-up of {counted(facts['warm_up'], 'references')}"])
    rows = [
        [
            format_bytes(row["cache_bytes"]),
            f"{row['cache_share']:.1%}",
            "" if pd.isna(row["hit_ratio"]) else _best(row),
            *(_cell(row[name], "{:.2%}".format) for name in ("hit_ratio", "lru", "opt")),
            _cell(row["of_gap"], "{:.0%}".format),
            _cell(row["fastest"], policy_name),
            _cell(row["mean_us"], format_us),
        ]
        for _, row in best.iterrows()
    ]
    note = (
        f"Response times on the device {facts['device']}; {arrival(facts['load'], times['load'].iloc[0])}."
        " Gap closed: the share of the gap from LRU to OPT. (+n): n further policies have as many hits."
    )
    in_bytes = best["cache_blocks"].isna().all()
    if in_bytes:
        note += " Cache sizes are in bytes, hit ratios are of requests. OPT: a bound that no cache can exceed."
    if best["hit_ratio"].isna().all():
        note += " No policy has hits, as all references after the warm-up are writes, and only reads are counted."
    if times["layout"].iloc[0] == "packed":
        why = "each with room for its largest size" if in_bytes else "as their addresses lie beyond its end"
        note += f" {'Objects' if in_bytes else 'Blocks'} are packed on the drive in order of address, {why}."
    queued = times["queue_us"] > OVERLOADED * (times["mean_us"] - times["queue_us"])
    if (queued & (times["load"] == "open")).any():  # in a closed loop, many clients always queue
        note += (
            " The device is overloaded: most of the time is spent in its queue. Choose a faster one or a lower speed."
        )
    return {
        "title": facts["name"],
        "subtitle": f"format {facts['format']}",
        "facts": shown,
        "best": {"head": HEAD, "rows": rows},
        "note": note,
    }


def _best(row):
    """Return the name of the policy with the most hits, and the number of other policies that tie with it."""
    return policy_name(row["policy"]) + (f" (+{row['ties']})" if row["ties"] else "")


def _cell(value, text):
    """Return ``text(value)``, or an empty string if the value is missing."""
    return "" if pd.isna(value) else text(value)


def arrival(load, loop):
    """Return how requests arrive, in words, given the row's cell for the load and the simulated loop (open or closed).

    Examples
    --------
    >>> arrival("as traced", "open"), arrival("as traced", "closed")
    ('requests arrive at their own times', 'one client waits for each answer, as the trace has no times')
    >>> arrival("clients=4", "closed")
    '4 clients wait for their answers'
    """
    ((name, value),) = parse_load("" if load == "as traced" else load).items() or [(loop, None)]
    return {
        "open": "requests arrive at their own times",
        "closed": "one client waits for each answer, as the trace has no times",
        "clients": "one client waits for each answer" if value == 1 else f"{value} clients wait for their answers",
        "interval": f"one request arrives every {value}",
        "speed": f"requests arrive at {value} times the speed of the trace",
    }[name]


def format_us(us):
    """Return a time as text, with at most three significant digits.

    Examples
    --------
    >>> format_us(1234.5), format_us(12), format_us(999.9), format_us(2.5e6)
    ('1.23 ms', '12 µs', '1 ms', '2.5 s')
    """
    us = float(f"{us:.3g}")
    scale, unit = next((s, u) for s, u in ((1e6, "s"), (1e3, "ms"), (1, "µs")) if us >= s or s == 1)
    return f"{us / scale:.3g} {unit}"
