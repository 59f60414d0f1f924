"""Test the benchmarks' own parts; what they measure is not tested here, as it depends on the machine."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty import Trace
from misspenalty.plotting import save_figure

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def part():
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path.remove(str(BENCHMARKS))


def test_generated_requests_are_repeatable_and_skewed(part):
    library = part("library")
    ids = np.concatenate(list(library.generated(2_500_000)))
    assert ids.size == 2_500_000 and ids.max() <= library.GIANT_BLOCKS
    assert np.array_equal(ids[:1000], next(library.generated(1000))[:1000])
    counts = np.bincount(ids)
    assert counts[0] / counts[9] == pytest.approx(np.log(2) / np.log(1.1), rel=0.1)  # log-uniform


def test_giant_run_reports_the_growth_of_cost(part, capsys):
    rows = pd.DataFrame(part("library").giant(["lru"], (20_000, 60_000)))
    growth = rows.set_index("measure")["value"]
    assert growth["lru, growth of the cost per request"] == pytest.approx(
        growth["lru, 60,000 requests"] / growth["lru, 20,000 requests"]
    )
    assert "ns/req" in capsys.readouterr().out


def test_memory_is_reported_for_every_policy(part):
    rows = list(part("library").memory(Trace.from_blocks(np.arange(5000))))
    assert all(row["value"] > 0 for row in rows)
    assert {row["measure"] for row in rows} >= {"lru, memory", "mq, memory"}


def test_oracle_general_file_is_read_back(part):
    from misspenalty import open_trace

    trace = Trace.from_blocks([5, 9, 5, 5, 9])
    with part("policies").oracle_general(trace.ids, trace.blocks) as path:
        again = open_trace(path)
    assert (again.format, again.ids.tolist()) == ("oracleGeneral", trace.ids.tolist())


def test_figure_of_speed_is_the_same_bytes_every_time(part, tmp_path):
    table = pd.DataFrame(
        {
            "workload": ["zipf", "zipf", "zipf", "oltp", "oltp"],
            "policy": ["limit", "lru", "mq", "limit", "lru"],
            "ratio": [None, 6.0, None, None, 9.0],
            "of_limit": [1, 0.3, 0.1, 1, 0.4],
        }
    )
    files = [save_figure(part("figure").speed(table), tmp_path / name, ["png"])[0].read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]


def test_the_limit_touches_one_node_per_request(part):
    trace = Trace.from_blocks([5, 9, 5, 5, 9])
    nodes, hit = np.zeros(2, np.uint32), np.empty(5, np.uint8)
    part("policies").touch(trace.ids, nodes, hit)
    assert (nodes.tolist(), hit.tolist()) == ([3, 2], [0, 0, 1, 1, 1])
    for short in ((nodes[:1], hit), (nodes, hit[:4])):
        with pytest.raises(IndexError):
            part("policies").touch(trace.ids, *short)


def test_every_measured_policy_has_a_share_of_the_limit(part, capsys):
    trace = Trace.from_blocks(np.arange(50_000) % 700)
    table = part("policies").measure(["lru", "mq"], trace.ids, trace.blocks, 70, 2, peers=False)
    assert table["policy"].tolist() == ["limit", "lru", "mq"]
    assert table["of_limit"].to_numpy() == pytest.approx(table["million_per_s"] / table["million_per_s"][0])
    assert "mq" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--traces", "tiny"], "unknown traces: tiny; there are mine"),
        (["--rates", "0.1;0.5"], "--rates 0.1;0.5: expected numbers with commas between them"),
        (["--rates", "2"], "sample is 2.0; expected a share"),
        (["--policies", "lruu"], "unknown policy 'lruu'"),
    ],
)
def test_samples_that_cannot_be_compared_are_refused(part, tmp_path, monkeypatch, capsys, given, message):
    sampling = part("sampling")
    (path := tmp_path / "mine.lis").write_text("1 1 0 0\n")
    monkeypatch.setattr(sampling, "FILES", {"mine": path})
    monkeypatch.setattr(sampling, "FORMATS", {"mine": "arc"})
    monkeypatch.setattr("sys.argv", ["sampling.py", *given])
    with pytest.raises(SystemExit) as refused:
        sampling.main()
    assert message in f"{refused.value} {capsys.readouterr().err}"


def test_samples_that_are_too_small_have_no_row(part, tmp_path, monkeypatch, capsys):
    sampling = part("sampling")
    (path := tmp_path / "mine.lis").write_text("".join(f"{block} 1 0 0\n" for block in [*range(2000)] * 2))
    monkeypatch.setattr(sampling, "FILES", {"mine": path})
    monkeypatch.setattr(sampling, "FORMATS", {"mine": "arc"})
    found = [(row["cache_blocks"], row["rate"]) for row in sampling.compare("mine", ["lru"], [0.01, 0.1])]
    assert found == [(200, 0.1)]
    assert capsys.readouterr().out.count("sample too small") == 3


def test_agreement_with_the_simulator_is_counted(part, shared_traces, monkeypatch, capsys):
    pytest.importorskip("libcachesim")
    agreement = part("agreement")
    monkeypatch.setattr(agreement, "TRACES", shared_traces)
    same = [policy for policy in agreement.PEERS if policy not in agreement.APART]
    table = pd.DataFrame(agreement.compare_with_simulator(["cpp", "loop"], [*same, "lirs"]))
    assert table[table["policy"] != "lirs"]["equal"].all()
    agreement.show_simulator(table)
    out = capsys.readouterr().out
    n = len(same) + len({*same, "lirs"} & set(agreement.RULES))  # these are compared under the program's rules as well
    assert f"equal: {13 * n} of {13 * n} counts of {n} policies" in out
    assert "lirs: " in out


def test_agreement_with_the_literature_is_scored(part, shared_traces, monkeypatch):
    agreement = part("agreement")
    monkeypatch.setattr(agreement, "TRACES", shared_traces)
    few = {policy: agreement.LITERATURE[policy] for policy in ("LRU", "ARC", "MIN")}
    monkeypatch.setattr(agreement, "LITERATURE", few)
    table = pd.concat(agreement.compare_with_literature(["gli", "loop"]), ignore_index=True)
    scored = table[table["scored"]]
    assert len(scored) > 90
    assert scored[~scored["within"]][["trace", "policy", "cache_blocks"]].to_numpy().tolist() == []


def test_readme_counts_what_the_tables_of_faults_and_of_the_fuzzer_hold():
    readme = (BENCHMARKS / "README.md").read_text()
    faults, fuzz = (pd.read_csv(BENCHMARKS / "measured" / f"{name}.csv") for name in ("mutants", "fuzz"))
    count = faults["verdict"].value_counts()
    tried = count["killed"] + count["survived"]
    assert (
        f"{tried} faults of random samples (seed 8; reporting: seed 1; the site's reading, and a few of replay,"
        " response times and reporting: seed 34; more of replay and response times: seed 36)"
        f" over {faults['source'].nunique()} sources" in readme
    )
    share = f"{count['killed']} were killed by the tests of the nearest folders ({count['killed'] / tried:.1%}"
    assert share.replace("%", " %") in readme and f"{count['survived']} survived" in readme
    common = {name: f"studies/common/{name}/" for name in ("reporting", "claims", "site")}
    killed = {}
    for name, folder in ({"latency": "latency/", "replay": "replay/"} | common).items():
        of = faults[faults["source"].str.startswith(folder) & (faults["verdict"] != "invalid")]["verdict"] == "killed"
        killed[name] = of.mean()
        assert f"{name} {of.sum()} of {len(of)} ({100 * of.mean():.1f} %)" in readme
    assert len(killed) == 5 and min(killed.values()) >= 0.95
    reasons = set(re.findall(r"`([\w.]+\.pyx?)`", readme.partition("## Faults that survive")[2]))
    assert reasons == {Path(source).name for source in faults[faults["verdict"] == "survived"]["source"]}
    millions = f"{fuzz['executions'].sum() / 1e6:.1f} million executions over {fuzz['target'].nunique()} targets"
    assert millions in readme and fuzz["failed"].sum() == 4 and "four failures" in readme


def test_readme_says_what_the_table_of_policies_on_oltp_holds():
    readme = (BENCHMARKS / "README.md").read_text()
    table = pd.read_csv(BENCHMARKS / "measured" / "policies-oltp.csv").set_index("policy")
    ratio, raw, passes = table["ratio"], table["ratio_from_file"], 1 / table["of_limit"].drop("limit")
    assert f"{ratio.min():.0f} to {ratio.max():.0f} times libCacheSim (median {ratio.median():.0f})" in readme
    assert f"{raw.min():.0f} to {raw.max():.0f} times from the raw file" in readme
    theirs = 1e3 / table["libcachesim_million_per_s"]
    assert f"opening it takes {(theirs / raw - theirs / ratio).median():.0f} ns per request" in readme
    assert f"one policy of {len(passes)} (MRU)" in readme and list(passes.index[passes < 2]) == ["mru"]
    assert f"LRU and ARC take {passes['lru']:.0f} to {passes['arc']:.0f} times as long" in readme


def test_readme_says_what_the_tables_of_long_traces_hold():
    readme = (BENCHMARKS / "README.md").read_text()
    table = pd.read_csv(BENCHMARKS / "measured" / "large.csv")
    cost = {step: [f"{ns:.0f}" for ns in part["ns_per_request"]] for step, part in table.groupby("step")}
    listed = {step: f"{', '.join(every[:-1])} and {every[-1]} ns" for step, every in cost.items()}
    assert f"compiling costs {listed['compile']} per request" in readme
    assert f"a replay of LRU {listed['replay lru']};" in readme
    gigabytes = 4096 * table["blocks"].max() / 1e9
    assert f"to {table['own_mb'].max():.0f} MB for a footprint of {gigabytes:.0f} GB" in readme


def test_readme_says_what_the_tables_of_cores_hold():
    readme = (BENCHMARKS / "README.md").read_text()
    table = pd.read_csv(BENCHMARKS / "measured" / "scaling.csv").set_index("cores")
    minutes, hours = table["wall_min"], table["core_hours"].iloc[0]
    assert f"{hours:.1f} core-hours; {minutes[1]:.0f} minutes on one core, {minutes[2]:.0f} on two" in readme
    assert (
        f"{minutes[16]:.1f} on 16, {minutes[64]:.1f} on 64, and {minutes[128]:.1f} on 128 or more" in readme
        and minutes.loc[128:].round(1).nunique() == 1
    )
    whole = pd.read_csv(BENCHMARKS / "measured" / "scaling_full.csv")["core_hours"].iloc[0]
    assert f"an eighth of the machine: {whole:.1f} core-hours" in readme
