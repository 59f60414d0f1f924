"""Define the partitioned context model (PCM), whose trie is divided into partitions of limited size, one per file.

A partition is a first-order node and its descendants. When it is full and needs another node, its counts are halved,
and nodes whose count becomes zero are dropped; if no node is dropped, the access is ignored in that partition. For n
files, the model has O(n) nodes.

Paper: T. M. Kroeger, D. D. E. Long, "Design and implementation of a predictive file prefetching algorithm", USENIX ATC
2001, section 2.2. Partitions of 16, 32 and 64 nodes are the paper's; its orders and threshold are not known. The
defaults are an order of 2 and a threshold of 0.1, which the 1996 paper found good.
Authors' code: none published.

Deviations and decisions: those of context.py.
"""

from misspenalty.prefetch.predictors._context import ContextModel
from misspenalty.prefetch.predictors.context import MAX_FILES, ORDER, PARTITION, THRESHOLD, ContextReference
from misspenalty.prefetch.predictors.registry import register


@register("pcm", ContextModel, (PARTITION, ORDER, THRESHOLD, MAX_FILES))
class PCM(ContextReference):
    """Partitioned context model: a context model with a limited partition per file."""

    def __init__(self, partition=64, order=2, threshold=0.1, most=None):
        super().__init__(order, threshold, most, partition)
