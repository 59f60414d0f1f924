"""Define the common part of the context models: a trie of sequences of files with counts.

A node represents the sequence of files on its path from the root and counts how often that sequence occurred; its
depth is the sequence's length. A live context is a walk that began at one of the latest events and has followed every
event since. Partitions, growth and prediction differ between models: see fmocm.py, pcm.py, epcm.py.

Papers: T. M. Kroeger, D. D. E. Long, "Predicting file system actions from prior events", USENIX 1996, section 2;
"Design and implementation of a predictive file prefetching algorithm", USENIX ATC 2001, sections 2.1 to 2.3.
Authors' code: none published.

Deviations and decisions, where the papers are silent:

- The likelihood of a child is its count over its parent's count less one (1996, section 2.2): the occurrence that has
  just been counted has no follower yet. The divisor is at least one.
- The longest context predicts first, and each file is predicted only once.
- Siblings are ordered by count; on a tie the one that reached the count first comes first.
- A new node has a count of 1. No node deeper than `order` is kept, so a model of order 2 predicts from the last file
  only.
- A full partition is halved once for each node that it cannot take: all counts are halved and rounded down, and nodes
  with a count of zero are dropped, with their descendants and any context there, except for the first-order node.
"""

from misspenalty.prefetch.predictors.registry import MAX_FILES, Parameter, Reference

ORDER = Parameter("order", 2, "depth of the deepest nodes, that is, length of the longest sequence", 1, 1024)
PARTITION = Parameter("partition", 64, "maximum number of nodes in the partition of a file", 1, 2**20)
THRESHOLD = Parameter("threshold", 0.1, "smallest likelihood at which a file is predicted", 0, 1, float)


class Node:
    """A sequence of files and how often it was seen."""

    def __init__(self, file, parent, depth):
        self.file, self.parent, self.depth = file, parent, depth
        self.count = 1
        self.children = []  # the most frequent first

    @property
    def first(self):
        """Root of the partition."""
        return self if self.parent is None else self.parent.first

    @property
    def alive(self):
        """Whether the node is still in the trie."""
        return self.parent is None or (self in self.parent.children and self.parent.alive)

    def size(self):
        """Count this node and its descendants."""
        return 1 + sum(child.size() for child in self.children)

    def child(self, file):
        """Return the child for `file`, or None if there is none."""
        return next((child for child in self.children if child.file == file), None)

    def add(self, file):
        """Add a child for `file`, and return it."""
        self.children.append(Node(file, self, self.depth + 1))
        return self.children[-1]

    def recur(self):
        """Increment the count, and keep the siblings in order."""
        self.count += 1
        if self.parent:
            siblings = self.parent.children
            siblings.remove(self)
            place = next((i for i, other in enumerate(siblings) if other.count < self.count), len(siblings))
            siblings.insert(place, self)

    def halve(self):
        """Halve the counts of this node and its descendants, and drop children whose count becomes zero."""
        self.count //= 2
        for child in self.children:
            child.halve()
        self.children = [child for child in self.children if child.count]


class ContextReference(Reference):
    """Base class of the context models' definitions."""

    one_node = chained = False

    def __init__(self, order, threshold, most=None, partition=0, corrected=1, product=0, longest=0):
        self.order, self.threshold, self.partition = order, threshold, partition
        self.most = float("inf") if most is None else most
        self.corrected, self.product, self.longest = corrected, product, longest
        self.roots = {}  # first-order nodes by file
        self.contexts = []  # current nodes of the walks, the longest context first

    def access(self, file):
        """Process an event; return the files predicted to follow it."""
        self._learn(file)
        return self._predict()

    def _learn(self, file):
        before, self.contexts = self.contexts, []
        for context in before:
            child = context.child(file) if context.alive else None
            if child:
                child.recur()
                self.contexts.append(child)
            elif context.alive and self._make_room(context.first) and context.alive:
                child = context.add(file)
                if not self.one_node:
                    self.contexts.append(child)
        if file in self.roots:
            self.roots[file].recur()
        else:
            self.roots[file] = Node(file, None, 1)
        self.contexts = [node for node in (*self.contexts, self.roots[file]) if node.alive and node.depth < self.order]

    def _make_room(self, root):
        if self.partition and root.size() >= self.partition:
            root.halve()
        return not self.partition or root.size() < self.partition

    def _predict(self):
        predicted = []
        for context in self.contexts:
            if self._follow(context, predicted) and self.longest:
                break
        return predicted

    def _follow(self, node, predicted):
        """Add the files likely after `node` and, if `chained`, after its most likely child, and so on.

        Return whether any file was likely.
        """
        seen, along, any_likely = max(node.count - 1, 1), 1.0, False
        while node.children:
            likely = [child for child in node.children if along * (child.count / seen) >= self.threshold]
            for child in likely:
                any_likely = True
                if child.file not in predicted:
                    if len(predicted) == self.most:
                        return True
                    predicted.append(child.file)
            if not likely or not self.chained:
                break
            node = likely[0]
            if self.product:
                along *= node.count / seen
            seen = max(node.count - self.corrected, 1)
        return any_likely


__all__ = ["MAX_FILES", "ORDER", "PARTITION", "THRESHOLD", "ContextReference", "Node"]
