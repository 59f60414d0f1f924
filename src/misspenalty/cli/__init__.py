"""The command line, `misspenalty`."""
