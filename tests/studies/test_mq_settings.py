"""What stops a run before its first job although the schema of the configuration allows it."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from misspenalty.claims import load_calibration
from misspenalty.errors import ParameterError
from misspenalty.studies.mq.settings import check_settings

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
FITS = load_calibration(ROOT / "data" / "calibration.yaml")


def check(**changes):
    """Check the archived run's settings with some of them changed."""
    settings = copy.deepcopy(CONFIG["mq"])
    settings["policies"] |= changes.pop("policies", {})
    check_settings(settings | changes, CONFIG["captures"], FITS)


def examples():
    """Every example of the guide that changes the MQ study's settings."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "config" / "README.md").read_text(), re.DOTALL)
    return [settings["mq"] for settings in map(yaml.safe_load, blocks) if "mq" in settings]


def test_archived_settings_pass():
    check()


def test_examples_of_the_guide_pass():
    assert examples()
    for changes in examples():
        check(**changes)


@pytest.mark.parametrize(
    "entry",
    [
        {"policy": "mq", "parameters": {"queues": 8.0}},
        {"policy": "fbr", "parameters": {"f_new": 0.7}, "grid": {"f_old": [0.1, 0.3]}},  # not with f_old's default
    ],
)
def test_possible_policy_passes(entry):
    check(policies={"mine": entry})


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
        check(policies={"mine": entry})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"server": "nosuch"}, r"mq\.server: 'nosuch' .*128mb.*captures"),
        ({"variant": "nosuch"}, r"mq\.variant: 'nosuch'"),
        ({"client": "nosuch"}, r"mq\.client: 'nosuch'"),
        ({"sensitivity": {"nosuch": [1]}}, r"mq\.sensitivity\.nosuch: mq has no parameter 'nosuch'"),
        ({"sensitivity": {"queues": [4, 0]}}, r"mq\.sensitivity\.queues: .*queues is 0"),
        ({"first_level": {"policies": ["lru", "nosuch"]}}, r"mq\.first_level\.policies: unknown policy 'nosuch'"),
        ({"first_level": {"policies": ["opt"]}}, r"mq\.first_level\.policies: opt looks into the future"),
        ({"cache_mb": [96, 128, 256]}, r"mq\.cache_mb: 96 MB .*add it to mq\.table2_mb"),
        ({"table3_mb": 96}, r"mq\.table3_mb: 96 MB .*add it to mq\.table2_mb"),
        ({"cache_mb": [128, 512]}, r"mq\.cache_mb: database_cpu_us is fitted to 256 MB"),
        ({"cache_mb": [256, 512]}, r"mq\.cache_mb: database_cpu_us is fitted to 256 MB"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        check(**changes)


def test_without_a_fit_any_replayed_sizes_pass():
    check_settings(CONFIG["mq"] | {"cache_mb": [256, 512]}, CONFIG["captures"])
