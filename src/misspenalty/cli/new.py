"""The command line's ``new policy``: a package of one's own, which `misspenalty` finds once it is installed."""

import keyword
import re
from pathlib import Path
from string import Template

import misspenalty
from misspenalty.cli.arguments import add_command
from misspenalty.cli.output import Described
from misspenalty.errors import ParameterError
from misspenalty.io.files import atomic_path

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def add(commands):
    """Add the commands to a parser's."""
    parser = commands.add_parser("new", help="start a package with a policy of your own")
    new = parser.add_subparsers(required=True, metavar="COMMAND")
    policy = add_command(
        new,
        "policy",
        "write a package with a replacement policy: reference, kernel, tests, and the entry point that registers it",
        _policy,
        ["misspenalty new policy second_chance", "cd misspenalty-second-chance && pip install --no-build-isolation ."],
    )
    policy.add_argument("name", metavar="NAME", help="the policy's name: lower case, digits and _")
    policy.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="default: misspenalty-NAME")


def _policy(options):
    name = options.name
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise ParameterError(
            f"{name!r} is no name of a policy; expected lower-case letters, digits and _, such as my_lru"
        )
    if name in misspenalty.policies():
        raise ParameterError(f"there is a policy {name} already; choose another name")
    folder = options.folder or Path(f"misspenalty-{name.replace('_', '-')}")
    if folder.exists():
        raise ParameterError(f"{folder} exists already; name another folder")
    files = write_package("policy", name, folder)
    following = f"cd {folder} && pip install --no-build-isolation . && pytest"
    rows = {"policy": name, "folder": str(folder), "files": len(files), "next": following}
    return Described(rows, "\n".join([*(f"{folder / file}" for file in files), "", f"Next: {following}"]))


def write_package(kind, name, folder):
    """Write the package of a template, whole or not at all.

    Parameters
    ----------
    kind : str
        Folder of `TEMPLATES`.
    name : str
        Takes the place of ``$name``; with dashes that of ``$dashed``.
    folder : Path

    Returns
    -------
    list of Path
        The files, relative to `folder`.
    """
    values = {"name": name, "dashed": name.replace("_", "-")}
    written = []
    with atomic_path(folder) as partial:
        for source in sorted((TEMPLATES / kind).rglob("*.in")):
            place = source.relative_to(TEMPLATES / kind).with_suffix("")
            if place.parts[0] == "package":
                place = Path("src", f"misspenalty_{name}", *place.parts[1:])
            elif place.name == "gitignore":
                place = place.with_name(".gitignore")
            target = partial / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(Template(source.read_text(encoding="utf-8")).substitute(values), encoding="utf-8")
            written.append(place)
    return written
