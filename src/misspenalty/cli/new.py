"""Run the command ``new``: write a template of a plug-in package, which `misspenalty` finds once it is installed."""

import keyword
import re
import shlex
from pathlib import Path
from string import Template

import misspenalty
from misspenalty import disks
from misspenalty.cli.arguments import add_command, refuse_existing
from misspenalty.cli.output import Described
from misspenalty.errors import ParameterError
from misspenalty.io.files import atomic_path
from misspenalty.policies.registry import ALIASES
from misspenalty.prefetch.predictors.registry import known_predictors
from misspenalty.traces import formats

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
KINDS = {  # kind of package: what it contains, and a function that lists the names already taken
    "policy": ("a replacement policy (reference and kernel), its tests", lambda: {*misspenalty.policies(), *ALIASES}),
    "predictor": ("a predictor of files, its tests", known_predictors),
    "format": ("a reader of a trace format, its tests", formats),
    "drive": ("the description of a drive, its tests", disks.names),
}


def add(commands):
    """Add the commands to a parser."""
    parser = commands.add_parser(
        "new",
        help="start a package with a policy, predictor, trace format or drive",
        description="Write a package of your own that adds a policy, predictor, trace format or drive when installed.",
    )
    new = parser.add_subparsers(required=True, metavar="KIND")
    for kind, (what, _) in KINDS.items():
        command = add_command(
            new,
            kind,
            f"write a package with {what} and its entry point",
            _new,
            [
                f"misspenalty new {kind} my_{kind}",
                f"cd misspenalty-my-{kind} && pip install --no-build-isolation . && python -m pytest",
            ],
        )
        command.set_defaults(kind=kind)
        command.add_argument("name", metavar="NAME", help=f"the {kind}'s name: lower-case letters, digits and _")
        command.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="default: misspenalty-NAME")


def _new(options):
    name, kind = options.name, options.kind
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParameterError(
            f"{name!r} is not a valid name for a {kind}; expected lower-case letters, digits and _, such as my_{kind}:"
            " at most 40 characters, a letter first, and no keyword of Python"
        )
    if name in KINDS[kind][1]():
        raise ParameterError(f"there already is a {kind} {name}; choose another name")
    folder = options.folder or Path(f"misspenalty-{_dashed(name)}")
    refuse_existing(folder)
    files = write_package(kind, name, folder)
    place = f"./{folder}" if str(folder).startswith("-") else str(folder)
    following = f"cd {shlex.quote(place)} && pip install --no-build-isolation . && python -m pytest"
    rows = {kind: name, "folder": str(folder), "files": len(files), "next": following}
    return Described(rows, "\n".join([*(f"{folder / file}" for file in files), "", f"Next: {following}"]))


def _dashed(name):
    return name.replace("_", "-").strip("-")  # the name of a package cannot end with a dash


def write_package(kind, name, folder):
    """Write a package from a template, atomically.

    Parameters
    ----------
    kind : str
        Name of a folder in `TEMPLATES`.
    name : str
        Replaces ``$name``; with dashes instead of inner underscores, it replaces ``$dashed``.
    folder : Path

    Returns
    -------
    list of Path
        The files, relative to `folder`.
    """
    values = {"name": name, "dashed": _dashed(name)}
    written = []
    with atomic_path(folder) as partial:
        for source in sorted((TEMPLATES / kind).rglob("*.in")):
            place = source.relative_to(TEMPLATES / kind).with_suffix("")
            if place.stem == "name":
                place = place.with_stem(name)
            if place.parts[0] == "package":
                place = Path("src", f"misspenalty_{name}", *place.parts[1:])
            elif place.name == "gitignore":
                place = place.with_name(".gitignore")
            target = partial / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(Template(source.read_text(encoding="utf-8")).substitute(values), encoding="utf-8")
            written.append(place)
    return written
