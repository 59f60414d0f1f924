"""What the schema of a run's configuration cannot tell: whether the settings of the EPCM study fit the package and one
another."""

from pathlib import Path

from misspenalty.errors import ParameterError
from misspenalty.io.documents import read_yaml
from misspenalty.studies.epcm.runs import BASELINES, definition_of, settings_of


def check_settings(settings):
    """Stop before the first job where a job could only fail.

    Parameters
    ----------
    settings : dict
        The key ``epcm`` of the configuration, valid by its schema and with the schema's defaults.

    Raises
    ------
    ParameterError
        A capture's name, the run of Figure 8 or a workload of the sensitivity is impossible; the message names the key
        and the remedy.
    """
    for name, path in settings["captures"].items():
        if not path.endswith(".parquet"):
            raise ParameterError(f"epcm.captures.{name}: {path!r} is no recorded build; expected NAME.parquet")
        _check_training(name, Path(path), settings["training_runs"])
    bars = settings_of(
        settings["partition_sizes"], settings["pcm_orders"], settings["epcm_shares"], settings["thresholds"]
    )
    for bar in bars:
        if bar.model == "epcm" and bar.model_order < 1:
            raise ParameterError(
                f"epcm.epcm_shares: of {bar.partition_size} nodes a share rounds to an order of 0; take a larger share"
            )
        if bar.model not in BASELINES:
            definition_of(bar)
    wanted = (settings["fig8"]["partition_size"], settings["fig8"]["model_order"])
    there = [(bar.partition_size, bar.model_order) for bar in bars if bar.model == "epcm"]
    if wanted not in there:
        listed = ", ".join(f"{ps}/{mo}" for ps, mo in there)
        raise ParameterError(f"epcm.fig8: {wanted[0]}/{wanted[1]} is no bar of Figure 7 ({listed}); name one of them")
    for name in settings["sensitivity"]["machine"]:
        if name not in settings["captures"]:
            raise ParameterError(f"epcm.sensitivity.machine: {name!r} is none of epcm.captures; name one of them")


def _check_training(name, path, training):
    """Where the capture program's facts stand beside a capture, they tell how many runs it has."""
    facts = path.with_name("captures.yaml")
    runs = read_yaml(facts).get(path.stem, {}).get("runs", {}) if facts.is_file() else {}
    recorded = sum(map(len, runs.values()))
    if runs and recorded <= training:
        raise ParameterError(
            f"epcm.training_runs: {training}, but {name} has {recorded} runs, and one must be left to measure"
        )
