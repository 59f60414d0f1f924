"""Read traces in many formats, and compile them to dense block ids."""

from misspenalty.traces.compiled import as_trace, open_trace
from misspenalty.traces.reader import formats
from misspenalty.traces.trace import Trace

__all__ = ["Trace", "as_trace", "formats", "open_trace"]
