"""Implement the kernel of the context models, which context.py defines.

A trie of sequences of files is cut into partitions: each is a first-order node with its descendants, in one block of
memory. Siblings are in a list, the highest count first, so that likely children are found at once and prediction ends
at the first unlikely one.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from misspenalty._kernel cimport grown
from misspenalty.prefetch.predictors._predictor cimport Predictor, file_t

cdef enum:
    NOTHING = -1                    # no node
    FIRST = 4                       # number of nodes first allocated for a partition
    MOST_NODES = 0x3FFFFFFF         # maximum number of nodes in a partition


cdef struct node_t:                 # takes 16 bytes, as in the paper; nodes are numbered within their partition
    file_t file                     # last file of the node's sequence
    uint32_t count                  # number of times that the sequence has been seen, halved occasionally
    int32_t child                   # its most frequent child
    int32_t next                    # its next sibling, which is no more frequent


cdef struct partition_t:
    node_t* nodes                   # the first-order node, then its descendants
    uint32_t used                   # number of nodes; 0 = the file has not been seen
    uint32_t room                   # number of nodes for which there is room


cdef struct context_t:
    file_t first                    # file of the walk's first event, in whose partition the walk is
    int32_t node                    # current node of the walk; NOTHING = the walk has ended
    int64_t birth                   # number of the walk's first event, from 1


cdef class ContextModel(Predictor):
    """Kernel of all context models; a `partition` of 0 means no limit, and only EPCM sets `one_node` and `chained`."""

    cdef partition_t* partitions    # partition of each file
    cdef context_t* contexts        # live contexts, the longest first
    cdef Py_ssize_t live            # number of live contexts
    cdef node_t* halved             # buffer for the partition that is being halved
    cdef int32_t* moved             # by node: where halving puts it; NOTHING = it is dropped
    cdef int32_t kept               # number of nodes in `halved`
    cdef uint32_t partition         # maximum number of nodes in a partition
    cdef bint limited               # whether a full partition is halved
    cdef uint32_t order             # depth of the deepest nodes
    cdef double threshold           # smallest likelihood at which a file is predicted
    cdef bint one_node              # whether a walk ends where it makes a node (EPCM)
    cdef bint chained               # whether prediction continues from likely children (EPCM)
    cdef bint corrected             # whether a node's own creation is subtracted from its count along the chain
    cdef bint product               # whether likelihoods are multiplied along the chain
    cdef bint longest               # whether only the longest context that can predict anything predicts
    cdef readonly int64_t nodes_live    # number of nodes in the trie
    cdef readonly int64_t halvings  # number of halvings of partitions
    cdef readonly int64_t ignored   # number of nodes not made, for lack of room or because a halving removed the parent

    def __cinit__(self, files, order, threshold, most=None, partition=0, one_node=False, chained=False, corrected=1,
                  product=0, longest=0):
        self.order, self.threshold = order, threshold
        self.limited, self.partition = partition > 0, partition or MOST_NODES
        self.one_node, self.chained, self.corrected = one_node, chained, corrected
        self.product, self.longest = product, longest
        self.partitions = <partition_t*>self.allocate(files, sizeof(partition_t))
        self.contexts = <context_t*>self.allocate(order, sizeof(context_t))
        if self.limited:
            self.halved = <node_t*>self.allocate(self.partition, sizeof(node_t))
            self.moved = <int32_t*>self.allocate(self.partition, sizeof(int32_t))

    def __dealloc__(self):
        cdef Py_ssize_t i
        if self.partitions != NULL:
            for i in range(self.files):
                free(self.partitions[i].nodes)

    @property
    def memory(self):
        """Bytes of the nodes in the trie, 16 each."""
        return self.nodes_live * sizeof(node_t)

    def size_of(self, file_t file):
        """Return the number of nodes in the partition of `file`."""
        self.check_unused()
        if file >= <file_t>self.files:
            raise IndexError(f"file {file}; expected an id below {self.files}")
        return self.partitions[file].used

    def count(self, sequence):
        """Return the count of a sequence of files; 0 if it has no node."""
        cdef const node_t* nodes
        cdef int32_t node = 0
        self.check_unused()
        if not len(sequence) or not 0 <= sequence[0] < self.files or not self.partitions[sequence[0]].used:
            return 0
        nodes = self.partitions[sequence[0]].nodes
        for file in sequence[1:]:
            node = nodes[node].child
            while node != NOTHING and nodes[node].file != file:
                node = nodes[node].next
            if node == NOTHING:
                return 0
        return nodes[node].count

    cdef int access(self, file_t file) except -1 nogil:
        self.renew()
        self.learn(file)
        self.predict()
        return 0

    cdef inline int learn(self, file_t file) except -1 nogil:
        cdef context_t* context
        cdef Py_ssize_t i, kept = 0
        for i in range(self.live):
            context = &self.contexts[i]
            if context.node != NOTHING and not self.step(context, file):
                context.node = NOTHING
        for i in range(self.live):
            context = &self.contexts[i]
            if context.node != NOTHING and self.events - context.birth + 1 < self.order:
                self.contexts[kept] = context[0]
                kept += 1
        self.live = kept
        if self.partitions[file].used:
            self.partitions[file].nodes[0].count += 1
        else:
            self.take(file, file)
        if self.order > 1:
            context = &self.contexts[self.live]
            context.first, context.node, context.birth = file, 0, self.events
            self.live += 1
        return 0

    cdef inline bint step(self, context_t* context, file_t file) except -1 nogil:
        """Let a walk follow an event; return whether the walk continues."""
        cdef int32_t child = self.counted(self.partitions[context.first].nodes, context.node, file)
        cdef bint known = child != NOTHING
        if not known:
            if not self.make_room(context.first):
                return False
            if context.node == NOTHING:
                self.ignored += 1                   # the halving removed the context itself
                return False
            child = self.append(context.first, context.node, file)
        context.node = child
        return known or not self.one_node

    cdef inline int32_t counted(self, node_t* nodes, int32_t parent, file_t file) noexcept nogil:
        """Count the child for `file`, move it before all less frequent siblings, and return it (or NOTHING)."""
        cdef int32_t* link = &nodes[parent].child
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

    cdef inline int32_t append(self, file_t first, int32_t parent, file_t file) except -2 nogil:
        """Add a child of `parent`, last of its siblings, with a count of 1."""
        cdef int32_t node = self.take(first, file)
        cdef node_t* nodes = self.partitions[first].nodes
        cdef int32_t* link = &nodes[parent].child
        while link[0] != NOTHING:
            link = &nodes[link[0]].next
        link[0] = node
        return node

    cdef inline int32_t take(self, file_t first, file_t file) except -2 nogil:
        """Make a node in the partition of `first`, without children or siblings."""
        cdef partition_t* partition = &self.partitions[first]
        cdef node_t* nodes
        cdef uint32_t room
        if partition.used == partition.room:
            if partition.room >= MOST_NODES:
                with gil:
                    raise MemoryError(f"file {first} has {partition.room} nodes; limit the partitions or the order")
            room = min(2 * partition.room + FIRST, self.partition)
            partition.nodes = <node_t*>grown(partition.nodes, room, sizeof(node_t), b"nodes of a partition")
            partition.room = room
        nodes = &partition.nodes[partition.used]
        nodes.file, nodes.count = file, 1
        nodes.child = nodes.next = NOTHING
        partition.used += 1
        self.nodes_live += 1
        return partition.used - 1

    cdef inline bint make_room(self, file_t first) noexcept nogil:
        """Halve the partition of `first` if it is full, and return whether it has room for a node."""
        if not self.limited or self.partitions[first].used < self.partition:
            return True
        self.halvings += 1
        self.halve(first)
        if self.partitions[first].used < self.partition:
            return True
        self.ignored += 1
        return False

    cdef void halve(self, file_t first) noexcept nogil:
        """Halve the counts of a partition, and drop nodes that reach zero."""
        cdef partition_t* partition = &self.partitions[first]
        cdef int32_t i
        memset(self.moved, 0xFF, partition.used * sizeof(int32_t))
        self.kept = 0
        self.keep(partition.nodes, 0)
        self.nodes_live += self.kept - <int32_t>partition.used
        partition.used = self.kept
        memcpy(partition.nodes, self.halved, partition.used * sizeof(node_t))
        for i in range(self.live):
            if self.contexts[i].first == first and self.contexts[i].node != NOTHING:
                self.contexts[i].node = self.moved[self.contexts[i].node]

    cdef int32_t keep(self, const node_t* nodes, int32_t node) noexcept nogil:
        """Append a node and then its remaining descendants to `halved`; return the node's place there."""
        cdef int32_t place = self.kept, child = nodes[node].child
        cdef int32_t* link = &self.halved[place].child
        self.kept += 1
        self.moved[node] = place
        self.halved[place].file, self.halved[place].count = nodes[node].file, nodes[node].count >> 1
        self.halved[place].child = self.halved[place].next = NOTHING
        while child != NOTHING and nodes[child].count > 1:      # its later siblings are no more frequent
            link[0] = self.keep(nodes, child)
            link = &self.halved[link[0]].next
            child = nodes[child].next
        return place

    cdef inline void predict(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.live):
            if self.number == self.most:
                return
            if self.follow(&self.contexts[i]) and self.longest:
                return

    cdef inline bint follow(self, const context_t* context) noexcept nogil:
        """Emit the files likely after a context and, if `chained`, after its most likely child, and so on.

        Return whether any file was likely.
        """
        cdef const node_t* nodes = self.partitions[context.first].nodes
        cdef int32_t node = context.node, child = nodes[node].child
        cdef double seen, along = 1, likelihood, corrected = 1
        cdef bint predicts = False
        while child != NOTHING:
            seen = max(<double>nodes[node].count - corrected, 1.0)
            likelihood = along * (nodes[child].count / seen)
            if likelihood < self.threshold:
                return predicts
            predicts = True
            node = child
            while child != NOTHING and along * (nodes[child].count / seen) >= self.threshold:
                if self.stamps[nodes[child].file] != self.stamp and self.put(nodes[child].file):
                    return True
                child = nodes[child].next
            if not self.chained:
                return True
            if self.product:
                along = likelihood
            corrected = self.corrected
            child = nodes[node].child
        return predicts

    cdef inline bint put(self, file_t file) noexcept nogil:
        """Predict a file that is not yet predicted (`emit` inlined); return whether the list is then full."""
        if self.number == self.most:
            return True
        self.stamps[file] = self.stamp
        self.predicted[self.number] = file
        self.number += 1
        return self.number == self.most
