"""Recompute at least three numbers in the text of each study, in the paper and the supplement, from archived tables."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typst

ROOT = Path(__file__).parents[4]


def table(name, **keys):
    """Return the rows of ``results/<name>.csv`` whose columns have the values in `keys`."""
    frame = pd.read_csv(ROOT / "results" / f"{name}.csv")
    for key, value in keys.items():
        frame = frame[frame[key] == value]
    assert len(frame)
    return frame


def one(name, column, **keys):
    (value,) = set(table(name, **keys)[column])
    return value


def whole(number):
    return f"{round(number):,}".replace(",", " ")


def judged(study, form):
    rows = table("claims", study=study, form=form, role="claim")
    tested = rows[rows["verdict"] != "not_testable"]
    return f"{(tested['verdict'] == 'reproduced').sum()} of {len(tested)} printed {form}s"


def mq():
    fit = table("mq/first_level_fit", chosen=True).iloc[0]
    tried = table("mq/first_level_claims", chosen=True).iloc[0]
    return [
        f"long enough that {fit.reads / 1e6:.1f} million reads",
        f"is closest: {fit.first_level_mb:.0f} MB, with {fit.short_share_pct:.1f} %",
        f"Of the {tried.judged} entries of the ledger that are decided by hit ratios alone, {tried.reproduced} are",
    ]


def sarc():
    detection = table("sarc/detection").drop_duplicates("threshold").sort_values("mean_error_pct").iloc[0]
    cells = table("sarc/table2").set_index(["config", "scaled_iops", "policy"])[["read_ms", "write_ms"]].unstack()
    ahead = [
        cells[side, "sarc"] <= cells[side][["lru_top", "lru_bottom"]].min(axis=1) for side in ("read_ms", "write_ms")
    ]
    return [
        f"groups of {one('sarc/fit', 'value', parameter='degree'):.0f} tracks",
        f"is smallest, {detection.mean_error_pct:.1f} %, at {detection.threshold} tracks",
        f"LRU variant in {np.sum(ahead)} of the {np.size(ahead)} cells",
    ]


def hac():
    hot = {
        system: one("hac/elapsed", "elapsed_s", traversal="T1", run="hot", system=system) for system in ("hac", "fpc")
    }
    updates = table("hac/updates", traversal="T2b").iloc[0]
    return [
        f"installing an object takes {one('hac/fit', 'value'):.0f} instructions",
        f"A hot T1 takes {hot['hac']:.1f} s with HAC",
        f"changes {whole(updates.modified_objects)} of {whole(updates.read_objects)} objects",
    ]


def epcm():
    facts = table("epcm/workloads", benchmark="andrew").set_index("quantity")
    times = {name: table("epcm/workloads", benchmark=name, quantity="reads").iloc[0] for name in ("glimpse", "ssh")}
    glimpse, ssh = (row.value / row.published for row in times.values())
    return [
        f"{facts.value['execs']:.0f} execs",
        f"{facts.value['compute_scale']:.2f} for Andrew",
        f"{glimpse:.1f} (glimpse) and {ssh:.1f} (ssh) times the paper’s",
    ]


def vlog():
    newest = table("vlog/fig9", platform="ultra170_seagate").set_index(["system", "component"])["ms"]
    old, new = (newest[system] for system in ("update_in_place", "virtual_log"))
    other = table("vlog/fig9", platform="sparc10_seagate", system="virtual_log").set_index("component")["ms"]
    return [
        f"locating takes {100 * old['locate'] / old['total']:.0f} % of an update in place",
        f"from {old['locate']:.2f} to {new['locate']:.2f} ms",
        f"the host takes {100 * other['other'] / other['total']:.0f} % of a virtual-log write",
    ]


def classics():
    program = table("classics/program", policy="lru", reading="own")
    split = table("classics/hit_ratios", trace="P6", policy="frc")["hit_ratio_pct"].max()
    fixed = table("classics/comparison", trace="OLTP", source="ARC Table 1")
    fixed = fixed[fixed["policy"].isin(["lru", "opt", "arc"])]["difference_points"].abs().max()
    return [
        f"on OLTP is {fixed:.2f} points for LRU, MIN and ARC",
        f"at {(program['difference'] == 0).sum()} of {len(program)} sizes",
        f"hit {split:.2f} % of the references",
    ]


def delayed_hits():
    shares = table("delayed_hits/disagreement").set_index(["grouped_by", "group"])
    every = shares.loc["all", "all"]
    return [
        f"In {every.mean_differs_pct:.0f} % of {every.comparisons:.0f} combinations",
        f"in {every.p99_differs_pct:.0f} % it is not",
        f"the share is {shares.mean_differs_pct['device', '50ms']:.0f} % with fetches of 50 ms",
    ]


def kvcache():
    trace = table("kvcache/table2", workload="conversation").iloc[0]
    most = table("kvcache/hits", workload="conversation", policy="lru", part="all").sort_values("cache_tokens").iloc[-1]
    return [
        f"{whole(trace.requests)} requests with {whole(trace.references)} references",
        f"With unlimited capacity, {most.possible_pct:.1f} % of the input tokens",
        f"mean over requests of that share is {most.possible_request_pct:.1f} %",
    ]


def dispute():
    means = table("dispute/reductions", selection="authors", size_ratio=0.1).set_index("policy")
    rules = table("dispute/selection", size_ratio=0.1)
    return [
        f"the mean reduction is {means['mean']['s3fifo']:.1f} %",
        f"misses more often than FIFO on {means['worse_than_fifo_pct']['wtinylfu']:.1f} %",
        f"Of the {whole(rules['traces'].iloc[0])} traces with results",
    ]


def whatif():
    later = table("whatif/parameters")
    later = later[later["belongs_to"].str.contains("2015|2025")]
    checks = table("whatif/checks", conclusion="mq")
    off = checks[checks["quantity"].str.contains("MQ over LRU")]["off_pct"].abs().max()
    epcm = one("whatif/crossovers", "device_us", conclusion="epcm", threshold="gain of 1 %", year=1997, case="andrew")
    return [
        f"{(later['status'] == 'assumed').sum()} of the {len(later)} for 2015 and 2025 are assumed",
        f"is off by at most {off:.1f} %",
        f"from {epcm:.0f} µs per request in 1997",
    ]


def times_of_sarc():
    """Return SARC's mean response time at the highest load of each configuration, divided by the better LRU variant's
    mean response time."""
    cells = table("sarc/table2")
    mean = (0.4 * cells["read_ms"] + 0.6 * cells["write_ms"]).set_axis(
        pd.MultiIndex.from_frame(cells[["config", "scaled_iops", "policy"]])
    )
    found = []
    for config in ("cache_sensitive", "cache_insensitive"):
        peak = mean[config].unstack().sort_index().iloc[-1]
        found.append(peak["sarc"] / min(peak["lru_top"], peak["lru_bottom"]))
    return found


def in_paper_lost():
    """Return the phrases, with the tables' numbers, that our paper must contain about each paper whose traces are
    lost."""
    lead = table("mq/table4").pivot(index="cache_mb", columns="policy", values="hit_ratio_pct")
    lead = (lead["mq"] - lead["lru"]).sort_index()
    gains = table("mq/bounds").set_index("cache_mb")["rate_gain_pct"].sort_index()
    internals = table("sarc/internals", config="cache_insensitive", policy="sarc").sort_values("scaled_iops").iloc[-1]
    ratios = times_of_sarc()
    hac_times = pd.read_csv(ROOT / "studies/hac/published/hit_time.csv").set_index(["traversal", "line"])["seconds"]
    read = table("hac/hit_time", line="exception").set_index("traversal")["accesses"]
    per_object = {name: 1e6 * hac_times[name, "exception"] / read[name] for name in ("T1", "T6")}
    best = table("epcm/fig7", benchmark="andrew", buffer_copy=True).groupby("model")["io_reduction_pct"].max()
    limits = table("epcm/limits", model="foresight")
    ahead = limits[(limits["benchmark"] == "andrew") & (limits["head_start_s"] == 0)].groupby("demand_first")
    newest = table("vlog/table2", platform="ultra170_seagate").iloc[0]
    locate = table("vlog/fig9", platform="ultra170_seagate", component="locate").set_index("system")["ms"]
    return {
        "mq": [
            f"by {lead.iloc[0]:.1f}, {lead.iloc[1]:.1f} and {lead.iloc[2]:.1f} points",
            f"are {gains.iloc[0]:.1f} %, {gains.iloc[1]:.1f} % and {gains.iloc[2]:.1f} %",
        ],
        "sarc": [
            f"{ratios[0]:.2f} times that of the better LRU variant",
            f"{ratios[1]:.2f} times (printed",
            f"{internals.demand_reads_per_request:.2f} are demand reads",
        ],
        "hac": [f"takes {per_object['T1']:.2f} µs per object in T1 and {per_object['T6']:.2f} µs in T6"],
        "epcm": [
            f"removes {best['epcm']:.0f} % of the wait for I/O, PCM {best['pcm']:.0f} % and last successor",
            f"at most {ahead['io_reduction_pct'].max()[False]:.0f} % of the wait on our recording",
            f"at most {limits.loc[limits['benchmark'] == 'ssh', 'io_reduction_pct'].max():.0f} % of the wait. The link",
        ],
        "vlog": [
            f"from {locate['update_in_place']:.2f} to {locate['virtual_log']:.2f} ms",
            f"{newest.speedup:.1f} times instead of almost ten",
        ],
    }


def in_paper_surviving():
    """Return the phrases, with the tables' numbers, that our paper must contain about each study of papers whose traces
    or results survive."""
    program = table("classics/program")
    equal = [
        program[(program["policy"] == p) & (program["reading"] == r)] for p, r in (("lru", "own"), ("lirs", "program"))
    ]
    printed = table("classics/comparison", source="ARC Table 1").set_index("policy")["difference_points"].abs()
    shares = table("delayed_hits/disagreement").set_index(["grouped_by", "group"])
    every = shares.loc["all", "all"]
    second = table("kvcache/second_level", part="all")
    behind = second[(second["first_tokens"] == 5120000) & (second["second_tokens"] == 5120000)]
    behind = behind.set_index("policy")["block_hit_pct"]
    forecasts = table("forecasts", study="kvcache")
    selection = table("dispute/selection", size_ratio=0.1)["traces"]
    mean = table("dispute/reductions", selection="authors", size_ratio=0.1, policy="s3fifo")["mean"].item()
    return {
        "classics": [
            f"is {printed[['lru', 'opt', 'arc']].max():.2f} points of hit ratio for LRU, MIN and ARC",
            f"{printed[['2q', 'lru2', 'lrfu']].max():.2f} points for the policies that were tuned",
            *(f"at {(rows['difference'] == 0).sum()} of {len(rows)}" for rows in equal),
        ],
        "delayed_hits": [
            f"In {every.mean_differs_pct:.0f} % of {every.comparisons:.0f} combinations",
            f"{every.p99_differs_pct:.0f} % the lowest 99th percentile",
            f"with fetches of 50 ms the former share is {shares.mean_differs_pct['device', '50ms']:.0f} %",
        ],
        "kvcache": [
            f"the second level hits {behind['lru']:.1f} % under LRU, {behind['arc']:.1f} % under ARC",
            f"while OPT hits {behind['opt']:.1f} %",
            f"Of {len(forecasts)} forecasts",
            f"{(forecasts['verdict'] == 'reproduced').sum()} hold on the second half",
        ],
        "dispute": [
            f"which keep {whole(selection.iloc[-1])} of {whole(selection.iloc[0])} traces",
            f"mean reduction is the highest of the policies that the paper draws, {mean:.1f} %",
        ],
    }


def costs():
    jobs = pd.read_csv(ROOT / "benchmarks/measured/jobs.csv")
    missing = table("missing_facts")
    papers = ["mq", "sarc", "hac", "epcm", "vlog"]
    claims = table("claims", role="claim")
    lost = claims[claims["study"].isin(papers) & claims["verdict"].isin(["direction", "not_reproduced"])]
    unexplained = missing[missing["study"].isin(papers) & missing["kind"].isna()]["alone"].sum()
    return [
        f"takes {jobs['cpu_s'].sum() / 60:.0f} minutes of processor time",
        f"Of the {len(lost)} claims of the five papers that are not reproduced",
        f"and {unexplained} under no such",
    ]


SECTIONS = (mq, sarc, hac, epcm, vlog, classics, delayed_hits, kvcache, dispute, whatif)


@pytest.fixture(scope="module", params=["paper", "supplement"])
def document(request):
    """Return a document's name and its text, from Typst's own HTML export with the archived results."""
    source = str(ROOT / "paper" / f"{request.param}.typ")
    html = typst.compile(source, root=str(ROOT), format="html", ignore_system_fonts=True)
    return request.param, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.decode())).replace(" ,", ",")


def test_three_numbers_of_every_section_are_those_of_the_tables(document):
    name, text = document
    if name == "supplement":
        wanted = {section.__name__: section() for section in SECTIONS}
    else:
        wanted = in_paper_lost() | in_paper_surviving()
        wanted = {s: [*(judged(s, form) for form in ("number", "comparison")), *found] for s, found in wanted.items()}
        assert min(map(len, wanted.values())) >= 3
        wanted |= {"whatif": whatif(), "costs": costs()}
    missing = {
        name: absent for name, found in wanted.items() if (absent := [part for part in found if part not in text])
    }
    assert not missing
    assert sum(map(len, wanted.values())) >= 30
