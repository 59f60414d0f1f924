"""`make reproduce` shows progress per study, and the same command resumes after any kill."""

import errno
import hashlib
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "workflow" / "scripts" / "reproduce.py"
SNAKEFILE = """
rule all:
    input: "mq.txt", "sarc.txt"
rule mq_table:
    output: "mq.txt"
    shell: "echo half > {output}; while [ -e wait ]; do sleep 0.1; done; echo whole > {output}"
rule sarc_table:
    input: "mq.txt"
    output: "sarc.txt"
    shell: "cp {input} {output}"
"""

WITH_MANIFEST = """
rule all:
    input: "results/mq.csv", "results/sarc.csv", "results/manifest.json"
rule mq_table:
    input: "raw.csv"
    output: "results/mq.csv"
    shell: "cp {input} {output}"
rule sarc_table:
    input: "results/mq.csv"
    output: "results/sarc.csv"
    shell: "cat {input} {input} > {output}; [ ! -e fail ]"
rule manifest:
    input: "results/mq.csv", "results/sarc.csv"
    output: "results/manifest.json"
    shell: "{MANIFEST}; if [ -e meddle ]; then echo 9 > results/mq.csv; touch -r raw.csv results/mq.csv; fi"
"""


WITH_TRACE = """
rule all:
    input: "results/traces/a.trace", "results/mq.csv", "results/manifest.json"
rule compile_trace:
    input: "raw.csv"
    output: directory("results/traces/a.trace")
    shell: "mkdir -p {output} && cp {input} {output}/ids && cp {input} {output}/writes"
rule mq_table:
    input: "results/traces/a.trace"
    output: "results/mq.csv"
    shell: "cp {input}/ids {output}"
rule manifest:
    input: "results/traces/a.trace", "results/mq.csv"
    output: "results/manifest.json"
    shell: "{MANIFEST}"
"""

WRITE_MANIFEST = """
import sys
from misspenalty_studies.common.reporting.provenance import build_manifest, write_manifest
write_manifest(build_manifest(["raw.csv"], sys.argv[2:]), sys.argv[1])
"""
MANIFEST = (
    f"{shlex.quote(sys.executable)} manifest.py {{output}} {{input}}"  # Snakemake starts itself again for a `run:`
)


def prepare(folder, snakefile):
    (folder / "Snakefile").write_text(snakefile.replace("{MANIFEST}", MANIFEST))
    (folder / "manifest.py").write_text(WRITE_MANIFEST)
    for study in ("mq", "sarc"):
        (folder / "studies" / study).mkdir(parents=True)
        (folder / "studies" / study / "supplement.typ").touch()
    return folder


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path, SNAKEFILE)


def start(folder, *options):
    command = [sys.executable, str(SCRIPT), "--cores", "1", *options]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process):
    text, _ = process.communicate(timeout=120)
    return process.returncode, text


def test_progress_names_study_rule_and_share_and_the_end_tells_results_and_where_to_look(folder):
    (folder / "results").mkdir()
    rows = ["a,reproduced,free,claim", "b,reproduced,fitted,claim", "c,reproduced,free,condition", "d,tie,fitted,claim"]
    (folder / "results" / "claims.csv").write_text("\n".join(["id,verdict,basis,role", *rows, ""]))
    code, text = finish(start(folder))
    assert code == 0, text
    lines = text.splitlines()
    assert lines[0].split()[:4] == ["mq", "1/1", "mq_table", "50"]
    assert lines[1].split()[:4] == ["sarc", "1/1", "sarc_table", "100"]
    assert lines[-2] == "3 statements of papers: 1 reproduced without any fit upstream, 1 fitted, 1 ties."
    assert "results/paper.pdf" in lines[-1]


def test_kept_tables_are_named_at_the_end_and_the_supplement_keeps_none(folder):
    with open(folder / "Snakefile", "a") as stream:
        stream.write(
            """import os
rule supplement:
    input: "sarc.txt"
if os.environ.get("MISSPENALTY_KEEP") != "no":
    logger.info("Kept: tables of mq.")
"""
        )
    (folder / "results").mkdir()
    (folder / "results" / "recomputed.csv").write_text("study,state,missing_files\nmq,recomputed,\n")
    code, text = finish(start(folder))
    assert code == 0
    assert text.splitlines()[-2:] == ["Recomputed except for the kept tables: mq.", "Kept: tables of mq."]
    code, text = finish(start(folder, "--supplement"))
    assert code == 0 and "Kept" not in text


