"""Define a run's configuration, one typed model from which the default file, its schema and its documentation are made.

``python -m misspenalty_studies.common.configuration`` shows whether ``config/config.yaml`` is stale. With ``--write``
it writes that file and a schema for editors, ``build/config.schema.yaml``; with ``--keys`` it prints what each key
means.
"""

import argparse
import difflib
import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, create_model, model_validator

from misspenalty.errors import InputError, ParameterError
from misspenalty.io.documents import allowed
from misspenalty.io.files import atomic_path
from misspenalty_studies.common import settings
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.settings import Name, Settings, explain, setting
from misspenalty_studies.common.settings.documents import block_of, default_text, schema_text, table_text
from misspenalty_studies.common.study import studies

COMMAND = "python -m misspenalty_studies.common.configuration --write"
MADE = f"# Made by `{COMMAND}`\n# from studies/*/settings.py: change the settings there, not here.\n"
CONFIG_HEAD = f"""\
# yaml-language-server: $schema=../build/config.schema.yaml
{MADE}#
# The run that the archived results come from. The settings are scientific only: cores, memory and folders belong to the
# command line. To run something else, put the keys that differ into a file of your own; config/README.md says how.
"""


class _Run(Settings):
    """Configuration of a run."""

    captures: Annotated[dict[Name, settings.Path], Field(min_length=1)] = setting(
        {
            "128mb": "data/raw/tpcc/128mb.parquet",
            "16mb": "data/raw/tpcc/16mb.parquet",
            "2mb": "data/raw/tpcc/2mb.parquet",
            "2mb-long": "data/raw/tpcc/2mb-long.parquet",
        },
        "Raw traces, by names that become part of file names; paths are relative to the folder that Snakemake runs in. "
        "Any format that `misspenalty trace info` reads will do.",
        "A name says how much memory the first level, that is, the database's own buffer cache, had.",
        notes={
            "128mb": "like the paper's Oracle, which had 128 MB",
            "16mb": "the paper's second trace",
            "2mb": "almost every logical reference: the client's side",
            "2mb-long": "the same, four times as long: larger first levels are simulated over it",
        },
        block=True,
    )
    mirror: settings.Path | None = setting(
        None,
        "Folder with copies of the files that data/external.yaml names; files in it need not be downloaded. The "
        "environment variable MISSPENALTY_MIRROR does the same.",
    )
    traces: settings.Path = setting(
        "config/traces.tsv",
        "Table of traces of your own, one per row; `snakemake -c all NAME` makes results/traces/NAME. "
        "docs/how-to/trace.md describes its columns.",
    )

    @model_validator(mode="after")
    def check(self):
        """Check references from a study's settings to captures of the run and to the settings of other studies."""
        for name in type(self).model_fields:
            if hasattr(part := getattr(self, name), "check_captures"):
                part.check_captures(list(self.captures))
            if hasattr(part, "check_studies"):
                part.check_studies(self)
        return self


Configuration = create_model(
    "Configuration",
    __base__=_Run,
    __doc__=_Run.__doc__,
    **{
        name: (model, setting({}, (model.__doc__ or "").strip()))
        for name, one in studies().items()
        if (model := one.settings()) is not None
    },
)


def checked(config, files=(), root=None):
    """Check a configuration and return it with its defaults filled in.

    Parameters
    ----------
    config : dict
        As merged from `files`.
    files : sequence of path-like
        In the order in which they were read; errors name the file at fault.
    root : path-like, optional
        The checkout, whose machines and calibration must match the settings.

    Returns
    -------
    dict

    Raises
    ------
    ParameterError
        A key is unknown, missing or has a wrong value; the message names up to ten such keys, where each is set, and
        what is allowed.
    InputError
        ``data/calibration.yaml`` cannot be read or is not a list of fits (if `root` is given), or one of `files`, which
        are read again to explain an error, cannot be read.
    """
    context = {}
    if root is not None:
        context = {"root": Path(root), "fits": load_calibration(Path(root) / "data" / "calibration.yaml")}
    try:
        return Configuration.model_validate(config, context=context).plain()
    except ValidationError as error:
        raise ParameterError(explain(error, Configuration, config, files)) from error


def tables():
    """Return tables of all keys as Markdown: one with the run's own keys, then one per study."""
    parts = [table_text(Configuration, "", allowed, nested=False)]
    for name, field in Configuration.model_fields.items():
        if block_of(field):
            parts.append(f"## `{name}`\n\n{field.description}\n\n{table_text(block_of(field), f'{name}.', allowed)}")
    return "\n".join(parts)


def stale(root="."):
    """Return the unified diff between the default file and the text made from the settings; it is empty if the two are
    equal.

    Raises
    ------
    InputError
        There is no default file below `root`.
    """
    path = Path(root) / "config" / "config.yaml"
    if not path.is_file():
        raise InputError("no such file", path=path, remedy="run this in the project's folder, or name it with --root")
    own, made = (text.splitlines(keepends=True) for text in (path.read_text(encoding="utf-8"), default()))
    return "".join(difflib.unified_diff(own, made, str(path), f"{path} from the settings"))


def default():
    """Return the text of the default file."""
    return default_text(Configuration, CONFIG_HEAD)


def main(arguments=None):
    """Run the command line; return the exit status: 0, 1 if the default file is stale, or 2 if there is none."""
    parser = argparse.ArgumentParser(prog="python -m misspenalty_studies.common.configuration", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the files instead of showing what is stale")
    parser.add_argument("--keys", action="store_true", help="print all keys, their meaning and what each allows")
    parser.add_argument("--root", default=".", help="the project's folder (default: the current one)")
    options = parser.parse_args(arguments)
    if options.keys:
        print(tables(), end="")
        return 0
    try:
        difference = stale(options.root)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not options.write:
        sys.stdout.write(difference)
        return 1 if difference else 0
    made = {"config/config.yaml": default(), "build/config.schema.yaml": schema_text(Configuration, MADE)}
    for name, text in made.items():
        with atomic_path(Path(options.root, name)) as partial:
            partial.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
