"""Test the configuration: the files made from the settings, the settings that are refused before the first job, and the
messages."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from misspenalty.errors import ParameterError
from misspenalty.io.documents import violation
from misspenalty_studies.common import configuration
from misspenalty_studies.common.settings.documents import schema_text

ROOT = Path(__file__).parents[3]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
SCHEMA = yaml.safe_load(schema_text(configuration.Configuration, configuration.MADE))
BUILDS = ROOT / "data" / "raw" / "builds"


def merged(base, changes):
    """Merge one configuration file over another, as Snakemake does."""
    base = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(base.get(key), dict)
        base[key] = merged(base[key], value) if both else value
    return base


def check(study, **changes):
    """Check the archived run's configuration with some keys of a study replaced."""
    configuration.checked(CONFIG | {study: CONFIG[study] | changes}, root=ROOT)


def examples():
    """Return every configuration that the guide shows as an example."""
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", settings_guide(), re.DOTALL)]


def settings_guide():
    return (ROOT / "config" / "README.md").read_text()


# --- files made from the settings


def test_the_file_made_from_the_settings_is_not_stale():
    difference = configuration.stale(ROOT)
    assert not difference, f"run `{configuration.COMMAND}`:\n{difference}"


def test_a_stale_file_is_shown_and_written(tmp_path, capsys):
    path = tmp_path / "config" / "config.yaml"
    path.parent.mkdir()
    path.touch()
    assert configuration.main(["--root", str(tmp_path), "--write"]) == 0
    assert configuration.main(["--root", str(tmp_path)]) == 0
    assert yaml.safe_load((tmp_path / "build" / "config.schema.yaml").read_text()) == SCHEMA
    path.write_text(path.read_text().replace("warm_up: 0", "warm_up: 1"))
    assert configuration.main(["--root", str(tmp_path)]) == 1
    assert "-  warm_up: 1\n+  warm_up: 0\n" in capsys.readouterr().out


def test_outside_the_project_nothing_is_written(tmp_path, capsys):
    assert configuration.main(["--root", str(tmp_path), "--write"]) == 2
    assert re.fullmatch(r"error: .*config\.yaml: no such file.*--root\n", capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


def test_every_key_is_printed_with_what_it_allows(capsys):
    assert configuration.main(["--keys"]) == 0
    printed = capsys.readouterr().out
    assert "\n## `mq`\n" in printed
    assert "| `mq.warm_up` | References at the head of the trace" in printed
    rows = {line.split("`")[1] for line in printed.splitlines() if line.startswith("| `")}
    studies = set(CONFIG) - {"captures", "traces"}
    assert {f"{study}.{key}" for study in studies for key in CONFIG[study]} <= rows


def test_an_empty_configuration_is_the_archived_one():
    filled = configuration.checked({})
    assert filled == CONFIG
    assert repr(filled) == repr(CONFIG)  # whole numbers stay integers: they become part of file names


def objects(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)


def test_the_schema_is_closed_and_described():
    blocks = list(objects(SCHEMA))
    assert len(blocks) > 20
    for block in blocks:
        assert block.get("additionalProperties", True) is not True, block
        for name, value in block.get("properties", {}).items():
            named = SCHEMA["$defs"][value["$ref"].removeprefix("#/$defs/")] | value if "$ref" in value else value
            assert named.get("description"), name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"catpures": {}}, "catpures: unknown key"),
        ({"mq": {"cahce_mb": [128]}}, r"mq\.cahce_mb: unknown key"),
        ({"mq": {"policies": {"arc": {"policy": "arc", "parametres": {}}}}}, r"mq\.policies\.arc\.parametres: unknown"),
        ({"mq": {"writes": ["sometimes"]}}, r"mq\.writes\[0\]: 'sometimes'"),
        ({"mq": {"cache_mb": [0]}}, r"mq\.cache_mb\[0\]: 0; expected"),
        ({"vlog": {"fig1_utilisations": [1]}}, r"vlog\.fig1_utilisations\[0\]: 1; expected"),
        ({"captures": {"a/b": "x.spc"}}, "captures: 'a/b' is not a valid name"),
    ],
)
def test_the_schema_for_editors_refuses_what_the_models_refuse(change, said):
    assert violation(CONFIG, SCHEMA) is None
    wrong = merged(CONFIG, change)
    assert violation(wrong, SCHEMA) is not None
    with pytest.raises(ParameterError, match=f"^{said}"):
        configuration.checked(wrong)


