"""What the schema of a run's configuration cannot tell: whether the settings of the SARC study fit the package and one
another."""

from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential.prefetcher import check as check_prefetch
from misspenalty.studies.sarc.fit import STEPS, targets_of
from misspenalty.studies.sarc.runs import CONFIGS, PAPERS, load_shark
from misspenalty.studies.sarc.sensitivity import changes, variations


def check_settings(settings, machine, fits=()):
    """Stop before the first job where a job could only fail, or a table lose rows.

    Parameters
    ----------
    settings : dict
        The key ``sarc`` of the configuration, valid by its schema and with the schema's defaults.
    machine : path-like
        ``shark.yaml``.
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`.

    Raises
    ------
    ParameterError
        A policy, a parameter or a value is impossible, or a fit has no target; the message names key and remedy.
    """
    _check_policies(settings["beyond"])
    shark, entries = load_shark(machine)
    try:
        shark = shark.with_values(settings["values"])
    except (ParameterError, ValueError) as error:
        raise ParameterError(f"sarc.values: {error}") from error
    if shark.phase_minutes <= shark.discarded_minutes:
        raise ParameterError(
            f"sarc.values: phases of {shark.phase_minutes} minutes without their first {shark.discarded_minutes}; "
            "expected phase_minutes to be more than discarded_minutes"
        )
    if settings["short"]["phase_minutes"] <= settings["short"]["discarded_minutes"]:
        short = settings["short"]
        raise ParameterError(
            f"sarc.short: phases of {short['phase_minutes']} minutes without their first {short['discarded_minutes']}; "
            "expected phase_minutes to be more than discarded_minutes"
        )
    _check_sensitivity(settings["sensitivity"], shark, entries)
    for number, values in enumerate(_combinations(settings["fit"])):
        tried = shark.with_values({**values, **settings["values"]})
        for divisor in {settings["divisor"], *settings["scale_divisors"]} if number == 0 else ():
            model = tried.with_values({"divisor": divisor})
            model.model().check()
            for config in CONFIGS:
                model.footprint_bytes(config)
    for step, (names, _) in STEPS.items():
        if not targets_of(fits, step):
            raise ParameterError(f"data/calibration.yaml has no target for {', '.join(names)}")


def _combinations(fit):
    """The corners of the fit's grid: all lowest, all highest."""
    return [{name: choose(values) for name, values in fit.items()} for choose in (min, max)]


def _check_policies(names):
    for name in names:
        try:
            offline = find_policy(name).offline
        except ParameterError as error:
            raise ParameterError(f"sarc.beyond: {error}; `misspenalty policies` lists what there is") from error
        if offline:
            raise ParameterError(f"sarc.beyond: {name} looks into the future, which no live cache can")
        if name in PAPERS:
            raise ParameterError(f"sarc.beyond: {name} is one of the paper's own policies, which are always run")


def _check_sensitivity(names, shark, entries):
    listed = variations(shark, entries)
    for name in names:
        if name not in entries:
            raise ParameterError(f"sarc.sensitivity: the machine has no parameter {name!r}")
        if not entries[name].vary and not entries[name].vary_factors:
            raise ParameterError(f"sarc.sensitivity: shark.yaml lists no other values for {name}; add `vary` there")
        for value in listed.get(name, ()):
            try:
                check_prefetch(shark.with_values(changes(shark, name, value)).prefetch())
            except ParameterError as error:
                raise ParameterError(f"sarc.sensitivity: {name} = {value}: {error}") from error
