"""`make reproduce`: progress per study, and one command that resumes after any kill."""

import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "workflow" / "scripts" / "reproduce.py"
SNAKEFILE = """
rule all:
    input: "mq.txt", "sarc.txt"
rule mq_table:
    output: "mq.txt"
    shell: "echo half > {output}; while [ -e wait ]; do sleep 0.1; done; {FAIL}echo whole > {output}"
rule sarc_table:
    input: "mq.txt"
    output: "sarc.txt"
    shell: "cp {input} {output}"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE.replace("{FAIL}", ""))
    sections = tmp_path / "paper" / "supplement"
    sections.mkdir(parents=True)
    for study in ("mq", "sarc"):
        (sections / f"{study}.typ").touch()
    return tmp_path


def start(folder):
    command = [sys.executable, str(SCRIPT), "--cores", "1"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process):
    text, _ = process.communicate(timeout=120)
    return process.returncode, text


def test_progress_names_study_rule_and_share(folder):
    code, text = finish(start(folder))
    assert code == 0, text
    lines = text.splitlines()
    assert lines[0].split()[:4] == ["mq", "1/1", "mq_table", "33"]
    assert lines[1].split()[:4] == ["sarc", "1/1", "sarc_table", "66"]
    code, text = finish(start(folder))
    assert (code, text) == (0, "Nothing to be done: all results are up to date.\n")


def test_a_killed_run_goes_on_with_the_same_command(folder):
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
    assert "going on from there" in text
    assert (folder / "sarc.txt").read_text() == "whole\n"


def test_an_error_is_shown_and_the_way_on(folder):
    (folder / "Snakefile").write_text(SNAKEFILE.replace("{FAIL}", "echo no luck >&2; exit 3; "))
    code, text = finish(start(folder))
    assert code != 0
    assert "Error in rule mq_table" in text
    assert "`make reproduce` then resumes from here" in text


def test_time_left_is_told_once_there_is_something_to_go_by():
    progress = runpy.run_path(str(SCRIPT))["Progress"](["mq"])
    progress.start -= 100
    lines = ["Job stats:", "job  count", "mq_table  2", "paper  18", "all  1", "total  21"]
    assert [progress.take(line) for line in lines] == [None] * 6
    for line in ("Finished jobid: 1 (Rule: mq_table)", "Finished jobid: 2 (Rule: paper)"):
        progress.take(line)
    assert progress.take("1 of 20 steps (5%) done").endswith("5 % after 2 min")
    progress.take("Finished jobid: 3 (Rule: mq_table)")
    assert progress.take("10 of 20 steps (50%) done").endswith("50 % after 2 min, about 2 min left")


def test_where_time_went_is_told_by_study(tmp_path):
    module = runpy.run_path(str(SCRIPT))
    head = "s\th:m:s\tmax_rss\tcpu_time\n"
    for name, row in (("mq_replay/a", "60\t-\t500\t90"), ("mq_fig7", "30\t-\t700\t30"), ("claims", "1\t-\t-\t-")):
        (path := tmp_path / f"{name}.tsv").parent.mkdir(exist_ok=True)
        path.write_text(f"{head}{row}\n")
    (old := tmp_path / "sarc_run.tsv").write_text(f"{head}9\t-\t9\t9\n")
    os.utime(old, (1000, 1000))
    found = module["spent"](tmp_path, ["mq", "sarc"], since=2000)
    assert found == {"mq": (120, 90, 700, 2), "common": (0, 1, 0, 1)}
    assert list(found) == ["mq", "common"]  # the dearest first
    text = module["_table"](found, 150)
    assert text.splitlines()[0].split()[:2] == ["mq", "2.0"] and "in 2.5 min" in text.splitlines()[-1]


def test_at_the_end_it_says_what_came_out_and_where_to_look(folder):
    (folder / "results").mkdir()
    rows = ["a,reproduced,predicted", "b,reproduced,fitted", "c,reproduced,condition", "d,not_reproduced,fitted"]
    (folder / "results" / "claims.csv").write_text("\n".join(["id,verdict,basis", *rows, ""]))
    code, text = finish(start(folder))
    first, second = text.splitlines()[-2:]
    assert code == 0
    assert first == "4 claims: 1 reproduced by prediction, 1 reproduced by a fit, 1 conditions, 1 not reproduced."
    assert "results/paper.pdf" in second
