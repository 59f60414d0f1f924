"""Define the file client in readable code; `client.py` explains it, and the kernel must agree with this definition."""

from types import SimpleNamespace

from misspenalty_studies.epcm.file_client.client import CALLS, COMPONENTS, HIT, MISS, PAGE_BYTES, PARTIAL
from studies.epcm.tests.reference.block_layer import AT_WRITEBACK, BlockLayerReference, Entry


class Inode(SimpleNamespace):
    """A file's data: its size (None = it does not exist), its entries, and when the engine began to prefetch it."""


class FileClientReference(BlockLayerReference):
    """One processor that replays calls.

    Parameters
    ----------
    workload : FileWorkload
    machine : dict
        Costs and sizes, from `ClientMachine.kernel`.
    drive : Drive, optional
        None = the fixed-service device.
    """

    def __init__(self, workload, machine, drive=None):
        self.workload = workload
        placed = zip(workload.lba.tolist(), workload.sectors.tolist(), strict=True)
        entries = [Entry(lba, sectors, i >= workload.metadata) for i, (lba, sectors) in enumerate(placed)]
        super().__init__(entries, machine, drive)
        self.inodes = [
            Inode(size=None, entries=entries[first : first + pages])
            for first, pages in zip(workload.first.tolist(), workload.pages.tolist(), strict=True)
        ]
        self.inode_of = list(self.inodes)

    def begin_cold(self):
        """Empty all caches."""
        self.forget()
        self.inode_of = list(self.inodes)

    def keep(self, named):
        """Keep metadata in memory without taking a frame."""
        for path in named:
            for block in self.workload.walks[self.workload.walk_at[path] : self.workload.walk_at[path + 1]].tolist():
                if self.holds(self.entries[block], "buffer"):
                    self.release(self.entries[block], "buffer")
                self.entries[block].buffer = True

    def warm(self, resident):
        """Load the files and their metadata into memory, as long as there is room."""
        for path in resident:
            blocks = self.workload.walks[self.workload.walk_at[path] : self.workload.walk_at[path + 1]].tolist()
            for kind, entries in (
                ("buffer", [self.entries[block] for block in blocks]),
                ("page", self.inode_of[path].entries),
            ):
                for entry in entries:
                    if self.unused and not getattr(entry, kind):
                        self.hold(entry, kind, 0)
                        setattr(entry, kind, True)
                        setattr(entry, f"{kind}_used", True)

    def run(self, calls, sizes, known, start, predictor=None):
        """Replay calls; return (latency, class, copies) of each read call."""
        self.spent, self.copied, self.leads = dict.fromkeys(COMPONENTS, 0), dict.fromkeys(COMPONENTS, 0), []
        self.foretold, self.event = [], 0
        self.right, self.predicted, self.predicted_at = [], [], None
        self.files_ahead = self.pages_ahead = self.pages_used = 0
        self.count_from_zero()
        self.predictor, self.began, self.latest = predictor, start, start
        self.path_of = dict(enumerate(known.tolist()))
        for path, inode in enumerate(self.inode_of):
            inode.awaited, inode.ahead = False, None
            inode.size = None if sizes[path] < 0 else int(sizes[path])
            inode.stored = -(-(inode.size or 0) // PAGE_BYTES)
        for entry in self.entries:
            entry.ahead = False
        self.window = {}
        self.schedule(start + self.machine.interval, AT_WRITEBACK, None)
        reads, now = [], start
        for record in calls:
            call = SimpleNamespace(**{name: record[name].item() for name in calls.dtype.names})
            kind = CALLS[call.kind]
            now += call.gap
            self.spent["compute"] += call.gap
            self.advance(now)
            if call.file >= 0:
                self.inode_of[call.path].awaited = False
                if self.predicted[:1] == [call.file]:
                    self.right.append(now - self.predicted_at)
            if kind == "read":
                began, copied = now, self.copied["copy_read"]
                now, outcome = self._read(call, now)
                reads.append((now - began, outcome, self.copied["copy_read"] - copied))
            elif kind != "compute":
                now = getattr(self, f"_{kind}")(call, now)
            if call.file >= 0:
                self.path_of[call.file] = call.path
                if predictor:
                    now = self._look_ahead(call.file, now)
        self.ended = now
        self.settle(now)
        return reads

    # calls

    def _exec(self, call, now):
        now = self._walk(call.path, True, now, "wait_exec")
        inode = self.inode_of[call.path]
        self._note_size(inode, call.length)
        if inode.entries and call.length:
            now = self._need(inode, 0, 1, now, "wait_exec")
        return now

    _interpreter = _exec

    def _open(self, call, now):
        now = self._walk(call.path, True, now)
        self._note_size(self.inode_of[call.path], call.length)
        self.window.pop(call.path, None)
        return now

    def _create(self, call, now):
        now = self._walk(call.path, False, now)
        inode = self.entries[self.workload.walks[self.workload.walk_at[call.path + 1] - 1]]
        if not (inode.buffer or inode.coming):
            began = now
            now = self.hold(inode, "buffer", now)
            self.spent["wait_open"] += now - began
            inode.buffer = True
        now = self._cut(self.inode_of[call.path], 0, now)
        self.inode_of[call.path].size = 0
        self.window.pop(call.path, None)
        return now

    def _lookup(self, call, now):
        return self._walk(call.path, True, now)

    def _search(self, call, now):
        return self._walk(call.path, False, now)

    def _truncate(self, call, now):
        now = self._walk(call.path, True, now)
        now = self._cut(self.inode_of[call.path], -(-call.offset // PAGE_BYTES), now)
        self.inode_of[call.path].size = call.offset
        return now

    def _unlink(self, call, now):
        now = self._cut(self.inode_of[call.path], 0, self._walk(call.path, True, now))
        self.inode_of[call.path].size = None
        return now

    def _rename(self, call, now):
        now = self._walk(call.path, True, now)
        if call.path != call.asked:
            replaced = self.inode_of[call.asked]
            now = self._cut(replaced, 0, now)
            replaced.size = None
            self.inode_of[call.asked], self.inode_of[call.path] = self.inode_of[call.path], replaced
        return now

    def _fault(self, call, now):
        inode = self.inode_of[call.path]
        end = min(-(-(call.offset + call.length) // PAGE_BYTES), len(inode.entries))
        for page in range(call.offset // PAGE_BYTES, end):
            now = self._need(inode, page, self.machine.cluster, now, "wait_fault")
        return now

    def _write(self, call, now):
        inode, began = self.inode_of[call.path], now
        if not call.length:
            return now
        inode.size = max(inode.size or 0, call.offset + call.length)
        kind = "buffer" if self.machine.separate else "page"
        end = min(call.offset + call.length, len(inode.entries) * PAGE_BYTES)
        for entry in inode.entries[call.offset // PAGE_BYTES : -(-end // PAGE_BYTES)]:
            if kind == "page" and entry.coming:
                now = self.wait(entry, now)
            if not getattr(entry, kind):
                now = self.hold(entry, kind, now)
                setattr(entry, kind, True)
            setattr(entry, f"{kind}_used", True)
            entry.stored = True
            self.soil(entry, now)
        self.spent["wait_other"] += now - began
        return now

    # helper methods of the calls

    @staticmethod
    def _note_size(inode, size):
        """Set the recorded size; if the file has grown, assume that pages that no recorded call wrote are on disk."""
        if size > (-1 if inode.size is None else inode.size):
            inode.stored = -(-size // PAGE_BYTES)
        inode.size = size

    @staticmethod
    def _on_disk(inode, page):
        return page < inode.stored or inode.entries[page].stored

    def _walk(self, path, found, now, waits="wait_open"):
        blocks = self.workload.walks[self.workload.walk_at[path] : self.workload.walk_at[path + 1]].tolist()
        for entry in (self.entries[block] for block in (blocks if found else blocks[:-1])):
            if not entry.buffer:
                began = now
                if not entry.coming:
                    now = self.hold(entry, "buffer", now)
                    self.submit(entry, False, now)
                now = self.wait(entry, now)
                self.spent[waits] += now - began
            entry.buffer_used = True
        return now

    def _bring(self, inode, page, now, copies):
        """Fill a page from its buffer, or else request it from the disk (brw_page); a hole needs neither."""
        entry, began, machine = inode.entries[page], now, self.machine
        now = self.hold(entry, "page", now)
        self.spent["wait_other"] += now - began
        if not entry.buffer:
            if self._on_disk(inode, page):
                self.submit(entry, False, now)
            else:
                entry.page = True
            return now
        size = min(max((inode.size or 0) - page * PAGE_BYTES, 1), PAGE_BYTES)
        blocks = -(-size // machine.block)
        entry.page = entry.buffer_used = True
        time = blocks * machine.block * machine.buffer_kilobyte // 1024
        self.spent[copies] += time
        self.copied[copies] += blocks
        return now + time

    def _use(self, entry, now, waits):
        began = now
        if entry.coming:
            now = self.wait(entry, now)
        self.spent[waits] += now - began
        self.pages_used += entry.ahead
        entry.ahead, entry.page_used = False, True
        return now

    def _need(self, inode, page, cluster, now, waits):
        """Load a page into the page cache, with its cluster if it has to be fetched."""
        self._note_use(inode, now)
        if not self._has(inode, page):
            first = page - page % cluster
            size = max(-(-(inode.size or 0) // PAGE_BYTES), page + 1)
            for other in range(first, min(first + cluster, len(inode.entries), size)):
                if not self._has(inode, other):
                    now = self._bring(inode, other, now, "copy_fault")
            if not self._has(inode, page):
                now = self._bring(inode, page, now, "copy_fault")
        return self._use(inode.entries[page], now, waits)

    @staticmethod
    def _has(inode, page):
        return inode.entries[page].page or inode.entries[page].coming

    def _note_use(self, inode, now):
        if inode.ahead is not None:
            self.leads.append(now - inode.ahead)
            if self.event <= inode.due:
                self.foretold.append(now - inode.ahead)
            inode.ahead = None

    def _cut(self, inode, page, now):
        began, inode.ahead = now, None
        inode.stored = min(inode.stored, page, len(inode.entries))
        for entry in inode.entries[page:]:
            now = self.wait(entry, now)
            self.clean(entry)
            for kind in ("page", "buffer"):
                if self.holds(entry, kind):
                    self.release(entry, kind)
            entry.stored = False
        self.spent["wait_other"] += now - began
        return now

    # reading

    def _read(self, call, now):
        """Perform a read call (do_generic_file_read)."""
        inode, machine, at, outcome = self.inode_of[call.path], self.machine, call.offset, HIT
        ahead = self.window.setdefault(call.path, SimpleNamespace(end=0, length=0, most=0, window=0))
        least, most = machine.least_ahead * PAGE_BYTES, machine.most_ahead * PAGE_BYTES
        start = at - at % PAGE_BYTES
        inode.size = max(inode.size or 0, at + call.length if call.length else 0)
        in_window = start <= ahead.end <= start + ahead.window
        if not in_window:
            ahead.end = ahead.length = ahead.most = ahead.window = 0
        if at + call.asked <= PAGE_BYTES // 2:
            ahead.most = 0
        else:
            needed = (at + call.asked) // PAGE_BYTES * PAGE_BYTES - start
            ahead.most = min(max(ahead.most, needed, least if in_window else 0), most)
        now += machine.call_time
        self.spent["read_call"] += machine.call_time
        end = min(at + call.length, len(inode.entries) * PAGE_BYTES)
        if at < end:
            self._note_use(inode, now)
        while at < end:
            page = at // PAGE_BYTES
            entry = inode.entries[page]
            if entry.coming:
                outcome = max(outcome, PARTIAL)
            elif not entry.page:
                outcome = max(outcome, MISS if not entry.buffer and self._on_disk(inode, page) else HIT)
                if in_window:
                    ahead.most = min(ahead.most, least)
                now = self._bring(inode, page, now, "copy_read")
            now = self._read_ahead(inode, ahead, page * PAGE_BYTES, entry.coming, in_window, now)
            if not self._has(inode, page):
                now = self._bring(inode, page, now, "copy_read")
            now = self._use(entry, now, "wait_read")
            part = min(end - at, PAGE_BYTES - at % PAGE_BYTES)
            self.spent["read_call"] += part * machine.kilobyte // 1024
            now += part * machine.kilobyte // 1024
            at += part
        return now, outcome

    def _read_ahead(self, inode, ahead, at, locked, in_window, now):
        """Request pages after the one at `at` (generic_file_readahead)."""
        end, most = ahead.end // PAGE_BYTES * PAGE_BYTES, 0
        asynchronous = not locked and in_window and ahead.most and end >= PAGE_BYTES and at <= end <= at + ahead.length
        if locked and (not ahead.length or not at < end <= at + ahead.length):
            end = at
            most = ahead.most if end < inode.size else 0
            ahead.window, ahead.length = 0, PAGE_BYTES
            if not most:
                ahead.end = at + PAGE_BYTES
                ahead.window = PAGE_BYTES
        elif asynchronous:
            end -= PAGE_BYTES
            if end < inode.size:
                most = ahead.most + PAGE_BYTES
                ahead.window, ahead.length = ahead.length, 0
        asked = -(-most // PAGE_BYTES) * PAGE_BYTES
        for page in range(end // PAGE_BYTES + 1, (end + asked) // PAGE_BYTES + 1):
            inside = page * PAGE_BYTES < inode.size and page < len(inode.entries)
            if inside and not self._has(inode, page):
                now = self._bring(inode, page, now, "copy_read")
        if asked:
            if asynchronous:
                self.unplug(now)
            ahead.length += asked
            ahead.window += ahead.length
            ahead.end = end + asked + PAGE_BYTES
            ahead.most = min(2 * ahead.most, self.machine.most_ahead * PAGE_BYTES)
        return now

    # the prefetch engine

    def _look_ahead(self, file, now):
        self.event += 1
        now += self.machine.engine_time
        self.spent["engine"] += self.machine.engine_time
        self.predicted, self.predicted_at = list(self.predictor.access(file)), now
        for place, other in enumerate(self.predicted, 1):
            if self.path_of[other] >= 0:
                now = self._prefetch(self.path_of[other], place, now)
        self.unplug(now)
        return now

    def _prefetch(self, path, place, now):
        inode = self.inode_of[path]
        size = -(-(inode.size or 0) // PAGE_BYTES)
        if not size or sum(entry.page or entry.coming for entry in inode.entries) >= size:
            return now
        for block in self.workload.walks[self.workload.walk_at[path] : self.workload.walk_at[path + 1]].tolist():
            entry = self.entries[block]
            if not (entry.buffer or entry.coming):
                began = now
                now = self.hold(entry, "buffer", now)
                self.spent["wait_other"] += now - began
                self.submit(entry, False, now)
        some = False
        for page in range(min(size, len(inode.entries), self.machine.most_pages)):
            if not self._has(inode, page):
                now = self._bring(inode, page, now, "copy_ahead")
                inode.entries[page].ahead = some = True
                self.pages_ahead += 1
        if some:
            self.files_ahead += 1
            inode.awaited = True
            if inode.ahead is None:
                inode.ahead, inode.due = now, self.event + place
        return now
