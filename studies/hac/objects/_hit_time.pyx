"""Measure hit time: one traversal is compiled bare, and then with one more mechanism of an object cache at a time.

In the bare program, references contain the addresses of objects. Each further step adds one mechanism to the previous
step, in the order of the enum that ends with `STEPS`; the additional time of a step is the part of hit time that its
mechanism causes. All steps run on a copy of a cache's contents in which the references have been rewritten for the
step.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from misspenalty._kernel cimport Kernel
from misspenalty_studies.hac.objects._cache cimport BUFFER, FREE, ObjectCache, ticks
from misspenalty_studies.hac.objects._format cimport ARRAY, INSTALLED, PAGE, PAGE_HEADER, STRING, SWIZZLED, class_of, size_of, word
from misspenalty_studies.hac.objects._oo7 cimport MODULE_ROOT  # also includes the macros that the C code needs
from misspenalty_studies.hac.objects._table cimport entry_t

cdef extern from *:
    """
    typedef struct {
        uint8_t *memory;              /* frames */
        const uint32_t *entries;      /* of the indirection table, 4 words each, the address first */
        uint32_t *read_set;           /* of the transaction: a bit for each entry */
        uint32_t *visited;            /* by part id: number of the visit in which the part was marked */
        uint32_t visit;
        int roots;                    /* whether only the root part of each composite part is visited */
        int64_t read;                 /* sum of what was read */
        volatile int failed;          /* exception that a call has raised; 0 = none */
    } visitor_t;

    /* step n has the first n of these mechanisms; step 0 has none */
    enum { BARE, INDIRECTION, SWIZZLING, RESIDENCY, USAGE_BITS, CONCURRENCY, EXCEPTIONS, STEPS };

    #define WORD(thing, w) (((uint32_t *)(thing))[w])
    #define RAISED(step) ((step) >= EXCEPTIONS && p->failed)

    /* `step` is a constant wherever this is inlined */
    static inline __attribute__((always_inline)) uint8_t *reach(visitor_t *p, const uint8_t *field, const int step) {
        uint32_t reference = *(const uint32_t *)field, address = reference, index;
        uint8_t *thing;
        if (step >= SWIZZLING) {
            if (!(reference & SWIZZLED)) {
                p->failed = 1;
                return p->memory;
            }
            reference &= ~SWIZZLED;
        }
        if (step >= INDIRECTION)
            address = p->entries[4 * (size_t)reference];
        if (step >= RESIDENCY && address == 0) {
            p->failed = 1;
            return p->memory;
        }
        thing = p->memory + address;
        if (step >= USAGE_BITS)
            WORD(thing, 0) |= USED;
        if (step >= CONCURRENCY) {
            index = WORD(thing, 0) & ENTRY;
            if (!(p->read_set[index >> 5] >> (index & 31) & 1))
                p->read_set[index >> 5] |= 1u << (index & 31);
        }
        return thing;
    }

    #define TRAVERSAL(step)                                                                                          \\
    static int64_t part_##step(visitor_t *p, uint8_t *me) {                                                          \\
        uint32_t i, n;                                                                                               \\
        int64_t done = 1;                                                                                            \\
        uint8_t *array, *link, *other;                                                                               \\
        p->visited[WORD(me, ID)] = p->visit;                                                                         \\
        p->read += WORD(me, PART_X) + 2 * WORD(me, PART_Y);                                                          \\
        array = reach(p, me + 4 * PART_TO, step);                                                                    \\
        if (RAISED(step)) return -1;                                                                                 \\
        n = WORD(array, 1);                                                                                          \\
        for (i = 0; i < n; i++) {                                                                                    \\
            link = reach(p, array + 8 + 4 * i, step);                                                                \\
            if (RAISED(step)) return -1;                                                                             \\
            other = reach(p, link + 4 * CONNECTION_TO, step);                                                        \\
            if (RAISED(step)) return -1;                                                                             \\
            if (p->visited[WORD(other, ID)] == p->visit) continue;                                                   \\
            done += part_##step(p, other);                                                                           \\
            if (RAISED(step)) return -1;                                                                             \\
        }                                                                                                            \\
        return done;                                                                                                 \\
    }                                                                                                                \\
    static int64_t composite_##step(visitor_t *p, uint8_t *me) {                                                     \\
        uint8_t *root;                                                                                               \\
        p->visit++;                                                                                                  \\
        root = reach(p, me + 4 * COMPOSITE_ROOT, step);                                                              \\
        if (RAISED(step)) return -1;                                                                                 \\
        if (!p->roots) return part_##step(p, root);                                                                  \\
        p->read += WORD(root, ID);                                                                                   \\
        return 1;                                                                                                    \\
    }                                                                                                                \\
    static int64_t assembly_##step(visitor_t *p, uint8_t *me) {                                                      \\
        int base = (WORD(me, 0) >> 22 & 15) == BASE;                                                                 \\
        uint32_t i, n;                                                                                               \\
        int64_t done = 0;                                                                                            \\
        uint8_t *child, *array = reach(p, me + 4 * (base ? BASE_PRIVATE : COMPLEX_CHILDREN), step);                  \\
        if (RAISED(step)) return -1;                                                                                 \\
        n = WORD(array, 1);                                                                                          \\
        for (i = 0; i < n; i++) {                                                                                    \\
            child = reach(p, array + 8 + 4 * i, step);                                                               \\
            if (RAISED(step)) return -1;                                                                             \\
            done += base ? composite_##step(p, child) : assembly_##step(p, child);                                   \\
            if (RAISED(step)) return -1;                                                                             \\
        }                                                                                                            \\
        return done;                                                                                                 \\
    }                                                                                                                \\
    static int64_t module_##step(visitor_t *p, uint8_t *me) {                                                        \\
        uint8_t *root = reach(p, me + 4 * MODULE_ROOT, step);                                                        \\
        return RAISED(step) ? -1 : assembly_##step(p, root);                                                         \\
    }

    TRAVERSAL(0) TRAVERSAL(1) TRAVERSAL(2) TRAVERSAL(3) TRAVERSAL(4) TRAVERSAL(5) TRAVERSAL(6)

    static int64_t (*const traversals[STEPS])(visitor_t *, uint8_t *) = {
        module_0, module_1, module_2, module_3, module_4, module_5, module_6};
    """
    ctypedef struct visitor_t:
        uint8_t* memory
        const uint32_t* entries
        uint32_t* read_set
        uint32_t* visited
        uint32_t visit
        int roots
        int64_t read
        int failed
    const int INDIRECTION
    const int SWIZZLING
    const int STEPS
    ctypedef int64_t (*traversal_t)(visitor_t*, uint8_t*) noexcept nogil
    const traversal_t* traversals


cdef class Ladder(Kernel):
    """Runs a traversal of a cache's contents with the mechanisms of any step.

    Parameters
    ----------
    cache : ObjectCache
        Cache with everything that the traversals read; `prepare` copies its frames.
    module : int
        Table entry of the module.
    parts : int
        Number of parts of the database.
    """

    cdef ObjectCache cache
    cdef visitor_t visitor
    cdef uint8_t* memory
    cdef uint32_t module

    def __cinit__(self, ObjectCache cache not None, uint32_t module, int64_t parts):
        self.cache, self.module = cache, module
        self.uses(cache)
        self.memory = <uint8_t*>self.allocate(cache.frame_count, PAGE)
        self.visitor.visited = <uint32_t*>self.allocate(parts, sizeof(uint32_t))
        self.visitor.read_set = <uint32_t*>self.allocate(cache.entry_end // 32, sizeof(uint32_t))
        self.visitor.memory = self.memory
        self.visitor.entries = <const uint32_t*>cache.entries

    def prepare(self, int step):
        """Copy the cache's frames, with references in the form that the step reads."""
        cdef Py_ssize_t frame
        cdef uint32_t offset
        cdef uint8_t* thing
        with self, nogil:
            memcpy(self.memory, self.cache.memory, self.cache.frame_count * <Py_ssize_t>PAGE)
            if step < SWIZZLING:
                for frame in range(self.cache.frame_count):
                    if self.cache.frames[frame].kind in (FREE, BUFFER):
                        continue
                    offset = PAGE_HEADER
                    while offset < self.cache.frames[frame].end:
                        thing = self.memory + frame * PAGE + offset
                        if word(thing) & INSTALLED:
                            self.rewrite(thing, step)
                        offset += size_of(self.cache.classes, thing)

    cdef void rewrite(self, uint8_t* thing, int step) noexcept nogil:
        cdef uint32_t* words = <uint32_t*>thing
        cdef uint32_t kind = class_of(words[0]), i, bits = self.cache.classes[kind].references
        if kind == ARRAY:
            for i in range(2, 2 + words[1]):
                words[i] = self.form(words[i], step)
        elif kind != STRING:
            for i in range(1, self.cache.classes[kind].size // 4):
                if bits >> i & 1:
                    words[i] = self.form(words[i], step)

    cdef uint32_t form(self, uint32_t reference, int step) noexcept nogil:
        if not reference & SWIZZLED:
            return reference  # the traversal never follows this reference
        reference &= ~SWIZZLED
        return reference if step >= INDIRECTION else self.cache.entries[reference].address

    def run(self, int step, bint roots):
        """Run the traversal with one step; return (parts or roots visited, sum of the values read)."""
        cdef int64_t done
        cdef uint8_t* module = self.memory + self.cache.entries[self.module].address
        if not 0 <= step < STEPS:
            raise ValueError(f"step is {step}; expected 0 to {STEPS - 1}")
        self.visitor.roots = roots
        self.visitor.read = self.visitor.failed = 0
        memset(self.visitor.read_set, 0, (self.cache.entry_end // 32 + 1) * sizeof(uint32_t))
        with self, nogil:
            done = traversals[step](&self.visitor, module)
        return done, self.visitor.read


def now():
    """Return the counter that the caches' timers read, in ticks."""
    return ticks()