# --- allowed settings


def test_archived_configuration_passes():
    assert configuration.checked(CONFIG, root=ROOT) == CONFIG


def test_the_full_configuration_passes():
    changes = yaml.safe_load((ROOT / "config" / "full.yaml").read_text())
    configuration.checked(merged(CONFIG, changes), root=ROOT)


def test_small_runs_of_the_tests_pass():
    config = copy.deepcopy(CONFIG)
    for path in ROOT.glob("studies/*/small.yaml"):
        config[path.parent.name] |= yaml.safe_load(path.read_text())
    assert configuration.checked(config, root=ROOT) == config  # the defaults add nothing


def test_examples_of_the_guide_pass():
    assert len(examples()) >= 3
    for changes in examples():
        configuration.checked(merged(CONFIG, changes), root=ROOT)


@pytest.mark.parametrize(
    "entry",
    [
        {"policy": "mq", "parameters": {"queues": 8.0}},
        {"policy": "fbr", "parameters": {"f_new": 0.7}, "grid": {"f_old": [0.1, 0.3]}},  # f_old's default is too large
    ],
)
def test_possible_policy_passes(entry):
    check("mq", policies=CONFIG["mq"]["policies"] | {"mine": entry})


def test_without_a_fit_any_replayed_sizes_pass():
    configuration.checked(merged(CONFIG, {"mq": {"cache_mb": [256, 512]}}))


# --- refused settings


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({"policy": "nosuch"}, "unknown policy 'nosuch'"),
        ({"policy": "mq", "parameters": {"quues": 4}}, "no parameter 'quues'"),
        ({"policy": "mq", "parameters": {"queues": 0}}, "queues is 0"),
        ({"policy": "mq", "parameters": {"queues": 2.5}}, "queues is 2.5"),
        ({"policy": "mq", "grid": {"quues": [4]}}, "no parameter 'quues'"),
        ({"policy": "mq", "grid": {"queues": [4, 99]}}, "queues is 99"),
        ({"policy": "lru", "grid": {"history": [4]}}, "no parameter 'history'"),
        ({"policy": "fbr", "grid": {"f_new": [0.1, 0.9], "f_old": [0.05, 0.5]}}, "f_new"),
    ],
)
def test_impossible_policy_is_refused(entry, named):
    with pytest.raises(ParameterError, match=rf"^mq\.policies\.mine: .*{named}.*misspenalty policies"):
        check("mq", policies=CONFIG["mq"]["policies"] | {"mine": entry})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server": "nosuch"}, r"mq\.server: 'nosuch' .*128mb.*captures"),
        ({"server": "128"}, r"mq\.server: '128' .*did you mean '128mb'\?"),
        (
            {"calibrated": {"capture": "nosuch", "reads": 9, "shown_mb": [64]}},
            r"mq\.calibrated: 'nosuch' is not a capture",
        ),
        ({"client": "nosuch"}, r"mq\.client: 'nosuch'"),
        ({"client": "128mb"}, r"mq\.client: '128mb' is also the server's capture"),
        ({"sensitivity": {"nosuch": [1]}}, r"mq\.sensitivity\.nosuch: mq has no parameter 'nosuch'"),
        ({"sensitivity": {"queues": [4, 0]}}, r"mq\.sensitivity\.queues: .*queues is 0"),
        ({"cache_mb": [96, 128, 256]}, r"mq\.cache_mb: 96 MB .*add it to mq\.table2_mb"),
        ({"table3_mb": 96}, r"mq\.table3_mb: 96 MB .*add it to mq\.table2_mb"),
        ({"cache_mb": [128, 512]}, r"mq\.cache_mb: database_cpu_us is fitted to the rate with 256 MB"),
        ({"cache_mb": [256, 512]}, r"mq\.cache_mb: database_cpu_us is fitted to the rate with 256 MB"),
        ({"cache_mb": [128, 128, 256]}, r"mq\.cache_mb: 128 is listed twice"),
        ({"policies": {"mq": {"policy": "mq"}}}, r"mq\.policies: lru is missing"),
        (
            {"policies": {"lru": {"policy": "lru"}, "mq": {"policy": "lru"}}},
            r"mq\.policies\.mq: expected mq with the library's parameters",
        ),
        (
            {"policies": {"lru": {"policy": "lru"}, "mq": {"policy": "mq", "parameters": {"history": 2}}}},
            r"mq\.policies\.mq: expected mq with the library's parameters",
        ),
        (
            {
                "policies": CONFIG["mq"]["policies"]
                | {"mine": {"policy": "mq", "parameters": {"queues": 4}, "grid": {"queues": [2, 8]}}}
            },
            r"mq\.policies\.mine\.grid: queues is both set and varied",
        ),
        ({"writes": ["ignore"]}, r"mq\.writes: count must come first"),
        ({"writes": ["sometimes"]}, r"mq\.writes\[0\]: 'sometimes'; expected count, ignore or refresh"),
        ({"warm_up": -1}, r"mq\.warm_up: -1; expected a whole number, at least 0"),
        ({"warm_up": True}, r"mq\.warm_up: True; expected a whole number, at least 0"),
        ({"table3_mb": "5e2"}, r"mq\.table3_mb: '5e2'; expected a number, more than 0; YAML .* write 5\.0e\+02"),
    ],
)
def test_impossible_settings_of_mq_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check("mq", **changes)


