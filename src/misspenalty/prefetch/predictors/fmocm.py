"""Define the finite multi-order context model, which keeps and counts every context of up to `order` files.

Paper: T. M. Kroeger, D. D. E. Long, "Predicting file system actions from prior events", USENIX 1996, sections 2.1 and
2.2; section 2.1 of their USENIX 2001 paper. The model needs O(n^order) nodes, which is why PCM was developed.
Authors' code: none published.

Deviations and decisions: those of context.py. The context of order 0, which would predict the most frequent files
after any event, does not take part, as in the partitioned models.
"""

from misspenalty.prefetch.predictors._context import ContextModel
from misspenalty.prefetch.predictors.context import MAX_FILES, ORDER, THRESHOLD, ContextReference
from misspenalty.prefetch.predictors.registry import register


@register("fmocm", ContextModel, (ORDER, THRESHOLD, MAX_FILES))
class FMOCM(ContextReference):
    """Finite multi-order context model: predict the files likely to follow the latest sequences of files."""

    def __init__(self, order=2, threshold=0.1, most=None):
        super().__init__(order, threshold, most)
