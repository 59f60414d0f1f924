"""Define the extended partitioned context model (EPCM), which predicts whole sequences of files.

It differs from PCM in three ways: the order is a large share of the partition size, each occurrence of a pattern adds
at most one node, and prediction continues from a likely child to its likely child, until the likelihood falls below the
threshold. With a threshold above 0.5 this yields one sequence of files per context.

Paper: T. M. Kroeger, D. D. E. Long, "Design and implementation of a predictive file prefetching algorithm", USENIX ATC
2001, section 2.3. The paper gives an order of about 75 to 85 % of the partition size; its run of Figure 8, whose values
are the defaults here, has a partition size of 64 and an order of 45 (70 %).
Authors' code: none published.

Deviations and decisions, beyond those of context.py:

- One node per instance of a pattern, "similar to how Lempel-Ziv encoding builds contexts": a walk ends where it
  makes a node.
- Along a chain, too, a child's likelihood is its count over its parent's count less one, here because the occurrence
  that made the parent ended its walk there and could have no follower. With `corrected` 0 the divisor is the whole
  count: after A B C D … has been seen n times, C follows B with a likelihood of (n - 1) / n, D follows C with one of
  (n - 2) / (n - 1), and so on, so that a threshold cuts every chain short before its end.
- The likelihood of each step is compared with the threshold; with `product` 1, it is multiplied by the likelihoods of
  the steps before it in the chain.
- All live contexts predict; with `longest` 1 only the longest one that can predict anything does.
- If the threshold is 0.5 or less, all likely children are predicted and the chain follows the most likely.
- The paper's threshold is not known; the default, 0.75, is in the middle of the range that gives one sequence.
"""

import functools
from dataclasses import replace

from misspenalty.prefetch.predictors._context import ContextModel
from misspenalty.prefetch.predictors.context import MAX_FILES, ORDER, PARTITION, THRESHOLD, ContextReference
from misspenalty.prefetch.predictors.registry import Parameter, register

PARAMETERS = (
    PARTITION,
    replace(ORDER, default=45),
    replace(THRESHOLD, default=0.75),
    Parameter("corrected", 1, "1 = along a chain, a node's own creation is subtracted from its count", 0, 1),
    Parameter("product", 0, "1 = likelihoods are multiplied along a chain", 0, 1),
    Parameter("longest", 0, "1 = of the contexts that predict anything, only the longest is used", 0, 1),
    MAX_FILES,
)


@register("epcm", functools.partial(ContextModel, one_node=True, chained=True), PARAMETERS)
class EPCM(ContextReference):
    """Extended partitioned context model: predict the sequence of files that is about to be accessed."""

    one_node = chained = True

    def __init__(self, partition=64, order=45, threshold=0.75, corrected=1, product=0, longest=0, most=None):
        super().__init__(order, threshold, most, partition, corrected, product, longest)
