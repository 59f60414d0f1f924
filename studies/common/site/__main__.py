"""Build the site of the results; ``make site`` runs this module."""

import argparse
import sys
from pathlib import Path

from misspenalty.errors import MissPenaltyError
from misspenalty_studies.common.site.pages import build_site


def main(arguments=None):
    """Build the site; return 0, or 2 after a one-line message if that is not possible."""
    parser = argparse.ArgumentParser(prog="python -m misspenalty_studies.common.site", description=__doc__)
    parser.add_argument("--root", default=".", help="the checkout that contains results/ (default: this folder)")
    parser.add_argument("--out", default="results/site", help="folder of the site (default: results/site)")
    parser.add_argument(
        "--with", dest="extras", action="append", default=[], metavar="NAME=FOLDER",
        help="a further folder to include in the site: docs, notebooks, play",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    extras = dict(one.partition("=")[::2] for one in options.extras)
    if not all(extras.values()):  # an empty path would mean this folder
        parser.error("--with needs NAME=FOLDER")
    try:
        build_site(options.out, options.root, extras=extras, progress=lambda text: print(text, file=sys.stderr))
    except MissPenaltyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{Path(options.out) / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