def test_the_compared_policies_may_have_any_name_that_policies_are_found_by():
    check("mq", policies=CONFIG["mq"]["policies"] | {"mq": {"policy": "MQ"}, "lru": {"policy": "LRU"}})


def test_no_capture_has_the_name_of_the_calibrated_stream():
    with pytest.raises(ParameterError, match=r"^captures\.calibrated: 'calibrated' is the name of the stream"):
        configuration.checked(merged(CONFIG, {"captures": {"calibrated": "x.spc"}}), root=ROOT)


STREAMS = CONFIG["sarc"]["prefetchers"]["streams"]
UPDATES = CONFIG["vlog"]["what_if"]["workload"]
SPARC = {"host": "sparc10", "drive": "hp97560", "cylinders": 36}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files_on": ["sparc10_hpp"]}, r"vlog\.files_on: no platform called sparc10_hpp, did you mean 'sparc10_hp'\?"),
        ({"idle_ms": [50, 100]}, r"vlog\.idle_ms: 0 is missing"),
        ({"large_file_mb": 500}, r"vlog\.large_file_mb: the file takes more than 80 % of the room on sparc10_hp"),
        (
            {"workload": {"utilisation": 0.9999}},
            r"vlog\.workload\.utilisation: \d+ blocks do not fit; the virtual log on",
        ),
        ({"fig8_utilisations": [1e-4, 0.5]}, r"vlog\.fig8_utilisations: 0\.0001 of the \d+ blocks of sparc10_hp"),
        ({"small_files": 4096}, r"vlog\.small_files: 4096; sparc10_hp has room for 4095 files"),
        (
            {"workload": CONFIG["vlog"]["workload"] | {"utilisation": 0.85}},
            r"vlog\.workload\.utilisation: 0\.85; a condition adds 0\.12, and the file then does not fit",
        ),
        (
            {
                "platforms": CONFIG["vlog"]["platforms"] | {"sparc10_hp": SPARC | {"cylinders": 5}},
                "files_on": ["sparc10_seagate"],
                "bursts_on": ["sparc10_hp"],
            },
            r"vlog\.workload\.utilisation: 581 blocks do not fit; the log-structured disk on sparc10_hp",
        ),
        (
            {
                "platforms": CONFIG["vlog"]["platforms"] | {"sparc10_hp": SPARC | {"cylinders": 5}},
                "files_on": ["sparc10_seagate"],
            },
            r"vlog\.platforms\.sparc10_hp: too few cylinders: the sensitivity varies utilisation, and at 0\.9 the file",
        ),
        (
            {"workload": CONFIG["vlog"]["workload"] | {"seed": 2**64}},
            r"vlog\.workload\.seed: 18446744073709551616; expected a whole number",
        ),
        (
            {"platforms": {"sparc10_hp": SPARC}},
            r"vlog\.platforms\.sparc10_seagate: missing; expected a mapping of host",
        ),
        (
            {"platforms": CONFIG["vlog"]["platforms"] | {"sparc10_hp": SPARC | {"host": "vax"}}},
            r"vlog\.platforms\.sparc10_hp: no host called 'vax'",
        ),
        (
            {"platforms": CONFIG["vlog"]["platforms"] | {"sparc10_hp": SPARC | {"cylinders": 99_999}}},
            r"vlog\.platforms\.sparc10_hp: a slice of 99999 cylinders",
        ),
        (
            {"what_if": CONFIG["vlog"]["what_if"] | {"workload": UPDATES | {"utilisation": 0.95}}},
            r"vlog\.what_if\.platforms\.disk_2015: at a utilisation of 0\.95 the file does not fit",
        ),
        (
            {
                "what_if": {
                    "platforms": {"mine": {"host": "sparc10", "drive": "dc_s3700", "blocks": 16}},
                    "workload": UPDATES | {"utilisation": 0.9999},
                }
            },
            r"vlog\.what_if\.platforms\.mine: .*a file of \d+ blocks and its map do not fit",
        ),
        (
            {"what_if": {"platforms": {"mine": {"host": "sparc10", "drive": "dc_s3700"}}}},
            r"vlog\.what_if\.platforms\.mine: expected either cylinders .* or blocks",
        ),
        (
            {"what_if": {"platforms": {"mine": {"host": "sparc10", "drive": "dc_s3700", "cylinders": 9}}}},
            r"vlog\.what_if\.platforms\.mine: .*dc_s3700 is of kind flash; give its size in blocks",
        ),
    ],
)
def test_impossible_settings_of_vlog_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check("vlog", **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"divisor": 3}, r"sarc\.divisor: 3; expected 1, 2, 4, 8 or 16"),
        ({"beyond": ["larc"]}, r"sarc\.beyond: unknown policy 'larc'"),
        ({"beyond": ["opt"]}, r"sarc\.beyond: opt looks into the future"),
        ({"beyond": ["sarc"]}, r"sarc\.beyond: .*always run"),
        (
            {"values": {"treshold": 3}},
            r"sarc\.values: the machine has no parameter 'treshold', did you mean 'threshold'\?",
        ),
        ({"values": {"divisor": 2}}, r"sarc\.values: the machine has no parameter 'divisor'"),
        ({"values": {"host_slots": 4.5}}, r"sarc\.values: host_slots is 4\.5; Input should be a valid integer"),
        ({"values": {"delta": 2}}, r"sarc\.values: delta is 2; Input should be less than or equal to 1"),
        ({"values": {"climb": float("nan")}}, r"sarc\.values: climb is nan; Input should be a finite number"),
        ({"values": {"cache_mb": "8192"}}, r"sarc\.values: cache_mb is '8192'; Input should be a valid number"),
        ({"values": {"parity_from_cache": "false"}}, r"sarc\.values: parity_from_cache is 'false'; Input should be a"),
        ({"values": {"warm_up_minutes": -3}}, r"sarc\.values: warm_up_minutes is -3; Input should be greater than"),
        ({"values": {"drive": "hp97650"}}, r"sarc\.values: .*hp97650"),
        ({"values": {"phase_minutes": 3}}, r"sarc\.values: phase_minutes is 3, discarded_minutes"),
        ({"values": {"strip_kb": 20}}, r"sarc\.values: .*strip_kb"),
        ({"values": {"degree": [4]}}, r"sarc\.values\.degree: \[4\]; expected a number, text"),
        ({"sensitivity": ["colour"]}, r"sarc\.sensitivity: .*no parameter 'colour'"),
        ({"sensitivity": ["thresold"]}, r"sarc\.sensitivity: .*'thresold', did you mean 'threshold'\?"),
        ({"sensitivity": ["arrays"]}, r"sarc\.sensitivity: .*lists no other values for arrays"),
        ({"values": {"degree": 300}}, r"sarc\.values: degree is 300; Input should be less than or equal to 256"),
        (
            {"prefetchers": CONFIG["sarc"]["prefetchers"] | {"streams": STREAMS | {"mb_per_s": [1e-7]}}},
            r"sarc\.prefetchers\.streams\.mb_per_s\[0\]: 1e-07; expected a number",
        ),
        (
            {"anomaly": {"streams": 1, "length": 100, "degrees": [4], "tracks_a_stream": [0.4, 3]}},
            r"sarc\.anomaly\.tracks_a_stream: with `streams: 1` the caches have 0, 3 tracks; expected different",
        ),
        ({"fit_starts": [{"degree": 64}]}, r"sarc\.fit_starts: degree starts at 64; expected 4 to 32"),
        ({"fit_starts": [{"host_slots": 4.5}]}, r"sarc\.fit_starts: host_slots starts at 4\.5; expected a whole"),
        ({"fit_starts": [{"degree": 18}]}, r"sarc\.fit_starts: degree starts at 18 and is halved to 4\.5; expected a"),
        (
            {"fit": CONFIG["sarc"]["fit"] | {"degree": {"value": 8, "first": 1, "finest": 0.5}}},
            r"sarc\.fit\.degree: expected strides that are whole numbers",
        ),
        ({"fit_starts": [{"degre": 8}]}, r"sarc\.fit_starts: 'degre' is not fitted, did you mean 'degree'\?"),
        (
            {"fit_starts": [{"degree": 8, "controller_us": 150}]},
            r"sarc\.fit_starts: controller_us has no coarse search and starts only from `fit`; expected load_factor, ",
        ),
        (
            {"short": {"warm_up_minutes": 1, "phase_minutes": 2, "discarded_minutes": 2}},
            r"sarc\.short: phase_minutes is 2, discarded_minutes 2; expected",
        ),
    ],
)
def test_impossible_settings_of_sarc_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check("sarc", **changes)


