"""Define the client caches in slow, readable code: objects are Python objects, and only list items are moved.

Tests compare the kernels with these references, count by count. Sizes are in bytes; a reference in an object is an oref
until it is loaded, and an `Entry` afterwards.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from misspenalty_studies.hac.objects.cache import COUNTS, ENTRY_BYTES
from misspenalty_studies.hac.objects.format import ARRAY, FIRST_PAGE, OID_BITS, PAGE, PAGE_HEADER, STRING, read_object

FREE, INTACT, MIXED, BUFFER = range(4)
TOP_USAGE = 8


@dataclass(eq=False)
class Thing:
    """A copy of an object in a frame."""

    oref: int
    kind: int
    values: list
    size: int
    refers: list  # positions of the references in `values`
    usage: int = 0
    entry: object = None  # its table entry, once installed
    frame: object = None


@dataclass(eq=False)
class Entry:
    """An entry of the indirection table."""

    oref: int
    thing: object = None  # None = not in the cache
    references: int = 0


@dataclass(eq=False)
class Frame:
    """A page frame."""

    number: int
    kind: int = FREE
    page: int = 0
    things: list = field(default_factory=list)
    used: int = 0
    threshold: int = 0  # threshold T of a candidate
    hot: Fraction = Fraction(0)  # fraction H of hot objects
    entered: int = 0  # fetch at which it became a candidate; 0 = not a candidate
    sequence: int = 0

    @property
    def end(self):
        return PAGE_HEADER + sum(thing.size for thing in self.things)

    @property
    def installed(self):
        return sum(thing.entry is not None for thing in self.things)


class CacheReference:
    """The reference of `misspenalty_studies.hac.objects.cache.ClientCache`; subclasses define how frames are freed."""

    def __init__(self, database, size, *, table=True, activation_words=16):
        self.database, self.size, self.pays_table, self.activation = database, size, table, activation_words
        count = min(size // PAGE, len(database.pages) + 2)
        self.frames = [Frame(i) for i in range(count)]
        self.free = self.frames[::-1]
        self.page_frame, self.table, self.stack = {}, {}, []
        self.buckets = max(size // 128, 16)
        self.tick, self.counts, self.fetched, self.incoming = 0, dict.fromkeys(COUNTS, 0), [], None

    # --- references

    def at(self, entry):
        self.counts["accesses"] += 1
        if entry.thing is None:
            self._bring(entry)
        entry.thing.usage |= TOP_USAGE
        self.touch(entry.thing)
        return entry.thing

    def touch(self, thing):
        """Record an access in the policy's state."""
        self.tick += 1
        thing.frame.used = self.tick

    def follow(self, thing, position):
        reference = thing.values[position]
        if not isinstance(reference, Entry):
            reference = self._find(reference)
            reference.references += 1
            self.counts["swizzled"] += 1
            thing.values[position] = reference
        return self.at(reference)

    def hold(self, oref):
        entry = self._find(oref)
        entry.references += 1
        return entry

    def _find(self, oref):
        if oref not in self.table:
            self.table[oref] = Entry(oref)
            self.counts["entries_made"] += 1
        return self.table[oref]

    def _bring(self, entry):
        page = entry.oref >> OID_BITS
        if page not in self.page_frame:
            self._fetch(page)
        frame = self.page_frame[page]
        (thing,) = [thing for thing in frame.things if thing.oref == entry.oref]
        thing.entry, entry.thing = entry, thing
        self.counts["installed"] += 1

    def _drop(self, entry):
        if entry.references == 0 and entry.thing is None:
            del self.table[entry.oref]
            self.counts["entries_freed"] += 1

    # --- frames

    def _fetch(self, page):
        self.counts["fetches"] += 1
        self.fetched.append(page)
        frame = self.free.pop()
        frame.kind, frame.page, frame.things = INTACT, page, self._load(page)
        for thing in frame.things:
            thing.frame = frame
        self.tick += 1
        frame.used = self.tick
        self.page_frame[page] = self.incoming = frame
        pinned = {thing.frame for record in self.stack for thing in record}
        self.counts["stack_words"] += len(self.stack) * self.activation
        self.prepare()
        while len(self.frames) - len(self.free) >= min(len(self.frames), self._frames_paid_for()):
            self.free_one(pinned)
        self.incoming = None

    def _frames_paid_for(self):
        table = ENTRY_BYTES * len(self.table) + 4 * self.buckets if self.pays_table else 0
        return (self.size - table) // PAGE

    def _load(self, page):
        raw = self.database.pages[page - FIRST_PAGE]
        things = []
        for oid in range(int(raw[4:6].view("uint16")[0])):
            read = read_object(self.database.pages, self.database.classes, page << OID_BITS | oid)
            if read.kind == STRING:
                size, refers, values = 8 + len(read.values), [], read.values
            elif read.kind == ARRAY:
                size, refers, values = 8 + 4 * len(read.values), list(range(len(read.values))), list(read.values)
            else:
                kind = self.database.classes[read.kind]
                size, values = kind.size, list(read.values)
                refers = [i for i, name in enumerate(kind.fields) if name in kind.references]
            things.append(Thing(read.oref, read.kind, values, size + 7 & ~7, refers))
        return things

    def _discard(self, thing):
        self.counts["discarded"] += 1
        thing.entry.thing = None
        self._drop(thing.entry)
        for position in thing.refers:
            if isinstance(thing.values[position], Entry):
                self.counts["references_dropped"] += 1
                thing.values[position].references -= 1
                self._drop(thing.values[position])

    def _evict(self, frame):
        """Discard everything in a frame and free it."""
        for thing in frame.things:
            if thing.entry is not None:
                self._discard(thing)
            else:
                self.counts["dropped"] += 1
        self.counts["frames_compacted"] += 1
        self.counts["whole_evictions"] += 1
        self.counts["page_objects"] += len(frame.things)
        self._give_back(frame)

    def _give_back(self, frame):
        if frame.kind == INTACT:
            del self.page_frame[frame.page]
        frame.kind, frame.things = FREE, []
        self.free.append(frame)
        self.counts["frames_freed"] += 1

    def _victims(self, pinned):
        return [f for f in self.frames if f.kind in (INTACT, MIXED) and f is not self.incoming and f not in pinned]

    def prepare(self):
        """Run the step that the policy takes once per fetch."""

    # --- a program

    def walk(self, oref, steps):
        """Walk as `Program.walk` does."""
        start = self.hold(oref)
        self.stack.append([])
        thing = self.at(start)
        for step in steps:
            self.stack[-1] = [thing]
            position = thing.refers[step % len(thing.refers)] if thing.refers else None
            nowhere = position is None or thing.values[position] == 0
            thing = self.at(start) if nowhere else self.follow(thing, position)
        self.stack.pop()


