"""Define the last-successor predictor, which predicts, after each file, the one that followed this file last time.

Paper: T. M. Kroeger, D. D. E. Long, "Design and implementation of a predictive file prefetching algorithm", USENIX ATC
2001, section 2, the baseline there; one file is remembered per file, O(n) in total.
Authors' code: none published.

Deviations and decisions: none. A file that no event has followed yet predicts nothing.
"""

from misspenalty.prefetch.predictors._last_successor import LastSuccessor as Kernel
from misspenalty.prefetch.predictors.registry import Reference, register


@register("last_successor", Kernel)
class LastSuccessor(Reference):
    """Last successor: predict the file that followed this one last time."""

    def __init__(self):
        self.successor = {}
        self.last = None

    def access(self, file):
        """Process an event; return the file that followed `file` last time, if there is one."""
        if self.last is not None:
            self.successor[self.last] = file
        self.last = file
        return [self.successor[file]] if file in self.successor else []
