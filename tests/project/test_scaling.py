"""Test parts of `make scaling` and `make slurm-test`; the runs themselves would take too long."""

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from small import small_tree

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "workflow" / "profiles" / "slurm"


@pytest.fixture(scope="module")
def scaling():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import scaling

    yield scaling
    sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def jobs(scaling, tmp_path_factory):
    """Return the plan of the small run."""
    return scaling.plan(small_tree(tmp_path_factory.mktemp("tree")))


def grouped(job):
    """Return the group of a job in the SLURM profile, or None."""
    groups = dict(entry.split("=") for entry in yaml.safe_load((PROFILE / "config.yaml").read_text())["groups"])
    return groups.get(job.rule)


def test_groups_of_the_profile_are_rules_and_no_group_waits_for_itself(jobs):
    profile = yaml.safe_load((PROFILE / "config.yaml").read_text())
    named = {entry.split("=")[0] for entry in profile["groups"]} | set(profile.get("set-resources", {}))
    assert named <= {job.rule for job in jobs} | {"paper"}
    assert {job.rule for job in jobs if job.rule.endswith(("_tables", "_figures"))} <= named
    node = {number: grouped(job) or number for number, job in enumerate(jobs)}
    before = {name: set() for name in node.values()}
    for number, job in enumerate(jobs):
        before[node[number]] |= {node[after] for after in job.after} - {node[number]}
    while free := [name for name, waits in before.items() if not waits]:
        for name in free:
            del before[name]
        for waits in before.values():
            waits.difference_update(free)
    assert not before, f"groups that wait for each other: {before}"


def test_the_plan_is_the_whole_graph(jobs):
    (last,) = (job for job in jobs if job.rule == "manifest")
    assert len(jobs) > 80 and last.benchmark is None
    assert {jobs[number].rule for number in last.after} >= {"claims", "paper", "overview"}
    assert next(job for job in jobs if job.rule == "mq_fig7").threads == 2
    assert next(job for job in jobs if job.rule == "mq_replay").threads == 16  # even if this machine has fewer cores


def test_every_schedule_keeps_the_bounds_of_list_scheduling(scaling, jobs):
    """More cores can make a list schedule slightly slower (Graham, 1969), so neighbouring rows are not compared."""
    for job in jobs:
        job.cpu_s, job.megabytes, job.threads = 1.0 + zlib.crc32(f"{job.rule} {job.outputs}".encode()) % 7, 100.0, 1
    found = scaling.table(jobs)
    path = sum(job.seconds() for job in scaling.critical_path(jobs))
    work = sum(job.seconds() for job in jobs)
    seconds, share = found["wall_min"] * 60, work / found["cores"]
    assert found["cores"].iloc[0] == 1 and seconds.iloc[0] == pytest.approx(work)
    assert seconds.iloc[-1] == pytest.approx(path)
    assert (seconds >= np.maximum(share, path) - 1e-9).all()
    assert (seconds <= share + path * (1 - 1 / found["cores"]) + 1e-9).all()
    assert found["memory_gb"].iloc[0] <= found["memory_gb"].iloc[-1]
    assert found["core_hours"].nunique() == 1


def test_a_chain_and_a_fork(scaling, monkeypatch):
    monkeypatch.setattr(scaling, "START", 0.0)
    job = scaling.Job
    chain = [job("a", cpu_s=1, megabytes=1), job("b", cpu_s=2, megabytes=1, after={0})]
    fork = [*chain, job("c", cpu_s=4, megabytes=5, threads=2, after={0})]
    assert scaling.simulate(chain, 4)[0] == 3
    assert scaling.simulate(fork, 3) == (3, 6) and scaling.simulate(fork, 2)[0] == 5
    assert scaling.simulate(fork, 1)[0] == 7  # two threads on one core take twice as long
    alone = [job("a", cpu_s=3), job("b", cpu_s=1), job("c", cpu_s=2, threads=scaling.EXCLUSIVE)]
    assert scaling.simulate(alone, 256)[0] == 5  # nothing runs next to it, and it uses one core
    assert [each.rule for each in scaling.critical_path(chain)] == ["a", "b"]


def test_measured_jobs_fill_the_profile(scaling, tmp_path):
    folder = tmp_path / "results" / "benchmarks"
    folder.mkdir(parents=True)
    pd.DataFrame({"s": [900.0], "max_rss": [1234.0], "cpu_time": [800.0]}).to_csv(
        folder / "a.tsv", sep="\t", index=False
    )
    jobs = [
        scaling.Job("a", benchmark="results/benchmarks/a.tsv"),
        scaling.Job("b", benchmark="results/benchmarks/b.tsv"),
    ]
    scaling.measure(jobs, [tmp_path], scaling.numbers_by_rule(["a*=2"], scaling.FACTOR, jobs))
    assert jobs[0].seconds() == pytest.approx(1600 + scaling.START) and np.isnan(jobs[1].cpu_s)
    guessed = scaling.Job("b", benchmark="results/benchmarks/b/x.tsv")
    estimates = scaling.numbers_by_rule(["b/x=7,80", "*=1,1"], scaling.ESTIMATE, [guessed])
    scaling.measure([jobs[0], guessed], [tmp_path], [("a*", 2)], estimates)
    assert (guessed.cpu_s, guessed.megabytes, jobs[0].cpu_s) == (7, 80, 1600)
    (profile := tmp_path / "config.yaml").write_text((PROFILE / "config.yaml").read_text())
    scaling.write_profile(scaling.by_rule(jobs), profile)
    assert yaml.safe_load(profile.read_text())["set-resources"] == {"a": {"mem_mb": 2500, "runtime": 54}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "a: expected RULE=SECONDS,MB"),
        ("a=1", "a=1: expected RULE=SECONDS,MB"),
        ("a=1,x", "a=1,x: expected RULE=SECONDS,MB"),
        ("a=1,2,3", "a=1,2,3: expected RULE=SECONDS,MB"),
        ("=1,2", "=1,2: expected RULE=SECONDS,MB"),
        ("aa=1,2", "aa=1,2: no job matches aa"),
    ],
)
def test_an_estimate_that_is_malformed_or_matches_no_job_is_refused(scaling, text, message):
    with pytest.raises(SystemExit, match=message):
        scaling.numbers_by_rule([text], scaling.ESTIMATE, [scaling.Job("a")])


def test_the_plugin_is_locked_and_not_a_requirement_of_the_project():
    text = (PROFILE / "requirements.txt").read_text()
    assert re.findall(r"^([\w-]+)==", text, re.M) == [
        "snakemake-executor-plugin-slurm",
        "snakemake-executor-plugin-slurm-jobstep",
    ]
    assert (
        text.count("--hash=sha256:") >= 4
        and "executor-plugin-slurm" not in (ROOT / "requirements-test.lock").read_text()
    )


def test_the_profile_and_the_guide_give_the_same_commands_and_defaults():
    text = (PROFILE / "config.yaml").read_text()
    commands = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#     ")]
    guide = (ROOT / "docs" / "how-to" / "cluster.md").read_text()
    assert len(commands) == 3 and [command for command in commands if command not in guide] == []
    assert commands[-1].split()[-2:] == yaml.safe_load(text)["default-resources"]


def test_slurm_test_refuses_without_root():
    done = subprocess.run(
        [sys.executable, "-c", "import os, slurm; os.geteuid = lambda: 1000; slurm.prepare()"],
        cwd=ROOT / "tools" / "qa",
        env=os.environ | {"PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "which needs root" in done.stderr
