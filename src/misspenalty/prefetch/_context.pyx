"""Kernel of the context models; the definitions are in context.py.

A trie of sequences of files. A partition is a first-order node with its descendants; siblings stand in a list, the
highest count first, so that likely children are found at once and prediction ends at the first unlikely one.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from misspenalty.prefetch._predictor cimport Predictor, file_t

cdef enum:
    NOTHING = -1                    # no node
    DEAD = 0xFFFFFFFF               # `file` of a node that a purge has freed and nobody has taken yet


cdef struct node_t:                 # 16 bytes, as the paper's
    file_t file                     # last file of the node's sequence
    uint32_t count                  # times the sequence has been seen, halved at times
    int32_t child                   # its most frequent child; NOTHING = none
    int32_t next                    # its next sibling, no more frequent; NOTHING = none; of a free node: the next free


cdef struct context_t:
    int32_t node                    # where the walk stands
    uint32_t depth                  # of that node; 1 = first order
    file_t first                    # file of the walk's first event: whose partition it is in


cdef class ContextModel(Predictor):
    cdef node_t* nodes
    cdef int32_t room               # nodes allocated
    cdef int32_t fresh              # nodes taken since the start; those above have never been used
    cdef int32_t free               # first of the freed nodes; NOTHING = none
    cdef int32_t* roots             # by file: its first-order node; NOTHING = none
    cdef uint32_t* used             # by file: nodes in its partition
    cdef context_t* contexts        # live contexts, the longest first
    cdef context_t* before          # those before the event
    cdef Py_ssize_t live            # live contexts
    cdef Py_ssize_t old             # contexts before the event
    cdef uint32_t partition         # most nodes in a partition; 0 = no limit
    cdef uint32_t order             # depth of the deepest nodes
    cdef double threshold           # smallest likelihood that is predicted
    cdef bint one_node              # a walk ends where it makes a node (EPCM)
    cdef bint chained               # prediction follows likely children (EPCM)
    cdef bint corrected             # along the chain a node's own creation is taken off its count
    cdef bint product               # likelihoods multiply along the chain
    cdef bint longest               # only the longest context that predicts at all does
    cdef readonly int64_t nodes_live    # nodes in the trie
    cdef readonly int64_t halvings  # partitions halved
    cdef readonly int64_t ignored   # nodes not made for want of room

    def __init__(self, files, order, threshold, most=None, partition=0, one_node=False, chained=False, corrected=1,
                 product=0, longest=0):
        self.order, self.threshold, self.partition = order, threshold, partition
        self.one_node, self.chained, self.corrected = one_node, chained, corrected
        self.product, self.longest = product, longest
        self.free = NOTHING
        self.roots = <int32_t*>malloc((files + 1) * sizeof(int32_t))
        self.used = <uint32_t*>calloc(files + 1, sizeof(uint32_t))
        self.contexts = <context_t*>calloc(order + 1, sizeof(context_t))
        self.before = <context_t*>calloc(order + 1, sizeof(context_t))
        if self.roots == NULL or self.used == NULL or self.contexts == NULL or self.before == NULL:
            raise MemoryError(f"no memory for a context model of {files} files")
        memset(self.roots, 0xFF, files * sizeof(int32_t))

    def __dealloc__(self):
        free(self.nodes)
        free(self.roots)
        free(self.used)
        free(self.contexts)
        free(self.before)

    @property
    def memory(self):
        """Bytes of the nodes in the trie, 16 each."""
        return self.nodes_live * sizeof(node_t)

    def size_of(self, file_t file):
        """Nodes in the partition of `file`."""
        if file >= <file_t>self.files:
            raise IndexError(f"file {file}; there are {self.files}")
        return self.used[file]

    def count(self, sequence):
        """How often `sequence` of files is counted; 0 where it has no node."""
        cdef int32_t node = NOTHING
        for depth, file in enumerate(sequence):
            if depth == 0:
                node = self.roots[file] if 0 <= file < self.files else NOTHING
            else:
                node = self.nodes[node].child
                while node != NOTHING and self.nodes[node].file != file:
                    node = self.nodes[node].next
            if node == NOTHING:
                return 0
        return self.nodes[node].count if node != NOTHING else 0

    cdef int access(self, file_t file) except -1 nogil:
        self.renew()
        self.learn(file)
        self.predict()
        return 0

    cdef int learn(self, file_t file) except -1 nogil:
        cdef context_t context
        cdef context_t* swapped = self.before
        cdef int32_t child
        cdef bint known
        cdef Py_ssize_t i
        self.before, self.old = self.contexts, self.live
        self.contexts, self.live = swapped, 0
        for i in range(self.old):
            context = self.before[i]
            if context.node == NOTHING:
                continue
            child = self.counted(context.node, file)
            known = child != NOTHING
            if not known and self.make_room(context.first):
                if self.before[i].node == NOTHING:
                    self.ignored += 1       # the purge took the context itself
                    continue
                child = self.append(context.node, file)
                self.used[context.first] += 1
            if child != NOTHING and context.depth + 1 < self.order and (known or not self.one_node):
                self.enter(child, context.depth + 1, context.first)
        if self.roots[file] == NOTHING:
            self.roots[file] = self.take(file)
            self.used[file] += 1
        else:
            self.nodes[self.roots[file]].count += 1
        if self.order > 1:
            self.enter(self.roots[file], 1, file)
        return 0

    cdef inline void enter(self, int32_t node, uint32_t depth, file_t first) noexcept nogil:
        self.contexts[self.live].node = node
        self.contexts[self.live].depth = depth
        self.contexts[self.live].first = first
        self.live += 1

    cdef inline int32_t counted(self, int32_t parent, file_t file) noexcept nogil:
        """The child for `file`, counted once more and moved before all siblings that are now less frequent."""
        cdef node_t* nodes = self.nodes
        cdef int32_t* link = &nodes[parent].child   # the link that leads to `node`
        cdef int32_t* equal = link                  # the link that leads to the first sibling as frequent as `node`
        cdef int32_t node = link[0]
        while node != NOTHING and nodes[node].file != file:
            link = &nodes[node].next
            if link[0] != NOTHING and nodes[link[0]].count != nodes[node].count:
                equal = link
            node = link[0]
        if node == NOTHING:
            return NOTHING
        nodes[node].count += 1
        if equal != link:
            link[0] = nodes[node].next
            nodes[node].next = equal[0]
            equal[0] = node
        return node

    cdef inline int32_t append(self, int32_t parent, file_t file) except -2 nogil:
        """A new child of `parent`, last of its siblings, counted once."""
        cdef int32_t node = self.take(file)
        cdef int32_t* link = &self.nodes[parent].child
        while link[0] != NOTHING:
            link = &self.nodes[link[0]].next
        link[0] = node
        return node

    cdef inline int32_t take(self, file_t file) except -2 nogil:
        cdef int32_t node = self.free
        cdef node_t* nodes
        if node != NOTHING:
            self.free = self.nodes[node].next
        else:
            if self.fresh == self.room:
                if self.room > 0x3FFFFFFF:
                    with gil:
                        raise MemoryError(f"the trie has {self.room} nodes; limit the partitions or the order")
                nodes = <node_t*>realloc(self.nodes, (2 * <size_t>self.room + 256) * sizeof(node_t))
                if nodes == NULL:
                    with gil:
                        raise MemoryError(f"no memory for {2 * self.room + 256} nodes")
                self.nodes = nodes
                self.room = 2 * self.room + 256
            node = self.fresh
            self.fresh += 1
        self.nodes[node].file = file
        self.nodes[node].count = 1
        self.nodes[node].child = self.nodes[node].next = NOTHING
        self.nodes_live += 1
        return node

    cdef inline bint make_room(self, file_t first) noexcept nogil:
        """Whether the partition of `first` can take a node, after halving it if it is full."""
        cdef Py_ssize_t i
        if not self.partition or self.used[first] < self.partition:
            return True
        self.halvings += 1
        self.nodes[self.roots[first]].count >>= 1
        self.halve(first, &self.nodes[self.roots[first]].child)
        for i in range(self.old):
            if self.before[i].node != NOTHING and self.nodes[self.before[i].node].file == DEAD:
                self.before[i].node = NOTHING
        for i in range(self.live):
            if self.contexts[i].node != NOTHING and self.nodes[self.contexts[i].node].file == DEAD:
                self.contexts[i].node = NOTHING
        if self.used[first] < self.partition:
            return True
        self.ignored += 1
        return False

    cdef void halve(self, file_t first, int32_t* link) noexcept nogil:
        """Halve a list of siblings and what is below them; drop those that come to nothing."""
        cdef int32_t node
        while link[0] != NOTHING:
            node = link[0]
            self.nodes[node].count >>= 1
            if self.nodes[node].count:
                self.halve(first, &self.nodes[node].child)
                link = &self.nodes[node].next
            else:
                link[0] = self.nodes[node].next
                self.drop(first, node)

    cdef void drop(self, file_t first, int32_t node) noexcept nogil:
        """Free a node and all below it."""
        cdef int32_t child = self.nodes[node].child, following
        while child != NOTHING:
            following = self.nodes[child].next
            self.drop(first, child)
            child = following
        self.nodes[node].file = DEAD
        self.nodes[node].next = self.free
        self.free = node
        self.used[first] -= 1
        self.nodes_live -= 1

    cdef inline void predict(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.live):
            if self.contexts[i].node != NOTHING and self.follow(self.contexts[i].node) and self.longest:
                return
            if self.number == self.most:
                return

    cdef inline bint follow(self, int32_t node) noexcept nogil:
        """Emit what is likely after `node`, and with `chained` what is likely after its most likely child, and so on."""
        cdef const node_t* nodes = self.nodes
        cdef const node_t* child
        cdef double seen = max(<double>nodes[node].count - 1, 1.0), along = 1, threshold = self.threshold, likelihood
        cdef double corrected = self.corrected
        cdef bint predicts = False, chained = self.chained, product = self.product
        while nodes[node].child != NOTHING:
            node = nodes[node].child
            child = &nodes[node]
            likelihood = along * (child.count / seen)
            if likelihood < threshold:
                return predicts
            predicts = True
            if not self.note(child.file):
                return predicts
            while child.next != NOTHING:
                child = &nodes[child.next]
                if along * (child.count / seen) < threshold:
                    break
                if not self.note(child.file):
                    return predicts
            if not chained:
                return predicts
            if product:
                along = likelihood
            seen = max(<double>nodes[node].count - corrected, 1.0)
        return predicts

    cdef inline bint note(self, file_t file) noexcept nogil:
        """`emit`, without a call: a chain passes here for every context that foresees it."""
        if self.stamps[file] == self.stamp:
            return self.number < self.most
        if self.number == self.most:
            return False
        self.stamps[file] = self.stamp
        self.predicted[self.number] = file
        self.number += 1
        return True


class FMOCM(ContextModel):
    """All contexts up to the order, without limit."""

    def __init__(self, files, order, threshold, most=None):
        super().__init__(files, order, threshold, most)


class PCM(ContextModel):
    """A partition a file."""

    def __init__(self, files, partition, order, threshold, most=None):
        super().__init__(files, order, threshold, most, partition)


class EPCM(ContextModel):
    """Partitions that grow by a node a recurrence and predict sequences."""

    def __init__(self, files, partition, order, threshold, corrected, product, longest, most=None):
        super().__init__(files, order, threshold, most, partition, True, True, corrected, product, longest)
