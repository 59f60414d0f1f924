"""Traces: one reader a format, compiled to dense block ids, memory-mapped."""

from misspenalty.traces.reader import formats
from misspenalty.traces.trace import Trace, open_trace

__all__ = ["Trace", "formats", "open_trace"]
