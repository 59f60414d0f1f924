"""Turn the tracer's lines into events: which process did what to which file. This needs only a recording, no tracer."""

import posixpath
from dataclasses import dataclass, field
from typing import ClassVar

from tracing import CaptureError

PAGE = 4096
FOLDER = 0o040000  # the type bits of a folder's mode
SLACK = 100_000  # ns by which two clocks that are read one after the other may differ
DESCRIPTOR_CALLS = {0: "read", 17: "read", 19: "read", 1: "write", 18: "write", 20: "write", 77: "truncate"}
NAMED_CALLS = {
    4: "stat", 6: "stat", 21: "stat", 89: "stat", 262: "stat", 267: "stat", 269: "stat", 332: "stat", 439: "stat",
    59: "exec", 76: "truncate", 87: "unlink", 263: "unlink", 82: "rename", 264: "rename", 316: "rename", 80: "chdir",
    2: "open", 85: "open", 257: "open",
}  # fmt: skip
RENAMES, CREAT, OPENAT = {82, 264, 316}, 85, 257
FORKS, LISTS, POSITIONED, VECTORS = {56, 57, 58, 435}, {78, 217}, {17, 18}, {19, 20}
CLOSE, MMAP, WAIT4, FCHDIR, PRCTL, UNLINKAT = 3, 9, 61, 81, 157, 263
O_CREAT, O_TRUNC, O_APPEND = 0o100, 0o1000, 0o2000
AT_FDCWD, AT_REMOVEDIR, MAP_SHARED = 0xFFFFFF9C, 0x200, 1
CREATED, TRUNCATED, APPEND, SHARED = 4, 8, 16, 8  # flags of an open, except SHARED, which is a flag of a map
ACCESS = (1, 2, 3, 3)  # 1 for reading plus 2 for writing, indexed by the two low bits of an open's flags
KINDS = ("fork", "exec", "interp", "open", "create", "read", "write", "mmap", "fault", "stat", "list", "truncate",
         "unlink", "rename", "close", "wait", "exit")  # fmt: skip


@dataclass
class Process:
    """The state of one process while its lines are decoded; processor times are in ns."""

    number: int
    parent: int  # number of the parent; -1 for the root of a step
    step: int
    cwd: str
    start: int  # start on the monotonic clock, ns
    live: bool  # whether its events are recorded; for a root, only from its exec on
    last: int  # time of its last event, ns
    program: str = ""
    clock: int = 0  # processor time that has been accounted for
    left_out: int = 0  # excluded processor time: touch.c, work before the first exec, corrections of the clock
    marked: bool = False  # whether touch.c is running
    touched: list = field(
        default_factory=list
    )  # time, clock, path and page of each fault that is not an event yet, as it may belong to a call
    folders: dict[int, int] = field(default_factory=dict)  # inodes of the folders that it has opened, by descriptor
    hiding: int = -1  # clock at the start of the current sequence of left-out events; -1 outside one
    exiting: int = 0  # clock when the process began to exit
    end: int = 0
    cpu_us: int = 0
    status: int = 0


@dataclass
class Call:
    """A recorded system call."""

    number: int
    begin: int
    end: int
    cpu: tuple[int, int]
    result: int
    arguments: list[int]
    file: tuple[int, ...] | None = None  # mode, inode, size and position of the file of its descriptor
    name: str | None = None
    folder: int = 0  # inode of the folder that the name is relative to; 0 for the working folder
    second: tuple[int, str] | None = None  # in a rename, the new folder and name


@dataclass
class Event:
    """An event, which becomes a row of the table; `time` is in ns."""

    time: int
    process: int
    kind: str
    path: str | None
    offset: int = 0
    length: int = 0
    asked: int = 0
    other: int | str = -1
    error: int = 0
    compute_us: int = 0
    system_us: int = 0


