"""Run the command ``policies``: list the replacement policies and their parameters."""

import inspect
import textwrap

import misspenalty
from misspenalty.cli.arguments import add_command
from misspenalty.cli.output import Described
from misspenalty.cli.tables import WIDTH
from misspenalty.io.later import pd


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
    return Described(pd.DataFrame(rows), "\n".join(_lines(rows)))


def _lines(rows):
    """Yield one or two wrapped paragraphs per policy: its summary and, if it has any, its parameters."""
    margin = max(len(row["policy"]) for row in rows) + 2
    for row in rows:
        for text, first in ((row["summary"], row["policy"]), (row["parameters"], "")):
            if text:
                yield textwrap.fill(
                    text,
                    WIDTH,
                    initial_indent=f"{first:{margin}}",
                    subsequent_indent=" " * margin,
                    break_on_hyphens=False,
                )


def _default(parameter):
    if parameter.default is None:
        return "auto"
    return "…" if parameter.default is inspect.Parameter.empty else parameter.default