class FPCReference(CacheReference):
    """Perfect LRU on pages."""

    def free_one(self, pinned):
        self._evict(min(self._victims(pinned), key=lambda f: f.used))


class ClockReference(CacheReference):
    """CLOCK on pages; the table does not count towards the size."""

    def __init__(self, database, size, **common):
        super().__init__(database, size, **common | {"table": False})
        self.hand = 0

    def free_one(self, pinned):
        while True:
            frame = self.frames[self.hand]
            self.hand = (self.hand + 1) % len(self.frames)
            if frame not in self._victims(pinned):
                continue
            if not frame.used:
                break
            frame.used = 0  # a second chance
        self._evict(frame)


class HACReference(CacheReference):
    """HAC: usage values, a candidate set, and compaction."""

    def __init__(self, database, size, *, retention=Fraction(2, 3), scan=3, lifetime=20, secondary=2, **common):
        super().__init__(database, size, **common)
        self.retention, self.scan, self.lifetime = retention, scan, lifetime
        count = len(self.frames)
        self.primary, self.secondary = 0, [(i + 1) * count // (secondary + 1) for i in range(secondary)]
        self.target, self.sequence = None, 0

    def prepare(self):
        self._scan()
        for i, at in enumerate(self.secondary):
            for step in range(self.scan):
                frame = self.frames[(at + step) % len(self.frames)]
                if frame.kind != FREE and frame is not self.incoming:
                    self.counts["frames_looked"] += 1
                    share = Fraction(frame.installed, len(frame.things))
                    if not frame.entered and share < self.retention:
                        self._enter(frame, 0, share)
            self.secondary[i] = (at + self.scan) % len(self.frames)
        for frame in self.frames:
            if self.counts["fetches"] - frame.entered > self.lifetime:
                frame.entered = 0

    def _scan(self):
        found = 0
        for _ in self.frames:
            if found == self.scan:
                break
            frame = self.frames[self.primary]
            if frame.kind != FREE and frame is not self.incoming:
                self._compute_usage(frame)
                found += 1
            self.primary = (self.primary + 1) % len(self.frames)

    def _compute_usage(self, frame):
        for thing in frame.things:
            thing.usage = (thing.usage + 1) >> 1 if thing.entry is not None else 0
        self.counts["frames_scanned"] += 1
        self.counts["objects_scanned"] += len(frame.things)
        for threshold in range(16):
            hot = Fraction(sum(thing.usage > threshold for thing in frame.things), len(frame.things))
            if hot < self.retention:
                self._enter(frame, threshold, hot)
                return

    def _enter(self, frame, threshold, hot):
        self.sequence += 1
        frame.threshold, frame.hot, frame.entered, frame.sequence = (
            threshold,
            hot,
            self.counts["fetches"],
            self.sequence,
        )

    def free_one(self, pinned):
        while True:
            candidates = [frame for frame in self._victims(pinned) if frame.entered]
            while not candidates:
                self._scan()
                candidates = [frame for frame in self._victims(pinned) if frame.entered]
            if self._compact(min(candidates, key=lambda f: (f.threshold, f.hot, -f.sequence))):
                return

    def _compact(self, frame):
        frame.entered = 0
        if self.target is frame:
            self.target = None
        page = frame.kind == INTACT
        if page:
            self.counts["page_objects"] += len(frame.things)
            del self.page_frame[frame.page]
        self.counts["frames_compacted"] += 1
        things, frame.things, frame.kind = frame.things, [], MIXED
        retained, passed, kept_bytes = 0, 0, 0  # bytes passed over so far, and bytes kept in this frame
        for thing in things:
            if thing.entry is None:
                self.counts["dropped"] += 1
            elif thing.usage <= frame.threshold:
                self._discard(thing)
            else:
                retained += 1
                if self.target is not None and self.target.end + thing.size <= PAGE:
                    self.target.things.append(thing)
                    thing.frame = self.target
                    self.counts["bytes_moved"] += thing.size
                else:
                    self.counts["bytes_moved"] += thing.size if passed != kept_bytes else 0
                    frame.things.append(thing)
                    kept_bytes += thing.size
            passed += thing.size
        self.counts["retained"] += retained
        self.counts["page_survivors"] += retained if page else 0
        self.counts["whole_evictions"] += retained == 0
        if not frame.things:
            self._give_back(frame)
            return True
        self.target = frame
        return False
