"""Test the code that the workflow's scripts share: find functions by name, read and write tables, log a job."""

import re
import subprocess
import sys

import pandas as pd
import pytest

from misspenalty.errors import ParameterError
from misspenalty_studies.common.reporting import jobs

TABLE = pd.DataFrame({"policy": ["lru", "mq"], "hits": [1, 2]})


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_that_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    jobs.write_tables(TABLE, {"table": path})
    pd.testing.assert_frame_equal(jobs.read_tables(str(path)), TABLE)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes().startswith({"csv": b"policy,hits\nlru,1\n", "parquet": b"PAR1"}[suffix])


def test_tables_go_to_the_outputs_of_their_names(tmp_path):
    other = TABLE.assign(hits=[3, 4])
    paths = {"a": tmp_path / "x.csv", "b": tmp_path / "y.csv"}
    jobs.write_tables({"b": other, "a": TABLE}, paths)
    assert paths["a"].read_text() == "policy,hits\nlru,1\nmq,2\n"
    assert paths["b"].read_text() == "policy,hits\nlru,3\nmq,4\n"
    with pytest.raises(ParameterError, match=r"the function returned \['a'\]; the rule's outputs are \['a', 'b'\]"):
        jobs.write_tables({"a": TABLE}, paths)


def test_tables_are_read_in_the_form_that_a_function_takes(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in "ab"]
    for path in paths:
        TABLE.to_csv(path, index=False)
    together = jobs.read_tables(paths)
    assert together["hits"].tolist() == [1, 2, 1, 2] and together.index.tolist() == [0, 1, 2, 3]
    by_name = jobs.read_tables({"one": paths[0], "all": paths, "settings": "c.yaml"})
    assert by_name.keys() == {"one", "all", "settings"} and by_name["settings"] == "c.yaml"
    assert len(by_name["one"]) == 2 and len(by_name["all"]) == 4
    assert len(jobs.read_tables(tmp_path / "a.csv")) == 2


@pytest.mark.parametrize(
    "name", ["nothing", "misspenalty.nothing.f", "misspenalty_studies.common.reporting.jobs.nothing", ""]
)
def test_a_function_that_does_not_exist_is_reported(name):
    with pytest.raises(ParameterError, match=re.escape(f"the function {name!r}, which cannot be imported")):
        jobs.function_of(name)


def test_a_caption_is_the_docstring_up_to_its_lists(monkeypatch):
    def draw():
        """The caption,
        in two lines.

        Parameters
        ----------
        """

    monkeypatch.setattr(jobs, "function_of", lambda name: draw)
    assert jobs.caption_of("a.b") == "The caption,\nin two lines."
    draw.__doc__ = "Returned.\n\nReturns\n-------\nFigure\n"
    assert jobs.caption_of("a.b") == "Returned."
    draw.__doc__ = None
    with pytest.raises(ParameterError, match=r"a\.b has no docstring"):
        jobs.caption_of("a.b")


@pytest.mark.parametrize("fails", [False, True])
def test_the_log_of_a_job_ends_with_what_it_took(tmp_path, fails):
    before, ended = sys.stderr, False
    try:
        with jobs.logged(tmp_path / "job.log") as log:
            assert sys.stderr is log
            print("under way", file=sys.stderr)
            if fails:
                raise KeyError("no luck")
    except KeyError:
        ended = True
    finally:
        sys.stderr = before
    lines = (tmp_path / "job.log").read_text().splitlines()
    assert ended == fails == ("KeyError: 'no luck'" in lines)
    assert lines[0] == "under way" and re.fullmatch(r"\d+\.\d\d s of CPU time, \d+ MB of memory", lines[-1])


TOOK = """
from misspenalty_studies.common.reporting.jobs import spent
print(spent())
kept = bytearray(300 << 20)
kept[::4096] = b"1" * len(kept[::4096])
sum(range(3_000_000))
print(spent())
"""


def test_what_a_job_took_is_counted():
    done = subprocess.run([sys.executable, "-c", TOOK], capture_output=True, text=True, check=True)
    before, after = ([float(number) for number in re.findall(r"[\d.]+", line)] for line in done.stdout.splitlines())
    assert before[0] > 0 and 30 < before[1] < 8000
    assert after[0] > before[0] and after[1] >= 300 + before[1] / 2
