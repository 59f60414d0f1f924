"""Refuse a table if the meaning of a column is unclear from its name, until the user states it.

These checks are not part of any format. They consider the names of the columns, and most of them also the first rows.
"""

import re
from collections.abc import Iterator, Sequence

from misspenalty.errors import InputError
from misspenalty.traces.table import OPERATIONS, SECTOR, Table
from misspenalty.traces.vocabulary import (
    ACTION,
    FILES,
    IGNORE,
    NEIGHBOURS,
    SPACE,
    UNITS_OF_SIZE,
    Roles,
    meaning,
    unpunctuated,
)

SHOWN = 3  # number of values that a message shows
WORDS = OPERATIONS.keys() - {"true", "false"}
FLAGS = ("flag", "flags", "mode", "dir")  # names of columns that may hold operations
INDEXES = ("index", "idx", "page")
# Names of columns that may number the parts of an object, and of columns with seconds.
PARTS = ("chunk", "chunk_id", "chunk_index", "blkid", "block_index", "segment", "segment_id", "part_number")
SECONDS = ("sec", "secs", "second", "seconds", "tv_sec", "ts_sec", "time_s", "ts_s")
UNREAD = re.compile(
    r"(?i)(?:time|timestamp|ts|elapsed)[ _(]+(min|minutes?|h|hours?|d|days?|ps|ticks?|cycles?)\)?"
)  # names of columns with times in units that are not supported
ENDS = ("end", "end_lba", "end_sector", "end_offset", "last_lba", "end_block")  # names of columns with ends of requests
NUMBERED = ("block", "blockno", "blocknumber", "blkno")  # unpunctuated names of columns with block numbers or keys
OF_OBJECTS = ("obj", "value", "response")  # beginnings of names of columns with sizes of objects
LONGEST_IN_SECTORS = 1 << 16  # sectors; a larger size is taken to be in bytes
IN_SECTORS = "nsect|(sector|lba)(s(?!ize|z)|cnt|count|$)"  # parts of unpunctuated names of sizes in sectors
BLOCKS = "bl|pa?ge?s|cnt|count"  # parts of names of columns that may count blocks
FRACTIONS = re.compile(r"(tv|ts|time)?(n|u|nano|micro)(s|sec|secs|second|seconds)")
STATUS = re.compile(r"[1-5]\d\d(\.0)?")
KIND = re.compile(r"[A-Za-z][A-Za-z_ -]*")
OUTCOME = re.compile(r"(?i)([a-z]+[_ -])*(hit|miss)")  # what a cache did with a request
OF_DAY = re.compile(r"\s*\d\d:\d\d(:|$)")
THOUSANDS = re.compile(r"\d{1,3}(\.000)+")
# Each entry has the roles of some content, its name in messages, words in the name of a column that suggest it, and the
# form of such a name without punctuation.
TELLING = (
    (("size", "sectors", "count", "repeat"), "size",
     {"size", "sizes", "bytes", "length", "len", "nbytes", "sectors", "nsect", "nsectors", "nblocks", "nblks", "nblk",
      "nlb", "nbyte", "sz", "datasize", "vsize", "osize"},
     r"(n|nr|num|numberof)(blk|block|sector|lba|page)s?|(blk|block|sector|lba|page)s?(cnt|count)|blks|lbas|cnt|bcount|written"
     r"|(?!q|queue|wave|stack|cache|batch|path|url|name)[a-z]+(size|sz|len|length)"),
    (("op", "write", "read", ACTION), "operation",
     {"rw", "rwbs", "iotype", "opcode", "optype", "operation", "iswrite", "isread", "readwrite"},
     r"(api|fop|syscall|function|func)(name|call)?|(op|io|req|request|cmd|command|access|rw)(code|type|kind|flag)|(read|write)flag"),
)  # fmt: skip
# Columns may name devices if their names have a word of DEVICES and, besides such words, only words of BESIDE.
DEVICES = {"disk", "device", "dev", "drive", "volume", "vol", "lun", "unit", "ssd", "hdd", "osd", "vdisk", "vm", "host",
           "server", "node", "machine", "instance", "image", "rbd", "target", "namespace", "devno", "diskno", "part",
           "fs", "filesystem", "mount", "rel", "vmdk", "spa"}  # fmt: skip