def test_a_layout_of_hac_is_checked_with_the_sizes_of_the_database():
    """The layout must be checked with the given sizes; with the default number of composite parts, it would have too
    many objects."""
    check(
        "hac",
        database={"composites": 50},
        layouts=CONFIG["hac"]["layouts"] | {"dense": {"parts": 2000, "connections": 20}},
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"database": {"parts": 0}}, r"hac\.database\.parts: 0; expected a whole number, at least 1"),
        ({"layouts": {"odd": {"levels": 99}}}, r"hac\.layouts\.odd\.levels: 99"),
        ({"layouts": {"odd": {"parts": 100_000, "composites": 100_000}}}, r"hac\.layouts\.odd: .*33 million"),
        ({"database": {"parts": 2043}}, r"hac\.database: parts is 2043; expected at most 2042: an array of references"),
        ({"database": {"parts": 1000, "composites": 4000}}, r"hac\.database: .* in 1 module; expected at most 33 mi"),
        ({"database": {"parts": 1000, "composites": 2000}}, r"hac\.database: .* in 2 modules; expected at most 33 m"),
        (
            {
                "database": {"parts": 1000, "composites": 1500},
                "layouts": {**CONFIG["hac"]["layouts"], "odd": {"connections": 10}},
            },
            r"hac\.layouts\.odd: .*33 million",
        ),
        ({"sensitivity": {"scan": [1, 10, 1]}}, r"hac\.sensitivity\.scan: 1 is listed twice"),
        ({"points_mb": {"T6": 0.155, "T1-": 5, "T1": 12, "T1+": 20}}, r"hac\.points_mb\.T6: 0\.155 MB is not in"),
        ({"points_mb": {"T6": 0.16, "T1": 12, "T1+": 20}}, r"hac\.points_mb\.T1-: missing"),
        ({"dynamic": {"mix": {"T1": 0.5}}}, r"hac\.dynamic\.mix: the shares add up to 0\.5"),
        ({"dynamic": {"mix": {"T2": 1}}}, r"hac\.dynamic\.mix\.T2: unknown key"),
    ],
)
def test_impossible_settings_of_hac_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check("hac", **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"captures": {"andrew": "x.csv"}}, r"epcm\.captures\.andrew: 'x\.csv' is not a recorded build"),
        ({"captures": {"andrew": "{build}.parquet"}}, r"epcm\.captures\.andrew: .* has braces"),
        ({"fig8": {"partition_size": 64, "model_order": 44}}, r"epcm\.fig8: 64/44 is not a bar of Figure 7"),
        ({"epcm_shares": [0.01]}, r"epcm\.epcm_shares: the order.* rounds to 0"),
        ({"partition_sizes": [64, 4096]}, r"epcm\.epcm_shares: epcm: order is 2867; expected a whole number from 1 to"),
        ({"threshold": float("nan")}, r"epcm\.threshold: nan; expected a number"),
        (
            {"training_runs": 23, "captures": {"andrew": str(BUILDS / "andrew.parquet")}},
            r".*andrew has only 23 runs; leave at least one",
        ),
        (
            {"captures": {"andrew": "x.parquet"}, "sensitivity": {**CONFIG["epcm"]["sensitivity"], "machine": ["ld"]}},
            r"epcm\.sensitivity\.machine: 'ld' is not one of epcm\.captures",
        ),
    ],
)
def test_impossible_settings_of_epcm_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check("epcm", **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"whatif": {"builds": ["sssh"]}}, r"whatif\.builds: 'sssh' is not one of epcm\.captures .*mean 'ssh'\?"),
        ({"epcm": {"captures": {"ld": None}}}, r"whatif\.builds: 'ld' is not one of epcm\.captures \(andrew, glimpse"),
        (
            {"whatif": {"sarc": {"sensitive": {"iops": 9091}}}},
            r"whatif\.sarc\.sensitive\.iops: 9091 is not a load of cache_sensitive; expected one of 2500, 12500",
        ),
    ],
)
def test_impossible_settings_of_the_whatif_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        configuration.checked(merged(CONFIG, changes), root=ROOT)


