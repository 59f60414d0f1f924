"""The command line, run as a user would."""

import json
import subprocess
import sys

import pytest

from misspenalty import ParameterError
from misspenalty.cli.arguments import parse_bytes, parse_setting, parse_size
from misspenalty.cli.main import main
from misspenalty.policies import known_policies


@pytest.fixture
def arc(tmp_path):
    path = tmp_path / "x.lis"
    path.write_text("0 4 0 0\n0 4 0 1\n8 1 0 2\n")
    return str(path)


def run(capsys, *arguments):
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_simulate_json(capsys, arc):
    status, out, _ = run(capsys, "simulate", arc, "--policy", "lru", "--size", "4", "--json")
    assert status == 0
    assert json.loads(out) | {"ghost_hits": 0} == {
        "policy": "lru", "cache_blocks": 4, "requests": 9, "hits": 4, "misses": 5, "hit_ratio": 4 / 9, "cold_misses": 5,
        "evictions": 1, "ghost_hits": 0}  # fmt: skip


def test_curve_json_is_the_rows_of_the_table(capsys, arc):
    _, out, _ = run(capsys, "curve", arc, "--policy", "mq", "--size", "2,2KB", "--set", "queues=2", "--json", "--quiet")
    rows = json.loads(out)
    assert [row["cache_blocks"] for row in rows] == [2, 4]
    assert {"cache_blocks", "requests", "hits", "hit_ratio"} <= set(rows[0])


def test_curve_csv_and_text(capsys, arc):
    _, csv, _ = run(capsys, "curve", arc, "--size", "1,4", "--csv")
    assert csv.splitlines()[0].startswith("policy,cache_blocks,requests,hits") and len(csv.splitlines()) == 3
    _, text, _ = run(capsys, "curve", arc, "--size", "1,4")
    assert "hit_ratio" in text


def test_curve_of_all_sizes_sampled_and_drawn(capsys, arc, tmp_path):
    plot = tmp_path / "curve.png"
    status, csv, _ = run(capsys, "curve", arc, "--size", "all", "--csv", "--plot", str(plot))
    assert status == 0 and plot.read_bytes().startswith(b"\x89PNG")
    assert [line.split(",")[1] for line in csv.splitlines()[1:]] == ["1", "2", "3", "4", "5"]
    first = plot.read_bytes()
    run(capsys, "curve", arc, "--size", "all", "--plot", str(plot))
    assert plot.read_bytes() == first
    sampled = ["curve", arc, "--size", "1,2", "--sample", "0.9", "--sample-seed", "4", "--json"]
    rows = json.loads(run(capsys, *sampled)[1])
    assert "hit_ratio_error" in rows[0]


def test_long_tables_are_cut_where_they_are_printed_as_text(capsys, tmp_path):
    path = tmp_path / "x.trace"
    path.write_text("".join(f"{n}\n" for n in range(500)))
    _, text, _ = run(capsys, "curve", str(path), "--size", "all")
    assert len(text.splitlines()) == 202 and "… 300 more rows" in text
    _, csv, _ = run(capsys, "curve", str(path), "--size", "all", "--csv")
    assert len(csv.splitlines()) == 501