# Unless addresses are those of whole disks, these words count like those of DEVICES.
HOLDERS = {"file", "filename", "inode", "container", "object", "blob", "dataset", "database", "dbnode", "space",
           "spcnode", "relnode", "fork", "forknum", "forknumber", "relforknumber", "segment", "extent", "chunk", "zone",
           "stripe", "pvc", "fh", "fd", "gfid", "sst", "sstable", "pool", "objset"}  # fmt: skip
# Unpunctuated names of columns whose values number the pages or blocks of a file, besides NEIGHBOURS.
NUMBERS_OF_PAGES = ("pageid", "pagenumber", "pagenum", "blocknum", "relblocknumber", "blkid")
OF_DISKS = ("lpn", "lpa")  # names of columns with addresses of whole disks
BESIDE = {"id", "no", "nr", "num", "number", "name", "index", "uuid", "logical", "physical", "virtual", "storage",
          "client", "guest", "major", "minor", "cached", "backing"}  # fmt: skip
# Columns may complete a path if their names have a word of HOSTS or QUERIES and otherwise only words of BESIDE_PATHS.
HOSTS = {"host", "domain", "vhost", "site", "sitename", "authority", "server", "servername", "hostname"}
QUERIES = {"query", "querystring", "args"}
STATUSES = {"status", "code", "response"}  # words of names of columns that may hold the status of answers
BESIDE_STATUSES = {"http", "sc", "resp", "return", "result", "reply", "server", "origin", "edge"}
BESIDE_PATHS = {"http", "cs", "x", "s", "request", "req", "uri", "url", "virtual", "header", "name", "id"}
BESIDE_PATHS |= {"string", "str"}
NAMED_PATHS = {"path", "uri", "url"}  # words of names of columns that hold paths, or addresses with their hosts
PATH = re.compile(r"\s*(?:[A-Z]+ +)?/")  # beginning of a path, perhaps after a method
STEPS = ("action", "event", "act", "event_type", "event_name")  # names of columns that say what happens to a request
MOST_KINDS = 20  # a column with more words names something else than kinds of events
BLKTRACE = set("QGMIDCRXUSPTFBA")  # actions of blktrace
Columns = Sequence[Sequence[str]]


def check(table: Table, names: Sequence[str], roles: Roles, columns: Columns, path: object, line: int | None) -> None:
    """Raise an `InputError` if the name and the first values of a column leave its meaning unclear.

    Parameters
    ----------
    table : Table
        The user's description; what it states is not doubted.
    names : sequence of str
    roles : dict
        As `misspenalty.traces.vocabulary.assign` returned them.
    columns : sequence of sequence of str
        The first values of each column.
    path, line
        Where the header is, for the message.
    """
    for what, remedy in _doubts(table, names, roles, columns):
        raise InputError(what, path=path, line=line, remedy=remedy)