@pytest.mark.parametrize(
    "facts", ["- andrew\n", "", "andrew: [1]\n", "andrew: {runs: 3}\n", "andrew: {runs: {a: 3}}\n"]
)
def test_facts_of_another_form_next_to_a_capture_of_epcm_are_refused(tmp_path, facts):
    (tmp_path / "captures.yaml").write_text(facts)
    sensitivity = {**CONFIG["epcm"]["sensitivity"], "machine": ["andrew"]}
    with pytest.raises(ParameterError, match=r"captures\.andrew: .*captures\.yaml: does not say which runs andrew has"):
        check("epcm", captures={"andrew": str(tmp_path / "andrew.parquet")}, sensitivity=sensitivity)


def test_a_calibration_without_a_studys_fit_is_refused(tmp_path):
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    data = tmp_path / "data"
    data.mkdir()
    text = (ROOT / "data" / "calibration.yaml").read_text()
    (data / "calibration.yaml").write_text(
        yaml.safe_dump([fit for fit in yaml.safe_load(text) if fit["study"] not in ("hac", "sarc")])
    )
    with pytest.raises(ParameterError, match=r"(?s)data/calibration\.yaml has no target.*install_instructions"):
        configuration.checked(CONFIG, root=tmp_path)


# --- messages


def refusal(tmp_path, merge, **files):
    """Return the lines of the message for a configuration that was merged from files of these contents."""
    paths = []
    for name, content in files.items():
        paths.append(tmp_path / f"{name}.yaml")
        paths[-1].write_text(yaml.safe_dump(content))
    with pytest.raises(ParameterError) as caught:
        configuration.checked(merge, paths)
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()


