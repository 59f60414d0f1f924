"""The command line's ``policies``."""

import inspect

import pandas as pd

import misspenalty
from misspenalty.cli.arguments import add_command


def add(commands):
    """Add the command to a parser."""
    add_command(
        commands, "policies", "list the replacement policies and their parameters", _policies, ("misspenalty policies",)
    )


def _policies(options):
    rows = []
    for name, policy in misspenalty.policies().items():
        settings = ", ".join(f"{p.name}={_default(p)}" for p in policy.parameters)
        rows.append({"policy": name, "summary": policy.summary, "parameters": settings})
    return pd.DataFrame(rows)


def _default(parameter):
    return {None: "auto", inspect.Parameter.empty: "…"}.get(parameter.default, parameter.default)