def test_a_killed_run_resumes_with_the_same_command(folder):
    (folder / "wait").touch()
    first = start(folder)
    for _ in range(600):
        if (folder / "mq.txt").exists():
            break
        time.sleep(0.1)
    code, text = finish(start(folder))
    assert code == 1
    assert "Another `make reproduce` is running" in text
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert (folder / "mq.txt").read_text() == "half\n"
    (folder / "wait").unlink()
    code, text = finish(start(folder))
    assert code == 0, text
    assert "this run resumes it" in text
    assert (folder / "sarc.txt").read_text() == "whole\n"


def test_a_file_system_without_locks_is_not_taken_for_another_run(tmp_path, monkeypatch, capsys):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fcntl.flock", flock)
    with runpy.run_path(str(SCRIPT))["only_run"]():
        assert "cannot be locked (No locks available)" in capsys.readouterr().err


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of a complete run with a manifest."""
    folder = prepare(tmp_path_factory.mktemp("made"), WITH_MANIFEST)
    (folder / "raw.csv").write_text("1\n")
    code, text = finish(start(folder))
    assert code == 0, text
    return folder


@pytest.fixture
def complete(made, tmp_path):
    """Return a copy of a complete run; its files have the times of the originals, by which Snakemake decides."""
    return shutil.copytree(made, tmp_path / "made")


def change(path, text):
    """Change a file and, as `cp -p` would, keep its time."""
    stat = path.stat()
    path.write_text(text)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_a_changed_and_a_deleted_table_are_found_and_made_again(complete):
    change(complete / "results" / "mq.csv", "9\n")
    (complete / "results" / "sarc.csv").unlink()
    code, text = finish(start(complete))
    assert code == 0, text
    told = [f"results/{name}.csv is not what the last run wrote, so it will be made again" for name in ("mq", "sarc")]
    assert text.splitlines()[:2] == told
    assert (complete / "results" / "mq.csv").read_text() == "1\n"
    assert (complete / "results" / "sarc.csv").read_text() == "1\n1\n"


def test_a_damaged_compiled_trace_is_made_again(tmp_path):
    """Snakemake regards a folder as complete if it exists."""
    folder = prepare(tmp_path, WITH_TRACE)
    (folder / "raw.csv").write_text("1\n")
    code, text = finish(start(folder))
    assert code == 0, text
    ids = folder / "results" / "traces" / "a.trace" / "ids"
    change(ids, "9\n")
    ids.with_name("writes").unlink()
    code, text = finish(start(folder))
    assert code == 0, text
    assert all(f"results/traces/a.trace/{name} is not what the last run wrote" in text for name in ("ids", "writes"))
    assert "compile_trace" in text
    assert ids.read_text() == "1\n" and ids.with_name("writes").read_text() == "1\n"
    assert finish(start(folder)) == (0, "Nothing to be done: all results are up to date.\n")


def test_an_input_that_changed_without_its_time_is_found(complete):
    change(complete / "raw.csv", "2\n")
    code, text = finish(start(complete))
    assert code == 0 and text.startswith(
        "raw.csv has changed since the last run, so everything made from it will be made again\n"
    )
    assert (complete / "results" / "sarc.csv").read_text() == "2\n2\n"


@pytest.fixture(scope="module")
def failed(made, tmp_path_factory):
    """Return the folder of a complete run after another run, with a changed input, was stopped at its last table."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("failed") / "made")
    (folder / "fail").touch()
    (folder / "raw.csv").write_text("3\n")
    code, text = finish(start(folder))
    assert code == 1
    assert "Error in rule sarc_table" in text
    assert "`make reproduce` then resumes from here" in text
    assert not (folder / "results" / "manifest.json").exists()
    return folder


@pytest.fixture
def stopped(failed, tmp_path):
    """Return a copy of a run that was stopped; its files have the times of the originals."""
    return shutil.copytree(failed, tmp_path / "made")