def _doubts(table: Table, names: Sequence[str], roles: Roles, columns: Columns) -> Iterator[tuple[str, str]]:
    used = {place for places in roles.values() for place in places}
    used |= {place for place, name in enumerate(names) if left_out(name, place, table)}
    devices = [columns[at] for at in roles.get("device", ())]
    apart = [
        name
        for place, name in enumerate(names)
        if place not in used
        and _may_name_devices(name, names, roles, table)
        and not (words_of(name) <= DEVICES | BESIDE and _follows(columns[place], devices))
    ]
    key = names[roles["block"][0]] if "block" in roles else ""
    seconds = "time_s" in roles or any(name.strip().lower() in SECONDS for name in names)
    of_day = "time" in roles and all(map(OF_DAY.match, columns[roles["time"][0]]))
    for place, name in enumerate(names):
        found = {value.strip() for value in columns[place]}
        if place in used:
            if table.separator == ";" and found and all(map(THOUSANDS.fullmatch, found)):
                yield (
                    f"column {name} ({', '.join(sorted(found)[:SHOWN])}) may use points as thousands separators",
                    "write whole numbers, without separators",
                )
            continue
        if found and all(value.lower() in WORDS for value in found):
            yield (
                f"column {name} holds operations ({', '.join(sorted(found)[:SHOWN])})",
                f"state it with --columns op={name} (columns=…), or leave it out with ignore={name}",
            )
        if name.strip().lower() in FLAGS and found and found <= {"0", "1"}:
            yield (
                f"column {name} ({', '.join(sorted(found))}) may say which requests are writes",
                f"state it with --columns write={name} or read={name} (columns=…), or leave it out with ignore={name}",
            )
        if name.strip().lower() in STEPS and len(found) > 1 and found <= BLKTRACE:
            yield (
                f"column {name} ({', '.join(sorted(found)[:SHOWN])}) names several steps of each request",
                f"keep the rows of one step, or count all rows: --columns ignore={name} (columns=…)",
            )
        elif name.strip().lower() in STEPS and _are_kinds(found):
            known = roles.keys() & {"op", "write", "read"}
            yield (
                f"column {name} ({', '.join(sorted(found)[:SHOWN])}) may say which rows are requests",
                f"keep the rows of requests, or count all rows: --columns ignore={name} (columns=…)"
                if known
                else f"state it with --columns op={name} (columns=…) and --operations, or count all rows:"
                f" ignore={name}",
            )
        if unit := UNREAD.fullmatch(name.strip()):
            yield (
                f"column {name} holds times in a unit that is not read ({unit[1]})",
                f"convert it to seconds or a smaller unit, or leave it out: --columns ignore={name} (columns=…)",
            )
        if FRACTIONS.fullmatch(unpunctuated(name)) and seconds:
            yield (
                f"column {name} may hold the fractions of times",
                f"write each time in one column, such as 7.000500000, or leave it out: --columns ignore={name}"
                " (columns=…)",
            )
        if name.strip().lower() in ENDS and not roles.keys() & {"size", "sectors", "count"}:
            yield (
                f"column {name} may say where a request ends, and no column says how long it is",
                f"replace it with a length (size, sectors, count), or omit it: --columns ignore={name} (columns=…)",
            )
        if name in apart:
            known = [names[at] for at in roles.get("device", ())]
            several, files = len(apart) > 1, known and name.strip().lower() in FILES
            them = "them" if several or known else "it"
            yield (
                f"column{'s' * several} {' and '.join(apart)} may name {'files' if files else 'devices'}, whose"
                " addresses would be mixed",
                f"state {them} with --columns device={'+'.join([*known, *apart])} (columns=…), or leave"
                f" {'them' if several else 'it'} out with ignore={'+'.join(apart)}"
                + (f" if addresses are those of {'+'.join(known)}" if known else ""),
            )
        if name.strip().lower() == "day" and of_day:
            yield (
                f"column {name} may belong to the times of day",
                f"write each time in one column, with its date, or leave it out: --columns ignore={name} (columns=…)",
            )
        of_object = key and not _is_neighbour(key) and "block" not in table.columns
        if name.strip().lower() in PARTS and of_object and all(map(str.isdecimal, found)):
            yield (
                f"column {name} may number the parts of {key}, and equal values of {key} would be one object",
                f"state it with --columns key={key}+{name} (columns=…), or leave it out with ignore={name}",
            )
        if (
            name.strip().lower() in INDEXES
            and "block" in roles
            and "block" not in table.columns
            and key.lower() in FILES
        ):
            files = "+".join([*(names[at] for at in roles.get("device", ())), key])
            yield (
                f"column {name} may number the pages of {key}",
                f"state it with --columns block={name},device={files} (columns=…), or leave it out with ignore={name}",
            )
        if column := _may_complete_paths(name, found, names, roles, columns):
            yield (
                f"column {name} ({', '.join(sorted(found - {'', '-'})[:SHOWN])}) may be part of the address, and equal"
                f" values of {key} would be one object",
                f"state it with --columns {column} (columns=…), or leave it out with ignore={name}",
            )
        if _may_hold_statuses(name, found, roles):
            yield (
                f"column {name} may hold the status of answers, and those with 304 or 206 are not whole objects",
                f"state it with --columns status={name} (columns=…), or leave it out with ignore={name}",
            )
        for telling, what, words, form in TELLING:
            if roles.keys() & set(telling) or not _tells(name, words, form):
                continue
            role = telling[0]
            others = [
                other
                for at, other in enumerate(names)
                if role == "size" and at not in used and other != name and _tells(other, words, form)
            ]
            unit = ""
            adding = f" ({role}={'+'.join([name, *others])} if they add up)" if others else ""
            if role == "size" and roles.keys() & {"offset", "sector"} and re.search(BLOCKS, name.lower()):
                unit = ", and its unit with --size-unit 4KB (or another)"
            yield (
                f"column {name} may hold {what}s, and no column was recognised as the {what}",
                f"state it with --columns {role}={name}{adding} (columns=…){unit}, or leave it out with ignore={name}",
            )
    if "count" in roles and key and not _is_neighbour(key) and "count" not in table.columns:
        name = names[roles["count"][0]]
        yield (
            f"column {name} may count blocks from {key} on, or references to {key}",
            f"--columns count={name} or repeat={name} (columns=…) says which",
        )
    sizes = _numbers(columns, roles.get("size", ()))
    whole_sectors = all(size * (table.size_unit or 1) % SECTOR == 0 for size in sizes)
    if sizes and key and whole_sectors and _may_be_sectors(table, names, roles, columns):
        name = names[roles["size"][0]]
        yield (
            f"column {key} may hold sectors of {SECTOR} bytes at which requests begin, or keys of objects, whose sizes"
            f" {name} gives",
            f"--columns sector={key} or key={key} (columns=…) says which",
        )
    unit, named = table.size_unit, _unit_of(names, roles, "size")
    if "sector" in roles and named is None and unit not in (None, 1, SECTOR) and table.address_unit is None:
        name = names[roles["sector"][0]]
        yield (
            f"column {name} may be in sectors of {SECTOR} bytes, or in units of {unit} bytes as the sizes are",
            "say its unit, --address-unit sectors (or 4KB; address_unit=…)",
        )
    if not sizes or "size" in table.columns:
        return
    if table.size_unit is not None:
        yield from _doubted_offsets(table, names, roles, columns, [size * table.size_unit for size in sizes])
        return
    name, shown = names[roles["size"][0]], ", ".join(str(size) for size in sizes[:SHOWN])
    if _unit_of(names, roles, "size") is not None:
        return
    moved = [size for size in sizes if size]
    full = sum(size % SECTOR == 0 for size in moved)
    if "sector" in roles and (not full or (2 * full < len(moved) and not _says_bytes(name))):
        yield (
            f"column {name} ({shown}) holds {'few' if full else 'no'} whole sectors of {SECTOR} bytes",
            "say its unit, --size-unit sectors (or bytes, or 4KB next to --address-unit; size_unit=…)",
        )
    small = 2 * sum(size < SECTOR for size in sizes) > len(sizes)
    if key and _is_neighbour(key) and not _says_bytes(name) and small:
        yield (
            f"column {name} ({shown}) may be bytes of a block, or a number of blocks",
            f"--columns size={name} or count={name} (columns=…) says which",
        )
    whole = sum(size % SECTOR == 0 for size in sizes)
    of_disk = "offset" in roles and not _says_bytes(name) and not _within_bytes(names, roles)
    of_disk = of_disk and table.address_unit in (None, SECTOR) and "offset" not in table.columns
    if of_disk and 2 * whole < len(sizes) and max(sizes) < LONGEST_IN_SECTORS:
        yield (
            f"column {name} ({shown}) may be bytes, or sectors, as it holds few multiples of {SECTOR}",
            "say the units, --size-unit and --address-unit sectors (or bytes; size_unit=…, address_unit=…)",
        )
    yield from _doubted_offsets(table, names, roles, columns, sizes)


