"""Test the texts on the cost of a run in README.md and ARTIFACT.md."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from misspenalty_studies.common.reporting import cost
from misspenalty_studies.common.reporting.markers import update_between_markers

ROOT = Path(__file__).parents[4]
MB = 2**20


@pytest.fixture
def checkout(tmp_path):
    """Make a checkout with the two texts and their markers, an index of three files that different rules make, and one
    of these files."""
    (tmp_path / "results" / "mq").mkdir(parents=True)
    (tmp_path / "results" / "mq" / "table4.csv").write_bytes(b"x" * 3_200_000)
    made = {
        "results/claims.csv": {"rule": "claims"},
        "results/mq/table4.csv": {"rule": "mq_tables"},
        "results/supplement.pdf": {"rule": "supplement_pdf"},
    }
    index = {"made": made, "reproduced": ["claims", "mq_replay", "mq_tables"]}
    (tmp_path / "results" / "index.json").write_text(json.dumps(index))
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    for name in ("README.md", "ARTIFACT.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(*outputs, **jobs):
    outputs = outputs or ("results/claims.csv", "results/mq/table4.csv")
    return {
        "jobs": {name.replace("__", "/"): job for name, job in jobs.items()},
        "outputs": {name: {} for name in outputs},
    }


def with_supplement(made, **more):
    """Return the manifest that `make supplement` writes after a run, which contains the times of all jobs."""
    found = run("results/supplement.pdf", **more)
    return found | {"jobs": made["jobs"] | found["jobs"]}


def job(cpu, peak):
    return {"wall_s": 99.0, "cpu_s": cpu, "peak_rss_mb": peak}


def test_sums_and_maxima_are_those_of_the_jobs(checkout):
    made = run(claims=job(61, 300), mq_tables=job(240, 1000), mq_replay__128mb=job(None, None))
    more = with_supplement(made, supplement_pdf=job(62, 200))
    text = cost.readme_text(made, more, checkout)
    assert "took 6 CPU minutes" in text and "and 1.1 GB of memory" in text  # 301 s; 1,048.6 MB
    assert "`make reproduce`,\n2 more for `make supplement`" in text
    table = cost.artifact_text(made, more, checkout)
    row = next(line for line in table.splitlines() if line.startswith("| `mq`"))
    assert row.split(" | ")[2:5] == ["4", "1.1 GB", "4 MB"]
    assert "`mq.table4.rel_miss.512`: 18.5; `mq.table4.mq.128`: 19.85" in row
    assert table.splitlines()[-2].startswith("| all | `make reproduce` | 6 | 1.1 GB | 0.1 GB |")
    assert table.splitlines()[-1].startswith("| rest | `make supplement` | 2 | 0.3 GB | 0.1 GB |")


@pytest.mark.parametrize("jobs", [{}, {"claims": job(1, 1)}, {"claims": job(1, 1), "mq_tables": job(None, 1)}])
def test_the_cost_of_a_partial_run_is_not_stated(checkout, jobs):
    made = run(**jobs)
    more = with_supplement(made, supplement_pdf=job(1, 1))
    assert cost.readme_text(made, more, checkout) is None
    assert cost.artifact_text(made, more, checkout) is None


def test_the_cost_of_a_run_without_the_supplement_is_not_stated(checkout):
    made = run(claims=job(1, 1), mq_tables=job(1, 1))
    assert cost.readme_text(made, with_supplement(made, supplement_pdf=job(1, 1)), checkout) is not None
    for more in (None, with_supplement(made)):
        assert cost.readme_text(made, more, checkout) is None


def test_the_order_of_the_jobs_does_not_matter(checkout):
    """`make supplement` alone may finish jobs of the supplement before it writes the manifest of `make reproduce`."""
    made = run(claims=job(61, 300), mq_tables=job(1, 1), supplement_pdf=job(121, 1))
    text = cost.readme_text(made, with_supplement(made), checkout)
    assert "took 2 CPU minutes" in text and "\n3 more for `make supplement`" in text


def test_texts_replace_what_is_between_their_markers(checkout):
    made = run(claims=job(61, 300), mq_tables=job(240, 1000))
    more = with_supplement(made, supplement_pdf=job(62, 200))
    assert update_between_markers(checkout / "README.md", "cost", cost.readme_text(made, more, checkout))
    assert update_between_markers(checkout / "ARTIFACT.md", "cost", cost.artifact_text(made, more, checkout))


def between(path, name="cost"):
    return re.search(rf"<!-- {name}:start -->\n(.*?)\n<!-- {name}:end -->", path.read_text(), re.DOTALL)[1]


def test_expected_values_are_those_of_the_claims():
    claims = pd.read_csv(ROOT / "results" / "claims.csv", dtype=str, keep_default_na=False)
    claims.loc[claims["id"] == "mq.table4.mq.128", ["obtained", "verdict"]] = ["7.5", "not_reproduced"]
    table = cost.expected_text(claims).splitlines()
    assert "| `mq.table4.mq.128` | 19.85 | 7.5 | not reproduced |" in table
    first, second = (
        [line.split("|")[1:3] for line in text]
        for text in (table, between(ROOT / "ARTIFACT.md", "expected").splitlines())
    )
    assert first == second


def test_the_texts_of_this_checkout_have_the_form_that_the_rule_gives(checkout):
    made = run(claims=job(61, 300), mq_tables=job(240, 1000))
    more = with_supplement(made, supplement_pdf=job(62, 200))
    texts = between(ROOT / "README.md"), cost.readme_text(made, more, checkout)
    words = [re.sub(r"[\d.]+", "", text).split() for text in texts]
    assert words[0] == words[1]
    tables = between(ROOT / "ARTIFACT.md"), cost.artifact_text(made, more, checkout)
    first, second = ([(line.split("|")[1:3], line.split("|")[-2]) for line in text.splitlines()] for text in tables)
    assert first == second


def test_a_file_with_two_names_counts_once(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(b"x" * MB)
    (tmp_path / "a" / "two").hardlink_to(tmp_path / "a" / "one")
    assert cost.disk(tmp_path, ["a", "missing"]) == MB