def test_results_of_a_run_that_was_stopped_are_not_taken_for_changes(stopped):
    """The manifest of the previous run no longer describes the results and must not be compared with them."""
    (stopped / "fail").unlink()
    code, text = finish(start(stopped))
    assert code == 0, text
    assert "is not what" not in text and "mq_table" not in text
    assert (stopped / "results" / "sarc.csv").read_text() == "3\n3\n"


def test_a_digit_changed_after_a_run_that_was_stopped_is_found(stopped):
    """The stopped run has made one table, and the other one is from the previous run; no manifest describes them."""
    (stopped / "fail").unlink()
    change(stopped / "results" / "mq.csv", "6\n")
    code, text = finish(start(stopped))
    assert code == 0, text
    assert text.startswith("results/mq.csv is not what the last run wrote, so it will be made again\n")
    assert (stopped / "results" / "sarc.csv").read_text() == "3\n3\n"
    assert finish(start(stopped)) == (0, "Nothing to be done: all results are up to date.\n")
    assert not (stopped / ".snakemake" / "reproduce.jsonl").exists()


def test_an_input_changed_after_a_run_that_was_stopped_is_found_once(complete):
    (complete / "fail").touch()
    (complete / "results" / "sarc.csv").unlink()
    (complete / "results" / "mq.csv").unlink()
    assert finish(start(complete))[0] == 1
    assert not (complete / "results" / "manifest.json").exists()
    change(complete / "raw.csv", "7\n")
    assert "raw.csv has changed since the last run" in finish(start(complete))[1]
    assert "raw.csv has changed since the last run" not in finish(start(complete))[1]  # that run was stopped, too
    change(complete / "raw.csv", "8\n")
    (complete / "fail").unlink()
    code, told = finish(start(complete))
    assert code == 0 and "raw.csv has changed since the last run" in told
    assert (complete / "results" / "sarc.csv").read_text() == "8\n8\n"


def test_a_new_record_of_kept_tables_stays_but_blesses_no_table_that_was_edited(complete):
    """`git pull` brings such a record; Snakemake, run by hand, writes one of tables that were edited."""
    record, manifest = complete / "results" / "kept.csv", complete / "results" / "manifest.json"
    found = json.loads(manifest.read_text())
    found["outputs"]["results/kept.csv"] = {"bytes": 1, "sha256": "0" * 64}
    change(manifest, json.dumps(found))
    before = (complete / "results" / "mq.csv").read_bytes()
    change(complete / "results" / "mq.csv", "5\n")
    digest = hashlib.sha256(b"5\n").hexdigest()
    text = f"study,file,sha256,made_from\nmq,results/mq.csv,{digest},x\n"
    record.write_text(text)
    code, told = finish(start(complete))
    assert code == 0, told
    assert "results/mq.csv is not what the last run wrote" in told and "kept.csv is not what" not in told
    assert (complete / "results" / "mq.csv").read_bytes() == before and record.read_text() == text


def test_a_change_during_the_run_is_an_error(complete):
    (complete / "meddle").touch()
    (complete / "raw.csv").write_text("4\n")
    code, text = finish(start(complete))
    assert code == 1
    assert "results/mq.csv does not have the checksum in results/manifest.json" in text
    assert "run `make reproduce` again" in text


def test_a_damaged_manifest_is_reported(complete):
    (complete / "results" / "manifest.json").write_text("{")
    code, text = finish(start(complete))
    assert (code, text.count("\n")) == (2, 1)
    assert "results/manifest.json: is not the manifest of a run" in text


