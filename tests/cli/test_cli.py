"""The command line, run as a user runs it, prints the library's results and clear errors."""

import json
import re

import pandas as pd
import pytest

from misspenalty.cli.arguments import parse_setting
from misspenalty.cli.completion import commands
from misspenalty.cli.main import main, parser
from misspenalty.cli.tables import render
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


def test_penalty_of_policies_sizes_and_devices(capsys, tmp_path):
    path = tmp_path / "x.spc"
    path.write_text("0,0,4096,R,0.0\n0,0,4096,R,0.001\n0,0,4096,W,0.002\n0,0,4096,R,0.01\n")
    asked = ["penalty", str(path), "--policy", "lru,arc", "--size", "1,8KB", "--device", "5ms,hp97560"]
    status, out, _ = run(capsys, *asked, "--json")
    rows = json.loads(out)
    assert status == 0
    devices = ("5ms", "hp97560")
    expected = [(policy, size, device) for policy in ("lru", "arc") for size in (1, 2) for device in devices]
    assert [(row["policy"], row["cache_blocks"], row["device"]) for row in rows] == expected
    assert (rows[0]["requests"], rows[0]["misses"], rows[0]["delayed_hits"], rows[0]["mean_us"]) == (3, 1, 1, 3000)
    assert "mean (ms)" in run(capsys, *asked)[1]
    closed = json.loads(run(capsys, *asked, "--clients", "1", "--think", "1ms", "--json")[1])
    assert (closed[0]["load"], closed[0]["delayed_hits"]) == ("closed", 0)
    share = run(capsys, *asked[:-3], "100%", *asked[-2:], "--json")[1]
    assert {row["cache_blocks"] for row in json.loads(share)} == {1}
    mine = tmp_path / "mine.py"
    mine.write_text("class Mine:\n    def __init__(self, capacity): ...\n    def access(self, block): return False\n")
    status, _, err = run(capsys, *asked, "--policy", f"lru,{mine}:Mine")
    assert status == 2 and "policy Mine has no `__contains__`" in err
    assert "'5' is a time without its unit; write 5ms" in run(capsys, *asked, "--device", "5")[2]
    for option, value in (("--device", "5"), ("--size", "0"), ("--interval", "x"), ("--policy", "best")):
        status, _, err = run(capsys, *asked, option, value)
        assert status == 2 and err.startswith("misspenalty: ")


def test_curve_json_is_the_rows_of_the_table(capsys, arc):
    _, out, _ = run(capsys, "curve", arc, "--policy", "mq", "--size", "2,2KB", "--set", "queues=2", "--json", "--quiet")
    rows = json.loads(out)
    assert [row["cache_blocks"] for row in rows] == [2, 4]
    assert {"cache_blocks", "requests", "hits", "hit_ratio"} <= set(rows[0])


def test_curve_csv_and_text(capsys, arc):
    _, csv, _ = run(capsys, "curve", arc, "--size", "1,4", "--csv")
    assert csv.splitlines()[0].startswith("policy,cache_blocks,requests,hits") and len(csv.splitlines()) == 3
    _, text, _ = run(capsys, "curve", arc, "--size", "1,4")
    assert "hit ratio" in text


def test_curve_of_all_sizes_sampled_and_drawn(capsys, arc, tmp_path):
    plot = tmp_path / "curve.png"
    status, csv, _ = run(capsys, "curve", arc, "--size", "all", "--csv", "--plot", str(plot))
    assert status == 0 and plot.read_bytes().startswith(b"\x89PNG")
    assert [line.split(",")[1] for line in csv.splitlines()[1:]] == ["1", "2", "3", "4", "5"]
    first = plot.read_bytes()
    run(capsys, "curve", arc, "--size", "all", "--plot", str(plot))
    assert plot.read_bytes() == first
    sampled = ["curve", arc, "--size", "all", "--sample", "0.9", "--sample-seed", "4", "--json"]
    rows = json.loads(run(capsys, *sampled)[1])
    assert "hit_ratio_error" in rows[0]


def test_every_size_is_summed_up_where_it_is_printed_as_text(capsys, tmp_path):
    path = tmp_path / "x.trace"
    path.write_text("1\n2\n3\n" * 60 + "".join(f"{n}\n" for n in range(100, 397)))
    _, text, _ = run(capsys, "curve", str(path), "--size", "all", "--policy", "LRU")
    assert "lru: 477 requests, 300 cold misses, hit ratio at most 37.11%" in text and len(text.splitlines()) < 30
    knees = text[text.index("knees") : text.index("smallest")].splitlines()[1:-1]
    assert [line.split()[:2] for line in knees] == [["3", "blocks"]]
    assert "30 blocks 240 KB 10.00% hit ratio 37.11%" in " ".join(text.split())
    _, csv, _ = run(capsys, "curve", str(path), "--size", "all", "--csv")
    assert len(csv.splitlines()) == 301
    assert len(json.loads(run(capsys, "curve", str(path), "--size", "all", "--json")[1])) == 300