def test_every_error_names_its_file_key_value_and_what_is_allowed(tmp_path):
    mine = {"mq": {"cahce_mb": [128], "warm_up": -1}, "hac": {"iterations": 1.5}}
    lines = refusal(tmp_path, merged(CONFIG, mine), config=CONFIG, mine=mine)
    assert sorted(lines) == [
        "mine.yaml: hac.iterations: 1.5; expected a whole number, at least 2 and at most 100",
        "mine.yaml: mq.cahce_mb: unknown key, did you mean 'cache_mb'?",
        "mine.yaml: mq.warm_up: -1; expected a whole number, at least 0",
    ]


def test_the_last_file_that_has_a_key_is_named(tmp_path):
    first, second = {"mq": {"seed": -1, "warm_up": -1}}, {"mq": {"seed": -2}}
    lines = refusal(tmp_path, merged(merged(CONFIG, first), second), config=CONFIG, first=first, second=second)
    assert [line.split(";")[0] for line in lines] == ["first.yaml: mq.warm_up: -1", "second.yaml: mq.seed: -2"]


def test_a_value_of_the_command_line_is_named_as_such(tmp_path):
    lines = refusal(tmp_path, merged(CONFIG, {"mq": {"seed": -1}}), config=CONFIG)
    assert lines == ["--config: mq.seed: -1; expected a whole number, at least 0"]
    lines = refusal(tmp_path, CONFIG | {"sead": 1}, config=CONFIG)
    keys = "captures, mirror, traces, mq, sarc, hac, epcm, vlog, kvcache, dispute, whatif"
    assert lines == [f"--config: sead: unknown key; expected one of {keys}"]


