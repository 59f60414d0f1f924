"""What the schema of a run's configuration cannot tell: whether the settings of the HAC study fit one another."""

from misspenalty.errors import ParameterError
from misspenalty.objects.oo7 import Parameters
from misspenalty.objects.traversals import STATIC


def check_settings(settings, fits=()):
    """Stop before the first job where a job could only fail, or a table lose rows.

    Parameters
    ----------
    settings : dict
        The key ``hac`` of the configuration, valid by its schema and with the schema's defaults.
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`.

    Raises
    ------
    ParameterError
        The message names the key and the remedy.
    """
    for name, sizes in {"database": settings["database"], **settings["layouts"]}.items():
        try:
            Parameters(**{key: value for key, value in sizes.items() if key != "seed"})
        except ParameterError as error:
            raise ParameterError(f"hac.{name if name == 'database' else f'layouts.{name}'}: {error}") from error
    for name in STATIC:
        if settings["points_mb"][name] not in settings["sweep_mb"][name]:
            raise ParameterError(
                f"hac.points_mb.{name}: {settings['points_mb'][name]:g} MB is not in hac.sweep_mb.{name}; add it there"
            )
    mix = settings["dynamic"]["mix"]
    if abs(sum(mix.values()) - 1) > 1e-9:
        raise ParameterError(f"hac.dynamic.mix: the shares add up to {sum(mix.values()):g}, expected 1")
    if len([fit for fit in fits if fit.study == "hac"]) != 1:
        raise ParameterError("data/calibration.yaml: expected one entry of the HAC study, install_instructions")