def _tells(name: str, words: set[str], form: str) -> bool:
    return bool(words & words_of(name) or re.fullmatch(form, unpunctuated(name)))


def _may_be_sectors(table: Table, names: Sequence[str], roles: Roles, columns: Columns) -> bool:
    """Return whether a column that was taken for keys may hold addresses of requests to a disk, in sectors.

    Such a column has a name that is usual for block numbers, and holds whole numbers. The table also has sizes that are
    not named as sizes of objects, and a column of devices or of operations.
    """
    if "block" in table.columns or len(roles["block"]) > 1 or not roles.keys() & {"device", "op", "write", "read"}:
        return False
    if table.key in ("text", "words", "hex"):
        return False
    name, size = names[roles["block"][0]], names[roles["size"][0]].lower()
    if unpunctuated(name) not in NUMBERED or size.startswith(OF_OBJECTS):
        return False
    return all(value.strip().isdecimal() for value in columns[roles["block"][0]])


def _may_name_devices(name: str, names: Sequence[str], roles: Roles, table: Table) -> bool:
    """Return whether a column may name devices, or parts of them, in a table of addresses; a user's choice counts."""
    words, places = words_of(name), roles.get("block", ())
    addresses = roles.keys() & {"offset", "sector"} or any(
        _is_neighbour(names[place]) or unpunctuated(names[place]) in NUMBERS_OF_PAGES for place in places
    )
    known = SPACE in roles or "device" in table.columns
    whole = "sector" in roles or any(names[place].strip().lower() in OF_DISKS for place in places)
    if addresses and not known and not whole and name.strip().lower() in FILES:
        return True
    telling = DEVICES if whole else DEVICES | HOLDERS
    return bool(addresses and not known and words & telling and words <= telling | BESIDE)