@pytest.mark.parametrize(
    ("capture", "said"),
    [
        ({"a/b": "x.spc"}, "captures: 'a/b' is not a valid name; expected a name of lower-case letters"),
        ({"mine": "traces/{x}.spc"}, "captures.mine: 'traces/{x}.spc' has braces"),
    ],
)
def test_a_bad_name_of_a_mapping_or_a_file_is_named(tmp_path, capture, said):
    mine = {"captures": capture}
    (line,) = refusal(tmp_path, merged(CONFIG, mine), config=CONFIG, mine=mine)
    assert line.startswith(f"mine.yaml: {said}")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mq": {"cache_mb": []}}, "mine.yaml: mq.cache_mb: empty; expected a list of different values, each a number"),
        ({"mq": {1: 2}}, "mine.yaml: mq[1]: unknown key; expected one of server, "),
        ({1: 2}, "mine.yaml: [1]: unknown key; expected one of captures, "),
    ],
)
def test_an_empty_list_and_a_key_that_is_a_number_are_called_so(tmp_path, changes, said):
    (line,) = refusal(tmp_path, merged(CONFIG, changes), config=CONFIG, mine=changes)
    assert line.startswith(said)


def test_many_errors_are_cut_short(tmp_path):
    (*lines, last) = refusal(tmp_path, {"mq": {f"key{i}": 1 for i in range(14)}})
    assert len(lines) == 10
    assert last == "… and 4 more"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1e-5", "; YAML reads it as text; write 1.0e-05"),
        ("1.25e6", "; YAML reads it as text; write 1.25e+06"),
        ("1.234e-07x", ""),
        ("1e400", ""),
        ("nan", ""),
    ],
)
def test_a_number_that_yaml_reads_as_text_keeps_its_value(text, hint):
    with pytest.raises(ParameterError) as found:
        configuration.checked({"dispute": {"size_ratios": [text]}})
    assert str(found.value).partition("; expected")[2].partition(";")[2] == hint.removeprefix(";")
    if hint:
        assert yaml.safe_load(text) == text and yaml.safe_load(hint.split()[-1]) == float(text)