def test_long_tables_are_cut_where_they_are_printed_as_text(capsys, arc):
    sizes = ",".join(map(str, range(1, 501)))
    _, text, _ = run(capsys, "curve", arc, "--size", sizes)
    assert (
        "\n(300 more rows: --csv or --json)\n" in text
        and sum(line.startswith("lru") for line in text.splitlines()) == 200
    )


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
        (["simulate", "{arc}", "--size", "four"], "'four' is not a size; expected blocks"),
        (["simulate", "{arc}", "--size", "10B"], "less than one block of 512 bytes"),
        (["simulate", "{arc}", "--size", "4", "--set", "queues"], "--set 'queues'; expected NAME=NUMBER"),
        (
            ["simulate", "{arc}", "--size", "4", "--policy", "mq", "--set", "queues=2", "--set", "queues=3"],
            "--set: queues has two values, 2 and 3; expected one",
        ),
        (
            ["simulate", "{arc}", "--size", "4", "--prefetch", "sequential:degree=2,degree=4"],
            "--prefetch: degree has two values, 2 and 4; expected one",
        ),
        (["simulate", "{arc}", "--size", "4", "--set", "trace=3", "--policy", "mq"], "mq has no parameter 'trace'"),
        (["curve", "{arc}", "--size", "4", "--set", "sample=1", "--policy", "mq"], "mq has no parameter 'sample'"),
        (["trace", "info", ""], "the name of the trace is empty"),
        (["trace", "info", "{arc}", "--block-size", "0"], "block size is '0'; expected at least 1 byte"),
        (["trace", "info", "{arc}", "--block-size", "big"], "'big' is not a size; expected bytes (8192)"),
        (["simulate", "{arc}", "--size", "4", "--format", "tape"], "unknown trace format 'tape'"),
        (["curve", "{arc}", "--size", "4,,5"], "'' is not a size"),
        (
            ["curve", "{arc}", "--size", "all", "--policy", "mq"],
            "all sizes at once are possible only for lru, not for mq",
        ),
        (["curve", "{arc}", "--size", "4", "--plot", "x.gif"], "--plot x.gif; expected a name that ends in .png"),
        (["curve", "{arc}", "--size", "4", "--sample", "2"], "sample is 2.0; expected a share"),
        (
            ["curve", "{arc}", "--size", "4", "--action", "Q"],
            "format arc has no option 'action'; it has columns",
        ),
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


@pytest.mark.parametrize("name", ["trace", "policy", "cache_blocks", "device", "clients", "threads", "colour"])
def test_settings_of_a_penalty_reach_no_keyword_but_the_policys(capsys, arc, name):
    asked = ["penalty", arc, "--size", "4", "--device", "5ms", "--set", f"{name}=1"]
    status, _, err = run(capsys, *asked)
    assert status == 2 and f"lru has no parameter {name!r}" in err and err.count("\n") == 1


@pytest.mark.parametrize("option", ["--clients=1_0", "--speed=1_0", "--speed=1e999", "--speed=nan"])
def test_a_penaltys_numbers_are_numbers(capsys, arc, option):
    with pytest.raises(SystemExit, match="2"):
        run(capsys, "penalty", arc, "--size", "4", "--device", "5ms", option)
    assert f"{option.partition('=')[2]!r} is " in capsys.readouterr().err


@pytest.mark.parametrize("policy", [name for name, policy in known_policies().items() if policy.parameters])
def test_every_parameter_can_be_set(capsys, arc, policy):
    assert known_policies()[policy].parameters
    for parameter in known_policies()[policy].parameters:
        value = parameter.minimum if parameter.default is None else parameter.default
        options = [arc, "--size", "2", "--policy", policy, "--set", f"{parameter.name}={value}", "--json", "--quiet"]
        (row,) = json.loads(run(capsys, "curve", *options)[1])
        assert row == json.loads(run(capsys, "simulate", *options)[1])


def test_settings():
    assert parse_setting("life-time = 5") == ("life_time", 5)
    assert parse_setting("seed=9007199254740993") == ("seed", 2**53 + 1)
    assert parse_setting("kin=2.5e-1") == ("kin", 0.25)


