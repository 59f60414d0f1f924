"""Traces: one reader per format, compiled to dense block ids."""

from misspenalty.traces.compiled import as_trace, open_trace
from misspenalty.traces.reader import formats
from misspenalty.traces.trace import Trace

formats()  # imports the readers with the package, so that opening a small trace takes no longer than reading it

__all__ = ["Trace", "as_trace", "formats", "open_trace"]
