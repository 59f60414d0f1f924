"""`python -m misspenalty` is the command `misspenalty`."""

import sys

from misspenalty.cli.main import main

sys.exit(main())