def test_several_policies_in_one_call_in_any_case(capsys, arc, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "class Mine:\n    def __init__(self, capacity, first=1):\n"
        "        self.room, self.held = first * (capacity >= first), set()\n"
        "    def access(self, block):\n        hit = block in self.held\n"
        "        if len(self.held) < self.room: self.held.add(block)\n        return hit\n"
    )
    plot = tmp_path / "x.svg"
    options = ["--size", "20%,60%,2KB", "--set", "queues=2", "--set", "first=3", "--plot", str(plot), "--csv"]
    status, csv, err = run(capsys, "curve", arc, "--policy", f"LRU,Mq,opt,{mine}:Mine", *options)
    rows = [line.split(",") for line in csv.splitlines()[1:]]
    assert (status, err) == (0, "") and plot.read_text().startswith("<?xml")
    assert [row[:2] for row in rows] == [[name, size] for name in ("lru", "mq", "opt", "Mine") for size in "134"]
    assert rows[-1][3] == "3"
    _, out, _ = run(capsys, "simulate", arc, "--policy", "ARC,lru", "--size", "40%", "--json")
    assert [(row["policy"], row["cache_blocks"]) for row in json.loads(out)] == [("arc", 2), ("lru", 2)]


def test_a_device_that_is_overrun_is_named(capsys, tmp_path):
    path = tmp_path / "x.spc"
    path.write_text("".join(f"0,{n * 7919 % 10007 * 1000},4096,R,{n / 10_000}\n" for n in range(500)))
    asked = ("penalty", str(path), "--policy", "lru", "--size", "10", "--device", "hp97560,5ms")
    assert "requests arrive faster than hp97560 serves them" in run(capsys, *asked)[2]
    assert run(capsys, *asked, "--speed", "0.001")[2] == ""
    assert run(capsys, *asked, "--clients", "4")[2] == ""


def test_info_of_objects_tells_their_sizes(capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("time,key,size\n0,7,1000\n1,8,3000\n2,7,1000\n4,9,8000\n")
    row = json.loads(run(capsys, "trace", "info", str(path), "--json")[1])
    assert (row["object_bytes_mean"], row["object_bytes_median"], row["object_bytes_max"]) == (4000, 3000, 8000)
    assert row["mb_per_s"] == pytest.approx(13_000 / 2**20 / 4)
    text = run(capsys, "trace", "info", str(path))[1]
    assert "3 objects, 11.7 KB" in text and "of 3.91 KB on average, half up to 2.93 KB, the largest 7.81 KB" in text
    assert "half within 2 objects," in text and "66.67% of the objects are used once" in text
    assert "to the object after the previous one" in text and "block" not in text.partition("read as")[0]


def test_a_name_that_is_not_utf8_is_shown_by_its_bytes(capsys, tmp_path):
    path = tmp_path / "n\udcff.spc"
    path.write_text("0,0,8192,R,1\n")
    assert "n\\xff.spc (spc)" in run(capsys, "trace", "info", str(path))[1]
    assert "n\\xff.spcc: no such file" in run(capsys, "trace", "info", f"{path}c")[2]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--size", "200%"], "'200%' is more than the footprint of"),
        (["--size", "0"], "'0' is less than one block"),
    ],
)
def test_impossible_sizes_say_what_to_do(capsys, arc, arguments, message):
    status, out, err = run(capsys, "curve", arc, *arguments)
    assert (status, out) == (2, "") and message in err and ("name a larger" in err or "choose a larger" in err)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--policy", "lru,arcc"], "unknown policy 'arcc', did you mean 'arc'?"),
        (["--policy", "./nowhere.py:Mine"], "nowhere.py: no such file"),
        (["--format", "LIRSS"], "unknown trace format 'LIRSS', did you mean 'lirs'?"),
        (
            ["--policy", "lru,mq", "--set", "colour=3"],
            "none of lru, mq has a parameter 'colour'; lru has none; mq has queues",
        ),
    ],
)
def test_names_that_are_not_known_get_a_suggestion(capsys, arc, arguments, message):
    status, out, err = run(capsys, "curve", arc, "--size", "3", *arguments)
    assert (status, out) == (2, "") and message in err


def test_info_profiles_the_requests_and_their_reuse(capsys, tmp_path):
    path = tmp_path / "x.spc"
    # The file has three requests in 2 s: blocks 0 and 1, block 2 (written), and blocks 0 and 1 again. These are five
    # references to three blocks of 4 KB.
    path.write_text("0,0,8192,R,1\n0,16,4096,W,2\n0,0,8192,R,3\n")
    row = json.loads(run(capsys, "trace", "info", str(path), "--json")[1])
    assert (row["references"], row["reads"], row["blocks"], row["requests"]) == (5, 4, 3, 3)
    assert (row["request_blocks_mean"], row["request_blocks_median"], row["request_blocks_max"]) == (5 / 3, 2, 2)
    assert (row["requests_per_s"], row["references_per_s"]) == (1.5, 2.5)
    assert (row["sequential_share"], row["reused_share"]) == (3 / 5, 2 / 5)  # 1 follows 0, 2 follows 1, and 1 follows 0
    assert (row["used_once_share"], row["reuse_distance_p50"]) == (1 / 3, 3)
    text = run(capsys, "trace", "info", str(path))[1]
    assert "of 6.67 KB on average, half up to 8 KB" in text and "half within 3 blocks (12 KB)" in text