class Namespace:
    """The files to which names and inodes refer at one moment of the recording."""

    def __init__(self, rows):
        self.links, self.inodes, self.sizes, self.folders = {}, {}, {}, set()
        self.add(rows)

    def add(self, rows):
        for inode, kind, path, what in rows:
            if kind == "l":
                self.links[path] = what
            else:
                self.inodes[inode] = path
                if kind == "d":
                    self.folders.add(path)
                else:
                    self.sizes[path] = what

    def forget(self, tops):
        """Forget the inodes, sizes and links of everything below the folders `tops`, before they are described anew."""
        below = tuple(f"{top.rstrip('/')}/" for top in tops)
        self.inodes = {inode: path for inode, path in self.inodes.items() if not path.startswith(below)}
        self.sizes = {path: size for path, size in self.sizes.items() if not path.startswith(below)}
        self.links = {path: target for path, target in self.links.items() if not path.startswith(below)}

    def resolve(self, name, cwd, last=True):
        """Return the path that `name` means in folder `cwd`, following links (in the last part only if `last`)."""
        todo = [part for part in posixpath.join(cwd, name).split("/") if part not in ("", ".")][::-1]
        done, followed = "/", 0
        while todo:
            part = todo.pop()
            if part == "..":
                done = posixpath.dirname(done)
                continue
            here = posixpath.join(done, part)
            if here in self.links and (todo or last) and followed < 40:
                followed += 1
                target = self.links[here]
                done = "/" if target.startswith("/") else done
                todo += [piece for piece in target.split("/") if piece not in ("", ".")][::-1]
            else:
                done = here
        return done

    def create(self, path, inode):
        self.inodes[inode] = path
        self.sizes[path] = 0

    def remove(self, path):
        """Remove a name. Its inode is still mapped to it, because processes may have the file open."""
        self.sizes.pop(path, None)

    def rename(self, old, new):
        self.sizes[new] = self.sizes.pop(old, 0)
        for inode, path in self.inodes.items():
            if path == new:
                del self.inodes[inode]
                break
        for inode, path in self.inodes.items():
            if path == old:
                self.inodes[inode] = new
                break


def is_regular(file):
    return file[0] & 0o170000 == 0o100000