def test_options_of_a_format(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("who,where\n1,5\n2,5\n")
    _, out, _ = run(capsys, "trace", "info", str(path), "--format", "csv", "--columns", "block=where", "--json")
    assert json.loads(out)["blocks"] == 1


def test_info_convert_and_replay_of_the_compiled_trace(capsys, arc, tmp_path):
    _, out, _ = run(capsys, "trace", "info", arc, "--json")
    assert json.loads(out)["references"] == 9 and json.loads(out)["seconds"] is None
    compiled = str(tmp_path / "x.trace")
    assert run(capsys, "trace", "convert", arc, compiled)[0] == 0
    status, _, err = run(capsys, "trace", "convert", arc, compiled)
    assert status == 2 and "exists" in err
    _, out, _ = run(capsys, "simulate", compiled, "--size", "4", "--json")
    assert json.loads(out)["hits"] == 4


def test_info_of_times_out_of_order_tells_the_span(capsys, tmp_path):
    path = tmp_path / "x.spc"
    path.write_text("0,0,512,R,1\n0,1,512,R,4\n0,2,512,R,0.5\n")
    assert json.loads(run(capsys, "trace", "info", str(path), "--json")[1])["seconds"] == 3.5


def test_policies_lists_parameters(capsys):
    _, out, _ = run(capsys, "policies", "--json")
    policies = {row["policy"]: row for row in json.loads(out)}
    assert "queues=8" in policies["mq"]["parameters"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["simulate", "nowhere.lis", "--size", "4"], "nowhere.lis: no such file"),
        (["simulate", "{arc}", "--size", "4", "--policy", "lur"], "unknown policy 'lur'"),
        (["simulate", "{arc}", "--size", "four"], "'four' is no size; expected blocks"),
        (["simulate", "{arc}", "--size", "10B"], "less than one block of 512 bytes"),
        (["simulate", "{arc}", "--size", "4", "--set", "queues"], "--set 'queues'; expected NAME=NUMBER"),
        (["simulate", "{arc}", "--size", "4", "--set", "trace=3", "--policy", "mq"], "mq has no parameter 'trace'"),
        (["curve", "{arc}", "--size", "4", "--set", "sample=1", "--policy", "mq"], "mq has no parameter 'sample'"),
        (["trace", "info", ""], "the name of the trace is empty"),
        (["trace", "info", "{arc}", "--block-size", "0"], "block size 0; expected at least 1 byte"),
        (["trace", "info", "{arc}", "--block-size", "big"], "'big' is no size; expected bytes (8192)"),
        (["simulate", "{arc}", "--size", "4", "--format", "tape"], "unknown trace format 'tape'"),
        (["curve", "{arc}", "--size", "4,,5"], "'' is no size"),
        (["curve", "{arc}", "--size", "all", "--policy", "mq"], "every size at once is for lru, not for mq"),
        (["curve", "{arc}", "--size", "4", "--plot", "x.gif"], "--plot x.gif; expected a name that ends in png"),
        (["curve", "{arc}", "--size", "4", "--sample", "2"], "sample is 2.0; expected a share"),
        (["curve", "{arc}", "--size", "4", "--action", "Q"], "format arc has no option 'action'; it has none"),
    ],
)
def test_bad_input_exits_with_2_and_one_line(capsys, arc, arguments, message):
    status, out, err = run(capsys, *(argument.format(arc=arc) for argument in arguments))
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1 and "Traceback" not in err


@pytest.mark.parametrize("name", ["trace", "hits", "progress", "writes", "warm_up", "policy", "cache_blocks"])
def test_settings_reach_no_keyword_but_the_policys(capsys, arc, name):
    status, _, err = run(capsys, "simulate", arc, "--size", "4", "--set", f"{name}=1")
    assert status == 2 and f"lru has no parameter {name!r}" in err


@pytest.mark.parametrize("policy", known_policies())
def test_every_parameter_can_be_set(capsys, arc, policy):
    for parameter in known_policies()[policy].parameters:
        value = parameter.minimum if parameter.default is None else parameter.default
        options = [arc, "--size", "2", "--policy", policy, "--set", f"{parameter.name}={value}", "--json", "--quiet"]
        (row,) = json.loads(run(capsys, "curve", *options)[1])
        assert row == json.loads(run(capsys, "simulate", *options)[1])


@pytest.mark.parametrize("text, size", [("1", 1), ("8192", 8192), ("8KB", 8192), ("0.5 MiB", 1 << 19)])
def test_block_sizes(text, size):
    assert parse_bytes(text, "block size") == size


@pytest.mark.parametrize(
    "text, blocks", [("65536", 65536), ("512MB", 65536), ("512 MiB", 65536), ("0.5g", 65536), ("8kb", 1), ("8192B", 1)]
)
def test_sizes(text, blocks):
    assert parse_size(text, 8192) == blocks


@pytest.mark.parametrize("text", ["", "-1", "0.5", "1e3", "12 parsecs", "0", "4095B", "9" * 5000])
def test_sizes_that_are_none(text):
    with pytest.raises(ParameterError):
        parse_size(text, 4096)


def test_settings():
    assert parse_setting("life-time = 5") == ("life_time", 5)
    assert parse_setting("seed=9007199254740993") == ("seed", 2**53 + 1)
    assert parse_setting("kin=2.5e-1") == ("kin", 0.25)


def test_installed_command_and_closed_pipe(arc):
    command = [sys.executable, "-m", "misspenalty.cli.main", "policies"]
    assert "mq" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert subprocess.run(f"{' '.join(command)} | true", shell=True, capture_output=True, text=True).stderr == ""
