"""Register the plug-ins of installed packages, found by entry points: policies, predictors, trace formats, drives."""

import importlib.metadata
import warnings
from collections.abc import Callable
from typing import Any


def add_plugins(group: str, enter: Callable[[str, Any], Any]) -> None:
    """Pass every entry point of a group to `enter`.

    Parameters
    ----------
    group : str
        Name of the group, such as ``misspenalty.policies``.
    enter : callable
        Called as ``enter(name, value)`` to register the entry point.

    Warns
    -----
    RuntimeWarning
        An entry point cannot be loaded or is rejected. It is skipped, so a faulty package disables nothing else.

    Examples
    --------
    >>> add_plugins("misspenalty.nothing", print)
    """
    for entry in importlib.metadata.entry_points(group=group):
        try:
            enter(entry.name, entry.load())
        except Exception as error:
            package = entry.dist.name if entry.dist else entry.value
            what = group.rpartition(".")[2].rstrip("s").removesuffix("ie") + ("y" if group.endswith("ies") else "")
            warnings.warn(
                f"{what} {entry.name!r} of {package} was not registered: {error}", RuntimeWarning, stacklevel=1
            )