def _follows(column: Sequence[str], devices: Columns) -> bool:
    """Return whether a column has several values, but only one for each device, so that it need not tell them apart."""
    pairs = set(zip(zip(*devices, strict=True), column, strict=True)) if devices else set()
    return len({value for _, value in pairs}) > 1 and len({device for device, _ in pairs}) == len(pairs)


def _are_kinds(found: set[str]) -> bool:
    """Return whether values may be kinds of events, other than hits and misses of a cache, which are all requests."""
    return 1 < len(found) <= MOST_KINDS and all(map(KIND.fullmatch, found)) and not all(map(OUTCOME.fullmatch, found))


def _may_complete_paths(name: str, found: set[str], names: Sequence[str], roles: Roles, columns: Columns) -> str:
    """Return the item of the option ``columns`` for a column that may hold the hosts or the queries of keys that are
    paths; empty if it holds neither."""
    places, words = roles.get("block", ()), words_of(name)
    if words & {"request", "req"}:
        words -= {"client"}  # ClientRequestHost is the host that the client asks for
    paths = places and (
        all(map(PATH.match, columns[places[0]]))
        or (words_of(names[places[0]]) & NAMED_PATHS and not any("://" in key for key in columns[places[0]]))
    )
    if not paths or len(found) < 2 or not words <= HOSTS | QUERIES | BESIDE_PATHS:
        return ""
    if len(places) == 1 and words & QUERIES and not any("?" in key for key in columns[places[0]]):
        return f"key={names[places[0]]}+{name}"
    return f"device={name}" if words & HOSTS and not words & QUERIES and not roles.keys() & {"device", SPACE} else ""


def _may_hold_statuses(name: str, found: set[str], roles: Roles) -> bool:
    """Return whether a column may hold the status of HTTP answers, some of which have no body."""
    words = words_of(name)
    told = words & STATUSES and words <= STATUSES | BESIDE_STATUSES and found & {"206", "206.0", "304", "304.0"}
    known = "status" in roles or not {"block", "size"} <= roles.keys()
    return bool(told) and not known and all(map(STATUS.fullmatch, found))


def _within_bytes(names: Sequence[str], roles: Roles) -> bool:
    """Return whether offsets are certainly in bytes: their name says so, or they are within spaces, files or memory."""
    offset, devices = names[roles["offset"][0]].lower(), roles.get("device", ())
    of_files = "file" in offset or any(names[place].strip().lower() in FILES for place in devices)
    return SPACE in roles or of_files or "byte" in offset or ("addr" in offset and not devices)