def test_time_left_follows_from_what_jobs_cost_in_an_earlier_run():
    """Two jobs of 450 s and ten of 10 s: after one of each, 460 of 1,000 s are done, whatever the number of jobs."""
    progress = runpy.run_path(str(SCRIPT))["Progress"](["mq"], 2, {"mq_run": 450.0, "paper": 10.0})
    lines = ["Job stats:", "job  count", "mq_run  2", "paper  10", "all  1", "supplement  1", "total  14"]
    assert [progress.take(line) for line in lines] == [None] * 7
    progress.start -= 5  # 5 s of start-up, before any job ran
    progress.take("Finished jobid: 1 (Rule: paper)")
    told = progress.take("1 of 12 steps (8%) done")
    assert told.endswith("1 % after 5 s, about 8 min left")  # (5 + 100 / 2) / (10 + 100) of 990 s: 495 s
    progress.start -= 215
    progress.take("Finished jobid: 2 (Rule: mq_run)")
    told = progress.take("2 of 12 steps (17%) done")
    assert told.endswith("46 % after 4 min, about 4 min left")  # (220 + 100 / 2) / (460 + 100) of 540 s: 260 s
    progress.start -= 270
    for number in range(3, 13):
        progress.take(f"Finished jobid: {number} (Rule: {'mq_run' if number == 12 else 'paper'})")
        told = progress.take(f"{number} of 12 steps done")
    assert told.endswith("100 % after 8 min")


def test_a_new_rule_has_the_median_cost_and_the_last_job_ends_at_100_percent():
    progress = runpy.run_path(str(SCRIPT))["Progress"]([], 1, {"a": 1.0, "b": 3.0, "c": 80.0})
    assert progress.cost("new") == 3
    progress.take("Finished jobid: 1 (Rule: c)")  # without a plan
    assert "100 % after" in progress.take("1 of 1 steps (100%) done")


def test_costs_are_those_of_the_archived_jobs():
    found = runpy.run_path(str(SCRIPT))["archived_costs"]()
    rows = pd.read_csv(ROOT / "benchmarks" / "measured" / "jobs.csv").set_index("rule")
    assert found["mq_replay"] == pytest.approx(rows.loc["mq_replay", "cpu_s"] / rows.loc["mq_replay", "jobs"])
    assert runpy.run_path(str(SCRIPT))["archived_costs"](Path("/nowhere.csv")) == {}


def test_the_first_results_are_announced_and_are_those_of_the_workflow():
    module = runpy.run_path(str(SCRIPT))
    progress = module["Progress"](["mq"])
    progress.take("Finished jobid: 1 (Rule: mq_first_figures)")
    told = progress.take("1 of 9 steps (11%) done").splitlines()
    assert told[1] == "results/mq/table4.png: Multi-Queue's Table 4 next to the printed one"
    index = json.loads((ROOT / "results" / "index.json").read_text())["made"]
    assert {index[path]["rule"] for path, _ in module["FIRST"].values()} == set(module["FIRST"])
    assert all(index[name]["rule"] in ("mq_first_tables", "vlog_first_tables") for name in module["COMPARED"])


def test_first_results_are_compared_with_those_before(folder):
    """A table that differs must be reported with the place and the difference."""
    module = runpy.run_path(str(SCRIPT))
    (folder / "results" / "mq").mkdir(parents=True)
    (folder / "results" / "vlog").mkdir(parents=True)
    rules = ['rule all:\n    input: "never"\n']
    for number, name in enumerate(
        dict.fromkeys([*module["COMPARED"], *(path for path, _ in module["FIRST"].values())])
    ):
        (folder / name).write_text("a,b\n1,2\n")
        text = "a,b\\n1,3" if number == 0 else "a,b\\n1,2"
        rules.append(f'rule r{number}:\n    output: "{name}"\n    shell: "printf \'{text}\\\\n\' > {{output}}"\n')
    (folder / "Snakefile").write_text("".join(rules))
    command = [sys.executable, str(SCRIPT), "--cores", "1", "--first"]
    code, text = finish(start(folder, "--first", "--forceall"))
    assert code == 1, text
    assert re.search(r"^different +results/mq/table4\.csv: b: 1 of 1 values differ", text, re.MULTILINE)
    assert re.search(r"^equal +results/vlog/table2\.csv$", text, re.MULTILINE)
    again = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout


def test_without_the_archived_tables_the_first_results_are_not_made(folder):
    code, text = finish(start(folder, "--first"))
    assert code == 2 and text.startswith("error: results/mq/table4.csv: no such file; expected a table to compare with")