class Decoder:
    """A reader of the lines of one run, which fills `events` and `processes`.

    Parameters
    ----------
    names : Namespace
        The namespace before the run.
    interpreter : callable
        ``interpreter(path) -> str | None``: the ELF interpreter of a program.
    hidden : str
        Path of the library whose own files and time are left out.
    """

    def __init__(self, names, interpreter, hidden):
        self.names, self.interpreter, self.hidden = names, interpreter, hidden
        self.processes: list[Process] = []
        self.events: list[Event] = []
        self.alive: dict[int, Process] = {}  # the running processes, by process id
        self.gone: dict[int, int] = {}  # numbers of the processes that have ended, by process id
        self.slips = 0  # number of corrections of a clock
        self.renaming: tuple[Process, Call] | None = None  # a rename whose new name has not been read yet

    # Lines -----------------------------------------------------------------------------------------------------------

    def start(self, identity, step, folder, time):
        """Begin a step's root process."""
        self.alive[identity] = Process(len(self.processes), -1, step, folder, time, False, time)
        self.processes.append(self.alive[identity])

    def line(self, text):
        """Process one line.

        Raises
        ------
        CaptureError
            The line is not one of the probe's, or contradicts the others.
        """
        kind, _, rest = text.partition(" ")
        try:
            self.LINES[kind](self, rest)
        except (KeyError, ValueError, IndexError, AttributeError) as error:
            raise CaptureError(f"{text[:200]!r} does not fit ({type(error).__name__}: {error})") from error

    def _fork(self, rest):
        parent, child, time = map(int, rest.split())
        above = self.alive[parent]
        self.alive[child] = Process(len(self.processes), above.number, above.step, above.cwd, time, above.live, time)
        self.alive[child].program = above.program
        self.alive[child].folders = dict(above.folders)
        self.processes.append(self.alive[child])

    def _exec(self, rest):
        identity, begin, cpu_begin, cpu, inode, name = rest.split(" ", 5)
        process = self.alive[int(identity)]
        if not process.live:  # ignore what the gate's child did before its exec
            process.live, process.left_out, process.start, process.last = True, int(cpu), int(begin), int(begin)
        process.program = self.names.resolve(name, process.cwd)
        times = self._around_faults(process, int(begin), (int(cpu_begin), int(cpu)))
        self._add(process, times, "exec", process.program, length=self.names.sizes.get(process.program, 0))
        image = self.names.inodes[int(inode)]
        linker = self.interpreter(image)
        for path in (image if image != process.program else None, linker and self.names.resolve(linker, "/")):
            if path:
                self._add(process, (int(begin), (0, 0)), "interp", path, length=self.names.sizes[path])

    def _fault(self, rest):
        identity, time, cpu, inode, page = map(int, rest.split())
        process = self.alive[identity]
        if process.live and not process.marked:
            process.touched.append((time, cpu, self.names.inodes[inode], page))

    def _call(self, rest):
        self._take(*self._numbers(rest.split()))

    def _call_on_file(self, rest):
        words = rest.split()
        process, call = self._numbers(words[:11])
        call.file = tuple(map(int, words[11:]))
        self._take(process, call)

    def _call_on_name(self, rest):
        words = rest.split(" ", 12)
        process, call = self._numbers(words[:11])
        call.folder, call.name = int(words[11]), words[12]
        if call.number in RENAMES:
            self.renaming = process, call
        else:
            self._take(process, call)

    def _new_name(self, rest):
        _, folder, name = rest.split(" ", 2)
        process, call = self.renaming
        call.second = int(folder), name
        self._take(process, call)

    def _opened(self, rest):
        words = rest.split(" ", 14)
        process, call = self._numbers(words[:11])
        call.file, call.name = tuple(map(int, words[11:14])), words[14]
        if call.number == OPENAT and call.arguments[0] & 0xFFFFFFFF != AT_FDCWD:
            call.folder = process.folders[call.arguments[0] & 0xFFFFFFFF]
        if call.file[0] & 0o170000 == FOLDER:
            process.folders[call.result] = call.file[1]
        self._take(process, call)

    def _numbers(self, words):
        identity, number, begin, end, cpu_begin, cpu_end, result, *arguments = map(int, words)
        return self.alive[identity], Call(number, begin, end, (cpu_begin, cpu_end), result, arguments)

    def _exit(self, rest):
        identity, time, cpu, status = map(int, rest.split())
        process = self.alive[identity]
        process.end, process.exiting, process.status = time, cpu, status

    def _gone(self, rest):
        identity, cpu = map(int, rest.split())
        process = self.alive.pop(identity)
        self.gone[identity] = process.number
        if process.live:
            self._around_faults(process, process.end, (process.exiting, cpu))
            self._add(process, (process.end, (process.exiting, cpu)), "exit", None, other=process.status >> 8 & 255)

    LINES: ClassVar = {
        "F": _fork, "E": _exec, "P": _fault, "S": _call, "T": _call_on_file, "N": _call_on_name, "R": _new_name,
        "O": _opened, "X": _exit, "Z": _gone,
    }  # fmt: skip

    def finish(self):
        """Sort the events of a run after its last line, when all processes must have ended."""
        if self.alive:
            raise CaptureError(f"{len(self.alive)} processes did not end")
        self.events.sort(key=lambda event: event.time)

    # Calls -----------------------------------------------------------------------------------------------------------

    def _around_faults(self, process, begin, cpu):
        """Add the faults before a call; return its times, with processor time only up to the first fault within it."""
        within = [fault for fault in process.touched if fault[0] >= begin]
        for fault in process.touched[: len(process.touched) - len(within)]:
            self._touch(process, fault)
        process.touched = within
        return begin, (cpu[0], within[0][1] if within else cpu[1])

    def _touch(self, process, fault):
        time, cpu, path, page = fault
        self._add(process, (time, (cpu, cpu)), "fault", path, page * PAGE, PAGE)

    def _add(self, process, times, kind, path, offset=0, length=0, asked=0, other=-1, error=0):
        """Add an event unless its file is the hidden library, and account for the processor time up to its end."""
        time, (cpu_begin, cpu_end) = times
        slip = cpu_begin - process.left_out - process.clock - (time - process.last) - SLACK
        if slip > 0:  # more processor time than elapsed time: the tracer missed a switch
            process.left_out += slip
            self.slips += 1
        begin = max(process.clock, cpu_begin - process.left_out)
        end = max(begin, cpu_end - process.left_out)
        if path == self.hidden:  # the library is being loaded: leave out its events and the time between them
            process.hiding = begin if process.hiding < 0 else process.hiding
            process.left_out += end - process.hiding
            return
        process.hiding, process.last = -1, time
        micro = [clock // 1000 for clock in (process.clock, begin, end)]
        process.clock, process.cpu_us = end, micro[2]
        compute, system = micro[1] - micro[0], micro[2] - micro[1]
        self.events.append(
            Event(time, process.number, kind, path, offset, length, asked, other, error, compute, system)
        )

    def _take(self, process, call):
        """Process a call once all its lines have been read."""
        if call.number == PRCTL:
            self._around_faults(process, call.end, call.cpu)
            process.marked = call.arguments[1] == 0
            process.left_out += -call.cpu[0] if process.marked else call.cpu[1]
        elif process.live and not process.marked:
            self._ordinary(process, call)

    def _ordinary(self, process, call):
        """Process a call of a recorded process outside touch.c."""
        times = self._around_faults(process, call.begin, call.cpu)
        if call.number in DESCRIPTOR_CALLS:
            self._on_descriptor(process, call, times)
        elif call.number in NAMED_CALLS:
            self._on_name(process, call, times)
        elif call.number in FORKS and call.result > 0:
            child = self.alive.get(call.result)  # a vfork returns after the child's exec or end
            self._add(process, times, "fork", None, other=child.number if child else self.gone[call.result])
        elif call.number == WAIT4 and call.result > 0:
            self._add(process, (call.end, call.cpu), "wait", None, other=self.gone[call.result])
        elif call.number == FCHDIR and call.result == 0:
            process.cwd = self.names.inodes[call.file[1]]
        elif call.number == CLOSE:
            if call.result == 0 and is_regular(call.file):
                self._add(process, times, "close", self.names.inodes[call.file[1]])
        elif call.number == MMAP and is_regular(call.file) and call.result > 0:
            length, protection, offset = call.arguments[1:]
            access = protection & 7 | (SHARED if protection >> 8 & MAP_SHARED else 0)
            self._add(process, times, "mmap", self.names.inodes[call.file[1]], offset, length, other=access)
        elif call.number in LISTS and call.result >= 0:
            self._add(process, times, "list", self.names.inodes[call.file[1]], length=call.result)

    def _on_descriptor(self, process, call, times):
        """Process a read, write or truncate of a descriptor."""
        if not is_regular(call.file) or call.result < 0:
            return
        kind, moved = DESCRIPTOR_CALLS[call.number], call.result
        _, inode, _, position = call.file
        path = self.names.inodes[inode]
        if kind == "truncate":
            self._add(process, times, kind, path, length=call.arguments[1])
            return
        offset = call.arguments[3] if call.number in POSITIONED else position - moved
        asked = moved if call.number in VECTORS else call.arguments[2]
        self._add(process, times, kind, path, offset, moved, asked)

    def _on_name(self, process, call, times):
        """Process a call that names one or two files."""
        kind = NAMED_CALLS[call.number]
        if not call.name:
            return  # ignore a stat of a descriptor
        path = self._meant(process, call.folder, call.name, last=kind not in ("unlink", "rename"))
        error = -call.result if call.result < 0 else 0
        if kind == "chdir":
            process.cwd = process.cwd if error else path
        elif kind == "open":
            self._open(process, call, times, path, error)
        elif kind == "rename":
            new = self._meant(process, *call.second, last=False)
            self._add(process, times, kind, path, other=new, error=error)
            if not error:
                self.names.rename(path, new)
        elif kind == "unlink" and call.number == UNLINKAT and call.arguments[2] & AT_REMOVEDIR:
            return
        else:
            length = call.arguments[1] if kind == "truncate" else 0
            self._add(process, times, kind, path, length=length, error=error)
            if kind == "unlink" and not error:
                self.names.remove(path)

    def _meant(self, process, folder, name, last=True):
        return self.names.resolve(name, self.names.inodes[folder] if folder else process.cwd, last)

    def _open(self, process, call, times, path, error):
        flags = O_CREAT | O_TRUNC | 1 if call.number == CREAT else call.arguments[2 if call.number == OPENAT else 1]
        if error:
            self._add(process, times, "open", path, other=ACCESS[flags & 3], error=error)
            return
        file = call.file
        if not is_regular(file):
            return
        there = path in self.names.sizes
        how = ACCESS[flags & 3] | (TRUNCATED if there and flags & O_TRUNC else 0) | (APPEND if flags & O_APPEND else 0)
        if not there:
            how |= CREATED
            self.names.create(path, file[1])
        elif self.names.inodes.get(file[1]) != path:
            raise CaptureError(f"{path} was opened, but its inode is that of {self.names.inodes.get(file[1])}")
        self._add(process, times, "open" if there else "create", path, length=file[2], other=how)