def _doubted_offsets(
    table: Table, names: Sequence[str], roles: Roles, columns: Columns, sizes: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Yield a doubt if offsets may be in bytes or in sectors; `sizes` are in bytes."""
    offsets = _numbers(columns, roles.get("offset", ()))
    if not offsets or table.address_unit is not None or "offset" in table.columns:
        return
    if _unit_of(names, roles, "offset") is not None:
        return
    aligned = sum(offset % SECTOR == 0 for offset in offsets)
    if all(size % SECTOR == 0 for size in sizes) and 2 * aligned < len(offsets):
        name, shown = names[roles["offset"][0]], ", ".join(str(offset) for offset in offsets[:SHOWN])
        yield (
            f"column {name} ({shown}) may be bytes, or sectors, as all sizes are multiples of {SECTOR}",
            "say its unit, --address-unit sectors (or bytes; address_unit=…)",
        )


def words_of(name: str) -> set[str]:
    """Return the words of a column's name in lower case; punctuation and capital letters separate them.

    Examples
    --------
    >>> sorted(words_of("request_io_size_bytes")), sorted(words_of("reqSizeKB"))
    (['bytes', 'io', 'request', 'size'], ['kb', 'req', 'size'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return {word for word in re.split(r"[^a-z0-9]+", apart.lower()) if word}


def left_out(name: str, place: int, table: Table) -> bool:
    """Return whether the user asked to leave a column out, by name or by number."""
    asked = table.asked(IGNORE)
    return name.lower() in asked or str(place + 1) in asked


def _is_neighbour(name: str) -> bool:
    return unpunctuated(name) in {other.replace("_", "") for other in NEIGHBOURS}


def mixed_hosts(table: Table, head: bytes) -> str:
    """Return a doubt if the first lines of a file name different hosts that no column holds; otherwise an empty text.

    Examples
    --------
    >>> mixed_hosts(Table(hosts=(r" (\\w+\\.org)$",)), b"GET /a a.org\\nGET /a b.org\\nGET /a c.o")
    'lines seem to name different hosts (a.org, b.org), and equal paths of different hosts are one object'
    """
    lines = head.decode("utf-8", "replace").split("\n")[:-1]  # the last line may be incomplete
    for form in table.hosts:
        found = {match[1]: None for line in lines if (match := re.search(form, line.rstrip()))}
        if len(found) > 1:
            shown = ", ".join([*found][:SHOWN])
            return f"lines seem to name different hosts ({shown}), and equal paths of different hosts are one object"
    return ""


def merged(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for each column of devices that the user leaves out: all devices then share one address space."""
    left = [name for place, name in enumerate(names) if left_out(name, place, table)]
    devices = [name for name in left if (known := meaning(name)) is not None and known[0] == "device"]
    return tuple(f"devices merged, as column {name} is left out" for name in devices)


def _says_bytes(name: str) -> bool:
    """Return whether the name of a size column says that it is the size of an object, or that it is in bytes."""
    return "byte" in name.lower() or name.lower().startswith(OF_OBJECTS)


def _unit_of(names: Sequence[str], roles: Roles, role: str) -> int | None:
    """Return the size of the unit that a column's name states, bytes; None if it states none."""
    if role not in roles or len(roles[role]) > 1:
        return None
    name = names[roles[role][0]]
    known, plain = meaning(name), unpunctuated(name)
    if known is None or known[0] != role:  # the user says what the column is, or it is named in another way
        last = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip(" )"))[-1]
        if len(last) > 1 and last in UNITS_OF_SIZE:  # as in sector_bytes
            return UNITS_OF_SIZE[last]
        return SECTOR if role == "size" and re.search(IN_SECTORS, plain) else None
    return known[1] if isinstance(known[1], int) else None


def _numbers(columns: Columns, places: Sequence[int]) -> list[int]:
    """Return the values of a role's column, truncated to whole numbers.

    The list is empty if a value is not a number, or if the role does not have exactly one column.
    """
    if len(places) != 1 or any(not value.isascii() or "_" in value for value in columns[places[0]]):
        return []  # Python accepts digits of any script, and underscores between them
    try:
        return [int(float(value)) for value in columns[places[0]]]
    except (ValueError, OverflowError):
        return []


def units(table: Table, names: Sequence[str], roles: Roles) -> dict[str, int]:
    """Return the units of addresses and sizes that the names of columns state, unless the user stated them."""
    found = {"size_unit": _unit_of(names, roles, "size"), "address_unit": _unit_of(names, roles, "offset")}
    return {name: unit for name, unit in found.items() if unit is not None and getattr(table, name) is None}