@pytest.mark.parametrize("words", [[], ["disk"], ["trace", "generate"]])
def test_without_a_command_the_help_is_shown(capsys, words):
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(words)
    out, error = capsys.readouterr()
    assert (left.value.code, out) == (2, "") and error.startswith(shown)
    assert re.fullmatch(r"misspenalty.*: error: the following arguments are required: [A-Z]+\n", error[len(shown) :])


@pytest.mark.parametrize("group", ["trace", "trace generate", "disk", "conformance", "new", "record"])
def test_the_help_of_a_group_says_what_it_is_for(capsys, group):
    with pytest.raises(SystemExit):
        main([*group.split(), "--help"])
    purpose = capsys.readouterr().out.split("\n\n")[1]
    assert purpose[0].isupper() and purpose.endswith(".")


def test_numbers_of_one_are_in_the_singular(capsys, tmp_path):
    (path := tmp_path / "one.csv").write_text("key,op\n7,R\n")
    info = run(capsys, "trace", "info", str(path))[1]
    assert "1 block of 4096 bytes" in info and "1 read, 0 writes" in info
    whole = run(capsys, "curve", str(path), "--size", "all")[1]
    assert "lru: 1 request, 1 cold miss, hit ratio" in whole
    timed = run(capsys, "penalty", str(path), "--size", "1", "--device", "5ms")[1]
    assert "closed loop, 1 request\n" in timed
    assert not re.findall(r"\b1 [a-z]+s\b", info + timed)


def test_the_help_of_every_command_fits_a_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    helps = {path: command.format_help() for path, command in commands(parser())}
    assert ("curve",) in helps and ("penalty",) in helps
    assert {path: text.count("\n") for path, text in helps.items() if text.count("\n") > 50} == {}
    widest = {path: max(map(len, text.split("\n"))) for path, text in helps.items()}
    assert {path: width for path, width in widest.items() if width > 100} == {}
    assert "TRACE --size SIZE" in helps["simulate",] and not [path for path, text in helps.items() if "{}" in text]
    assert "--columns" not in helps["curve",] and "'misspenalty trace options'" in helps["curve",]


def test_the_help_states_every_default():
    """Every option must state its default, except switches that are off and options without a default."""
    options = [
        (*path, option.option_strings[0], option.help)
        for path, command in commands(parser())
        for option in command._actions
        if option.option_strings and option.default not in (None, False, [], "==SUPPRESS==")
    ]
    assert len(options) > 20
    assert [option for option in options if "default: " not in option[-1]] == []


def test_options_of_raw_traces_are_explained_by_their_own_command(capsys, tmp_path):
    status, out, _ = run(capsys, "trace", "options", "--json")
    assert status == 0
    told = {row["option"]: row["meaning"] for row in json.loads(out)}
    _, curve = next((path, command) for path, command in commands(parser()) if path == ("curve",))
    hidden = {option for action in curve._actions for option in action.option_strings if action.help == "==SUPPRESS=="}
    assert set(told) == hidden and len(hidden) > 15 and all(told.values())
    path = tmp_path / "x.csv"
    path.write_text("a;1\nb;2\na;3\n")
    asked = ["--columns", "key=1,time=2", "--separator", "semicolon", "--header", "no", "--key", "text"]
    status, out, _ = run(capsys, "simulate", str(path), "--size", "2", "--json", *asked)
    assert status == 0 and json.loads(out)["hits"] == 1


def test_a_size_given_twice_names_the_best_policies_once(capsys, arc):
    status, out, _ = run(capsys, "curve", arc, "--policy", "lru,fifo,lru", "--size", "4,2KB", "--quiet")
    assert status == 0 and out.splitlines()[-1] == "best at 4: lru (and fifo), 44.44 %"


@pytest.mark.parametrize(
    "times, shown",
    [
        ([52_916_845.29, 86.27], ["mean (µs)", "52,916,845.29", "86.27"]),
        ([52_916_845.29, 86_270.0], ["mean (s)", "52.92", "0.09"]),
        ([1500.0, 0.0, float("nan")], ["mean (ms)", "1.500", "0.000", "-"]),
        ([0.0, 0.0], ["mean (µs)", "0.000", "0.000"]),
    ],
)
def test_no_time_of_a_column_is_rounded_to_nothing(times, shown):
    """If times differ by a factor above a thousand, the smallest selects the unit, so that none is shown as 0.00."""
    assert [line.strip() for line in render(pd.DataFrame({"mean_us": times})).splitlines()] == shown
