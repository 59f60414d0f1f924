"""Run OO7's traversals on a client cache; the program's activation records refer to every object in use."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty._kernel cimport Kernel
from misspenalty_studies.hac.objects._cache cimport ObjectCache
from misspenalty_studies.hac.objects._format cimport ENTRY, USAGE, class_of, reference_of, word
from misspenalty_studies.hac.objects._oo7 cimport (
    BASE,
    BASE_PRIVATE,
    COMPLEX_CHILDREN,
    COMPOSITE_PARTS,
    COMPOSITE_ROOT,
    COMPOSITE_TYPE,
    COMPOSITE_USED_PRIVATE,
    COMPOSITE_USED_SHARED,
    CONNECTION_TO,
    CONNECTION_TYPE,
    ID,
    MODULE_ROOT,
    PART_FROM,
    PART_TO,
    PART_TYPE,
    PART_X,
    PART_Y,
)

cdef enum:                          # what a traversal does at each composite part
    ROOTS = 0                       # T6: only its root part
    ALL = 1                         # T1: every atomic part
    HALF = 2                        # T1-: half of them
    PLUS = 3                        # T1+: every object except the document
    SWAP_ROOT = 4                   # T2a: every atomic part, and swap x and y of the root part
    SWAP_ALL = 5                    # T2b: every atomic part, and swap x and y of each
    ITERATIVE = 6                   # T1 with a list of parts to visit instead of recursion
    HALF_CALLS = 7                  # T1-, but it follows all links of the parts that it visits


cdef class Traversals(Kernel):
    """Runs OO7's operations on one cache."""

    cdef ObjectCache cache
    cdef uint32_t* visited          # by part id: visit in which the part was marked
    cdef uint32_t visit             # number of the current visit to a composite part
    cdef int64_t parts              # parts of the database
    cdef uint32_t half              # parts after which T1- stops
    cdef uint32_t left              # parts that are left until T1- stops
    cdef bint stopped               # whether T1- has stopped in the current visit
    cdef uint32_t* waiting          # table entries of parts to visit
    cdef Py_ssize_t room            # capacity of `waiting`, entries
    cdef int kind                   # kind of the current traversal, from ROOTS to HALF_CALLS
    cdef int64_t read               # checksum of what was read

    def __cinit__(self, ObjectCache cache not None, int64_t parts, uint32_t half, Py_ssize_t room):
        self.cache, self.parts, self.half = cache, parts, half
        self.uses(cache)
        self.visited = <uint32_t*>self.allocate(parts, sizeof(uint32_t))
        self.room = room
        self.waiting = <uint32_t*>self.allocate(room, sizeof(uint32_t))

    def hold(self, uint32_t oref):
        """Add a reference from the program itself to an object; return the object's table entry, or 0 on failure."""
        self.check_unused()
        return self.cache.hold(oref)

    def traverse(self, uint32_t module, int kind):
        """Run a static traversal from a module's entry; return its count (see `Program.run`), or -1 if it failed."""
        cdef int64_t* record
        cdef uint8_t* thing
        cdef int64_t done = -1
        self.kind = kind
        with self, nogil:
            record = self.cache.push()
            thing = self.cache.at(module)
            if record != NULL and thing != NULL:
                record[0] = <int64_t>thing
                thing = self.cache.follow(thing + 4 * MODULE_ROOT)
                if thing != NULL:
                    done = self.assembly(thing)
                self.cache.pop()
        return done

    def descend(self, uint32_t module, const uint8_t[::1] choices, int kind):
        """Run one operation of a dynamic traversal: follow a path to a composite part and visit this part.

        `choices` has the index of the child at each level, and of the composite part at the end.
        """
        cdef int64_t done
        self.kind = kind
        with self, nogil:
            done = self.path(module, &choices[0], choices.shape[0])
        return done

    def walk(self, uint32_t start, const uint32_t[::1] steps):
        """Walk from any object: step s follows the current object's reference s, modulo the number of its references.

        If the object has no references, or if reference s is null, the walk returns to its start. Return the number
        of objects visited, or -1 if the walk failed.
        """
        cdef int64_t met = 0
        with self, nogil:
            met = self.wander(start, &steps[0] if steps.shape[0] else NULL, steps.shape[0])
        return met

    @property
    def checksum(self):
        """Sum of the values that the traversals read, modulo 2**64."""
        return <object>self.read

    # --- the tree

    cdef int64_t assembly(self, uint8_t* me) noexcept nogil:
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* array
        cdef uint8_t* child
        cdef int64_t done = 0, more
        cdef uint32_t i, n, base
        if record == NULL:
            return -1
        record[0] = <int64_t>me
        base = class_of(word(me)) == BASE
        array = self.cache.follow(me + 4 * (BASE_PRIVATE if base else COMPLEX_CHILDREN))
        if array == NULL:
            return -1
        record = self.record()
        record[1] = <int64_t>array
        n = word(array + 4)
        for i in range(n):
            child = self.cache.follow(array + 8 + 4 * i)
            if child == NULL:
                return -1
            more = self.composite(child) if base else self.assembly(child)
            if more < 0:
                return -1
            done += more
        self.cache.pop()
        return done

    cdef int64_t path(self, uint32_t module, const uint8_t* choices, Py_ssize_t n) noexcept nogil:
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* thing = self.cache.at(module)
        cdef int64_t done
        cdef Py_ssize_t i
        if record == NULL or thing == NULL:
            return -1
        record[0] = <int64_t>thing
        thing = self.cache.follow(thing + 4 * MODULE_ROOT)
        for i in range(n):
            if thing == NULL:
                return -1
            record = self.cache.push()
            if record == NULL:
                return -1
            record[0] = <int64_t>thing
            thing = self.cache.follow(thing + 4 * (BASE_PRIVATE if i == n - 1 else COMPLEX_CHILDREN))
            if thing == NULL:
                return -1
            self.record()[1] = <int64_t>thing
            thing = self.cache.follow(thing + 8 + 4 * choices[i])
        if thing == NULL:
            return -1
        done = self.composite(thing)
        for i in range(n + 1):
            self.cache.pop()
        return done

    cdef inline int64_t* record(self) noexcept nogil:
        """Return the newest activation record; the stack may have moved since the record was pushed."""
        return self.cache.stack + self.cache.stack_top - self.cache.activation

    # --- a composite part and its graph

    cdef int64_t composite(self, uint8_t* me) noexcept nogil:
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* root
        cdef int64_t done
        if record == NULL:
            return -1
        record[0] = <int64_t>me
        self.visit += 1
        self.left = self.half
        self.stopped = False
        if self.kind == PLUS and self.read_composite(me) < 0:
            return -1
        root = self.cache.follow(me + 4 * COMPOSITE_ROOT)
        if root == NULL:
            return -1
        if self.kind == ROOTS:
            self.read += word(root + 4 * ID)
            done = 1
        else:
            done = self.iterate(root) if self.kind == ITERATIVE else self.part(root)
            if done < 0:
                return -1
            if self.kind == SWAP_ROOT:
                done = 1
        self.cache.pop()
        return done

    cdef int read_composite(self, uint8_t* me) noexcept nogil:
        # Each read may fetch, so the order matters: `or` preserves it, but C does not specify the order within a sum.
        if self.touch(me, COMPOSITE_TYPE) < 0 or self.touch(me, COMPOSITE_PARTS) < 0:
            return -1
        if self.touch(me, COMPOSITE_USED_PRIVATE) < 0 or self.touch(me, COMPOSITE_USED_SHARED) < 0:
            return -1
        return 0

    cdef int touch(self, uint8_t* me, uint32_t field) noexcept nogil:
        """Read the object to which a field refers."""
        cdef uint8_t* thing
        if self.cache.failed:
            return -1
        thing = self.cache.follow(me + 4 * field)
        if thing == NULL:
            return -1
        self.read += word(thing + 4)
        return 0

    cdef int64_t part(self, uint8_t* me) noexcept nogil:
        """Visit a part and, depth first, the unmarked parts that it leads to; return the number of parts visited."""
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* array
        cdef uint8_t* link
        cdef uint8_t* other
        cdef int64_t done = 1, more
        cdef uint32_t i, n
        if record == NULL:
            return -1
        record[0] = <int64_t>me
        self.visited[word(me + 4 * ID)] = self.visit
        self.operate(me)
        self.left -= 1
        if self.kind == HALF and self.left == 0:
            self.stopped = True
            self.cache.pop()
            return 1
        if self.kind == PLUS and (self.touch(me, PART_TYPE) < 0 or self.touch(me, PART_FROM) < 0):
            return -1
        array = self.cache.follow(me + 4 * PART_TO)
        if array == NULL:
            return -1
        self.record()[1] = <int64_t>array
        n = word(array + 4)
        for i in range(n):
            link = self.cache.follow(array + 8 + 4 * i)
            if link == NULL:
                return -1
            self.record()[2] = <int64_t>link
            if self.kind == PLUS and self.touch(link, CONNECTION_TYPE) < 0:
                return -1
            other = self.cache.follow(link + 4 * CONNECTION_TO)
            if other == NULL:
                return -1
            if self.visited[word(other + 4 * ID)] == self.visit or (self.kind == HALF_CALLS and self.left == 0):
                continue
            more = self.part(other)
            if more < 0:
                return -1
            done += more
            if self.stopped:
                break
        self.cache.pop()
        return done

    cdef int64_t iterate(self, uint8_t* root) noexcept nogil:
        """Visit all parts without recursion, with one activation record and a list of the parts that were seen but not
        yet visited; return the number of parts visited."""
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* me
        cdef uint8_t* array
        cdef uint8_t* link
        cdef uint8_t* other
        cdef int64_t done = 0
        cdef Py_ssize_t left = 0
        cdef uint32_t index, i
        if record == NULL:
            return -1
        left = self.wait_for(root, left)
        while left:
            left -= 1
            index = self.waiting[left]
            me = self.cache.at(index)
            if me == NULL:
                return -1
            record[0] = <int64_t>me
            self.cache.release(index)
            if self.visited[word(me + 4 * ID)] == self.visit:
                continue
            self.visited[word(me + 4 * ID)] = self.visit
            self.operate(me)
            done += 1
            array = self.cache.follow(me + 4 * PART_TO)
            if array == NULL:
                return -1
            record[1] = <int64_t>array
            i = word(array + 4)
            while i:  # from last to first: the list is a stack, so the first is visited next
                i -= 1
                link = self.cache.follow(array + 8 + 4 * i)
                if link == NULL:
                    return -1
                record[2] = <int64_t>link
                other = self.cache.follow(link + 4 * CONNECTION_TO)
                if other == NULL:
                    return -1
                if self.visited[word(other + 4 * ID)] != self.visit:
                    left = self.wait_for(other, left)
        self.cache.pop()
        return done

    cdef inline Py_ssize_t wait_for(self, uint8_t* part, Py_ssize_t left) noexcept nogil:
        """Append a part to the list and return the new length; an added reference keeps the table entry in use."""
        cdef uint32_t index = word(part) & ENTRY
        self.cache.refer(index)
        self.waiting[left] = index
        return left + 1

    cdef inline void operate(self, uint8_t* me) noexcept nogil:
        cdef uint32_t x = word(me + 4 * PART_X), y = word(me + 4 * PART_Y)
        self.read += x + 2 * y  # the weights differ so that swaps change the checksum
        if self.kind == SWAP_ALL or (self.kind == SWAP_ROOT and self.left == self.half):
            (<uint32_t*>(me + 4 * PART_X))[0] = y
            (<uint32_t*>(me + 4 * PART_Y))[0] = x
            (<uint32_t*>me)[0] |= USAGE
            self.cache.modify(me)

    # --- any graph

    cdef int64_t wander(self, uint32_t start, const uint32_t* steps, Py_ssize_t n) noexcept nogil:
        cdef int64_t* record = self.cache.push()
        cdef uint8_t* thing = self.cache.at(start)
        cdef uint8_t* field
        cdef int64_t met = 1
        cdef Py_ssize_t i
        if record == NULL or thing == NULL:
            return -1
        for i in range(n):
            record[0] = <int64_t>thing
            field = reference_of(self.cache.classes, thing, steps[i])
            thing = self.cache.at(start) if field == NULL else self.cache.follow(field)
            if thing == NULL:
                return -1
            self.read += word(thing + 4)
            met += 1
        self.cache.pop()
        return met
