"""What the schema of a run's configuration cannot tell: whether the settings of the MQ study fit the package and one
another."""

import itertools

from misspenalty.errors import ParameterError
from misspenalty.policies.registry import find_policy

PARTS = ("server", "variant", "client")


def check_settings(settings, captures, fits=()):
    """Stop before the first job where a job could only fail, or a table lose rows.

    Parameters
    ----------
    settings : dict
        The key ``mq`` of the configuration, valid by its schema and with the schema's defaults.
    captures : iterable of str
        Names of the captures.
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`; the cells that the study's fits aim at have to be among its sizes.

    Raises
    ------
    ParameterError
        A policy, a parameter, a capture or a cache size is impossible; the message names the key and the remedy.
    """
    _check_captures(settings, list(captures))
    for label, entry in settings["policies"].items():
        _check_policy(f"mq.policies.{label}", **entry)
    for name, values in settings["sensitivity"].items():
        _check_policy(f"mq.sensitivity.{name}", "mq", grid={name: values})
    for name in settings["first_level"]["policies"]:
        _check_first_level(name)
    _check_sizes(settings)
    for fit in fits:
        if fit.study == "mq":
            _check_fit(fit, settings["cache_mb"])


def _check_captures(settings, captures):
    for part in PARTS:
        if settings[part] not in captures:
            raise ParameterError(
                f"mq.{part}: {settings[part]!r} is none of the captures ({', '.join(captures)}); name one of them, or "
                f"add it to `captures`"
            )


def _check_policy(key, policy, parameters=None, grid=None):
    """Check every combination that `misspenalty.studies.mq.tables.replay` would try."""
    grid = grid or {}
    try:
        definition = find_policy(policy)
        for values in itertools.product(*grid.values()):
            definition.check({**(parameters or {}), **dict(zip(grid, values, strict=True))})
    except ParameterError as error:
        raise ParameterError(f"{key}: {error}; `misspenalty policies` lists what there is") from error


def _check_first_level(policy):
    key = "mq.first_level.policies"
    _check_policy(key, policy)
    if find_policy(policy).offline:
        raise ParameterError(f"{key}: {policy} looks into the future, which no first level can; name another policy")


def _check_sizes(settings):
    """Tables 3 and 4 are made from the replays of Table 2."""
    replayed = settings["table2_mb"]
    for key, sizes in (("cache_mb", settings["cache_mb"]), ("table3_mb", [settings["table3_mb"]])):
        missing = [f"{size:g}" for size in sizes if size not in replayed]
        if missing:
            raise ParameterError(
                f"mq.{key}: {', '.join(missing)} MB is not replayed; add it to mq.table2_mb "
                f"({', '.join(f'{size:g}' for size in replayed)})"
            )


def _check_fit(fit, sizes):
    """The fit is to LRU with one cache over LRU with the smallest."""
    for cell in fit.published:
        fitted = cell["where"].get("cache_mb")
        if fitted is not None and (fitted not in sizes or fitted == min(sizes)):
            raise ParameterError(
                f"mq.cache_mb: {fit.parameter} is fitted to {fitted:g} MB over the smallest size; add "
                f"{fitted:g} MB or a smaller size to {', '.join(f'{size:g}' for size in sizes)}"
            )
