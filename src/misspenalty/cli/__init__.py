"""Provide the command line, `misspenalty`."""
