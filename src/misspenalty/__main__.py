"""Let `python -m misspenalty` run the command `misspenalty`."""

import sys

from misspenalty.cli.main import main

sys.exit(main())