def test_a_lock_that_cannot_be_removed_is_explained_by_snakemake(folder):
    (folder / ".snakemake" / "locks").mkdir(parents=True)
    (folder / ".snakemake" / "locks" / "0.output.lock").write_text("mq.txt\n")
    (folder / "Snakefile").write_text("rule all:\n    input: missing_name\n")
    code, text = finish(start(folder))
    assert code == 1 and "missing_name" in text and "The run did not start." in text
    assert "subprocess" not in text and (folder / ".snakemake" / "locks" / "0.output.lock").is_file()


def test_the_supplement_has_a_manifest_of_its_own(complete):
    text = WITH_MANIFEST.replace(
        "rule manifest:",
        """rule supplement:
    input: rules.all.input, "results/more.csv", "results/manifest_supplement.json"
rule mq_more:
    input: "raw.csv"
    output: "results/more.csv"
    shell: "cp {input} {output}"
rule supplement_manifest:
    input: "results/more.csv"
    output: "results/manifest_supplement.json"
    shell: "{MANIFEST}"
rule manifest:""",
    )
    (complete / "Snakefile").write_text(text.replace("{MANIFEST}", MANIFEST))
    code, text = finish(start(complete, "--supplement"))
    assert code == 0 and "mq_more" in text and "mq_table" not in text, text
    change(complete / "results" / "more.csv", "9\n")
    assert finish(start(complete)) == (0, "Nothing to be done: all results are up to date.\n")
    assert (complete / "results" / "more.csv").read_text() == "9\n"  # `make reproduce` does not check it
    code, text = finish(start(complete, "--supplement"))
    assert code == 0 and text.startswith("results/more.csv is not what the last run wrote, so it will be made again\n")
    assert (complete / "results" / "more.csv").read_text() == "1\n"


def test_run_times_are_reported_by_study(tmp_path):
    module = runpy.run_path(str(SCRIPT))
    head = "s\th:m:s\tmax_rss\tcpu_time\n"
    for name, row in (("mq_replay/a", "60\t-\t500\t90"), ("mq_fig7", "30\t-\t700\t30"), ("claims", "1\t-\t-\t-")):
        (path := tmp_path / f"{name}.tsv").parent.mkdir(exist_ok=True)
        path.write_text(f"{head}{row}\n")
    (old := tmp_path / "sarc_run.tsv").write_text(f"{head}9\t-\t9\t9\n")
    os.utime(old, (1000, 1000))
    found = module["spent"](tmp_path, ["mq", "sarc"], since=2000)
    assert found == {"mq": (120, 90, 700, 2), "common": (0, 1, 0, 1)}
    assert list(found) == ["mq", "common"]  # the most expensive first
    text = module["_table"](found, 150)
    assert text.splitlines()[0].split()[:2] == ["mq", "2.0"] and "in 2.5 min" in text.splitlines()[-1]


REGISTER = """
arc/P3:
  {studies: [classics], repository: a/b, commit: "%s", path: P3, bytes: 3, sha256: "%s", licence: none, citation: A}
"""


def test_a_run_without_registered_files_goes_on_and_says_so(folder):
    (folder / "data").mkdir()
    (folder / "config").mkdir()
    (folder / "results").mkdir()
    (folder / "config" / "config.yaml").write_text("mq: {}\n")
    (folder / "data" / "external.yaml").write_text(REGISTER % ("0" * 40, "0" * 64))
    (folder / "results" / "recomputed.csv").write_text(
        "study,state,missing_files\nmq,recomputed,\nclassics,archived,arc/P3; arc/P6\n"
    )
    command = [sys.executable, str(SCRIPT), "--cores", "1"]
    proxy = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_PROXY": "", "no_proxy": ""}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=os.environ | proxy)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == "fetching registered file 1 of 1: arc/P3, 0.0 MB"
    assert lines[1].startswith("1 registered files could not be fetched (") and lines[1].endswith(
        "goes on without them."
    )
    assert lines[-2] == "Recomputed: mq."
    assert lines[-1].startswith("Archived tables are used because registered files are missing: classics (2 missing). ")
    offline = subprocess.run([*command, "--offline"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert offline.stdout.splitlines()[-2:] == lines[-2:] and "fetching" not in offline.stdout
