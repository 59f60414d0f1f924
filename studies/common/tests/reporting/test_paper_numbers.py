"""Compute three numbers in the text of each section of paper and supplement again from the archived tables."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typst

ROOT = Path(__file__).parents[4]


def table(name, **keys):
    """Return the rows of ``results/<name>.csv`` with some values."""
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


def costs():
    jobs = pd.read_csv(ROOT / "benchmarks/measured/jobs.csv")
    missing = table("missing_facts")
    papers = ["mq", "sarc", "hac", "epcm", "vlog"]
    claims = table("claims", role="claim")
    lost = claims[claims["study"].isin(papers) & claims["verdict"].isin(["direction", "not_reproduced"])]
    unexplained = missing[missing["study"].isin(papers) & missing["kind"].isna()]["alone"].sum()
    return [
        f"takes {jobs['cpu_s'].sum() / 60:.0f} minutes of processor time",
        f"Of the {len(lost)} claims of the five papers that do not come out",
        f"and {unexplained} under none of those tried",
    ]


SECTIONS = (mq, sarc, hac, epcm, vlog, classics, delayed_hits, kvcache, dispute, whatif)


@pytest.fixture(scope="module", params=["paper", "supplement"])
def document(request):
    """Return a document's name and its words, from Typst's own HTML export of the archived results."""
    source = str(ROOT / "paper" / f"{request.param}.typ")
    html = typst.compile(source, root=str(ROOT), format="html", ignore_system_fonts=True)
    return request.param, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.decode())).replace(" ,", ",")


def test_three_numbers_of_every_section_are_those_of_the_tables(document):
    name, text = document
    if name == "supplement":
        wanted = {section.__name__: section() for section in SECTIONS}
    else:
        wanted = {
            s: [judged(s, form) for form in ("number", "comparison")] for s in ("mq", "sarc", "hac", "epcm", "vlog")
        }
        wanted |= {"whatif": whatif(), "costs": costs()}
    missing = {
        name: absent for name, found in wanted.items() if (absent := [part for part in found if part not in text])
    }
    assert not missing
    assert sum(map(len, wanted.values())) >= 16
