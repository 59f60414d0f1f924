"""Define the roles that the columns of a table can have, and the names by which a column gets its role.

A column whose name means an operation, a device or a size is never ignored silently: it is used, or the trace is
refused until the user says what to do with it.
"""

import functools
import re
from collections.abc import Callable, Iterable, Sequence

from misspenalty.errors import InputError, ParameterError, did_you_mean

IGNORE = "ignore"  # role of the columns that the user leaves out
# Map each role to the names that a header may have for it, in lower case.
ROLES: dict[str, tuple[str, ...]] = {
    "block": ("block", "id", "obj_id", "object", "object_id", "key", "block_number", "page", "block_id", "obj", "url",
              "hashed_path_query", "hashed_host_path_query", "hashed_host_path", "uuid", "uri", "cs_uri_stem",
              "cs_uri_query", "request_uri", "page_id", "page_number", "item", "item_id", "cache_key", "key_hash",
              "hashed_host_and_path", "hashed_key", "object_key", "content_id", "document_id", "lpn", "lpa", "block_no",
              "blkno", "page_no", "page_index", "pgoff", "pgno", "cs_object", "anonymized_key"),
    "offset": ("offset", "off", "ofs", "byte_offset", "offset_bytes", "io_offset", "file_offset", "address", "addr",
               "byte_address"),
    "sector": ("sector", "lba", "lbn", "lbn_512", "start_sector", "start_lba"),
    "count": ("count", "nblocks", "block_count", "npages", "num_blocks", "nr_blocks", "nblks", "nblk", "num_pages",
              "nr_pages", "blocks", "pages"),
    "repeat": ("repeat", "op_count", "req_count", "request_count"),
    "size": ("size", "length", "len", "bytes", "size_bytes", "obj_size", "object_size", "io_size", "request_size",
             "req_size", "response_size", "value_size", "transfer_size", "object_bytes", "key_size", "block_size",
             "nbytes", "bytes_sent", "body_bytes_sent", "content_length", "sc_bytes", "file_size", "item_size",
             "num_bytes", "byte_count", "response_body_len"),
    "sectors": ("sectors", "nsectors", "sector_count", "nsect", "nr_sectors", "num_sectors", "size_sectors",
                "nr_sector", "num_sector", "nsector"),
    "op": ("op", "operation", "opcode", "type", "rw", "iotype", "io_type", "op_name", "op_type", "optype", "cmd",
           "command", "request_type", "method", "verb", "rwbs", "access_type", "r/w", "readwrite", "read_write",
           "direction", "rw_flag", "io_op", "access", "cs_method", "http_method"),
    "write": ("write", "is_write"),
    "read": ("read", "is_read"),
    "device": ("device", "disk", "dev", "volume", "asu", "unit", "lun", "device_id", "disk_id", "disknumber",
               "disk_number", "volume_id", "hostname", "host", "server", "drive", "partition", "namespace", "vm",
               "vm_id", "vdisk", "vdisk_id", "dev_id", "disk_name", "device_name", "volume_name", "nsid", "tenant",
               "tenant_id", "bucket", "bucket_name", "database", "db", "db_id", "keyspace", "cluster", "cluster_id",
               "shard", "shard_id", "topic", "cs_host", "cs_bucket", "pool", "datastore", "vol", "vol_id", "vdev",
               "block_device", "disk_num", "disk_no", "device_number", "device_no", "drive_id", "lun_id",
               "namespace_id", "table", "table_id", "table_name", "bucket_id", "relation", "relfilenode", "tablespace",
               "tablespace_id", "space_id"),
    "time": ("time", "timestamp", "ts", "op_time", "datetime", "date", "arrival", "arrival_time", "relative_unix",
             "issue_time", "start_time", "request_time", "unix_time", "epoch", "elapsed", "elapsed_time", "time_offset",
             "relative_time", "rel_time", "event_time", "log_time", "time_stamp", "real_time", "clock_time"),
    "status": ("sc_status", "http_status", "http_status_code"),
    "ttl": ("ttl", "time_to_live", "max_age"),
    "time_s": ("seconds",),
    "time_ms": (),
    "time_us": (),
    "time_ns": (),
}  # fmt: skip
PAIRS = {
    "device": ("major", "minor"),
    "time": ("date", "time"),
    "size": ("key_size", "value_size"),
    "block": ("cs-uri-stem", "cs-uri-query"),
}  # columns that make up a role together
# Columns with these names identify a file; each file has its own addresses.
FILES = ("file", "file_id", "filename", "file_name", "fid", "inode", "ino", "fd", "path", "oid")
# The values of columns with these names number adjacent blocks, and are not only keys.
NEIGHBOURS = ("block", "block_number", "page", "block_id", "lpn", "lpa", "block_no", "blkno", "page_no", "page_index",
              "pgoff", "pgno")  # fmt: skip
# Columns with these names count only if no other column has a place, or a time.
WEAKER = re.compile(r"page_?index|pg_?(off|no)|clock_?time|t[ _/(\[]+[a-z]+[)\]]?")
UNITS_OF_TIME = {"s": "s", "sec": "s", "secs": "s", "seconds": "s",
                 "ms": "ms", "msec": "ms", "millis": "ms", "milliseconds": "ms",
                 "us": "us", "usec": "us", "micros": "us", "microseconds": "us",
                 "ns": "ns", "nsec": "ns", "nanos": "ns", "nanoseconds": "ns"}  # fmt: skip
MU = str.maketrans("\u00b5\u03bc", "uu")  # the micro sign and the Greek letter, as in the unit us
UNITS_OF_SIZE = {"b": 1, "byte": 1, "bytes": 1, "k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20,
                 "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30}  # fmt: skip
ALIASES = {"key": "block", "object": "block", "id": "block", "operation": "op", "object_bytes": "size"}
ACTION = "action"  # role of a column whose values say which rows are requests
SPACE = "space"  # role of columns that together name an address space; unlike devices, there may be any number
STATUS = "status"  # role of a column with the status of an HTTP answer
PLACES = ("block", "offset", "sector")
TIMES = {"time": None, "time_s": "s", "time_ms": "ms", "time_us": "us", "time_ns": "ns"}  # role: unit of time
COMBINED = ("block", "device", "size", "time", SPACE)  # roles that several columns may make up together
EXCLUSIVE = (("size", "sectors", "count"), ("op", "write", "read"), tuple(TIMES))
KNOWN = {form: role for role, names in ROLES.items() for name in names for form in (name, name.replace("_", ""))}
REMEDY = "say which with --columns (columns=…), such as block=key,time=when,ignore=level"
Roles = dict[str, tuple[int, ...]]


@functools.lru_cache(maxsize=1 << 12)  # files, perhaps hostile ones, give any number of names
def meaning(name: str) -> tuple[str, str | int | None] | None:
    """Return the role and unit (of time, or bytes) of a column with this name; None if the name implies no role.

    Examples
    --------
    >>> meaning("Timestamp (ms)"), meaning("timeMs"), meaning("DiskNumber"), meaning("size_kb"), meaning("level")
    (('time_ms', 'ms'), ('time_ms', 'ms'), ('device', None), ('size', 1024), None)
    """
    if re.search(r"[{}\"=]|:\s*$", name):  # such a text is not a name
        return None
    plain = re.sub("[^a-z0-9/]+", "_", name.strip().lower().translate(MU)).strip("_").replace("_in_", "_")
    if plain in KNOWN:
        return KNOWN[plain], TIMES.get(KNOWN[plain])
    plain = plain.replace("/", "_")
    if "_" not in plain:
        plain = re.sub("(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower()
    base, _, unit = plain.rpartition("_")
    role = "time" if base == "t" else KNOWN.get(base)
    if role == "time" and unit in UNITS_OF_TIME:
        return f"time_{UNITS_OF_TIME[unit]}", UNITS_OF_TIME[unit]
    if role in ("size", "offset") and unit in UNITS_OF_SIZE:
        return role, UNITS_OF_SIZE[unit]
    if role == "sector" and (kilobytes := re.fullmatch(r"(\d{1,2})ki?b?", unit)):
        return "offset", int(kilobytes[1]) << 10
    if role in ("size", "offset") and unit == "sectors":
        return "sectors" if role == "size" else "sector", None
    return ("count", None) if role == "size" and unit in ("blocks", "pages") else None


def parse_columns(columns: "str | dict[str, object] | None") -> dict[str, tuple[str, ...]]:
    """Return the columns of each role that a user gives as ``"block=key,time=1,device=host+disk"`` or as a dict.

    Raises
    ------
    ParameterError
        `columns` is neither text nor a dict, or a role is unknown, is given twice, or names no column.

    Examples
    --------
    >>> parse_columns("block=key,device=host+disk")
    {'block': ('key',), 'device': ('host+disk',)}
    """
    if columns is None:
        return {}
    if isinstance(columns, str):
        pairs = [pair.partition("=")[::2] for pair in columns.split(",")]
    elif isinstance(columns, dict):
        pairs = [(role, value) for role, value in columns.items()]  # type: ignore[misc]
    else:
        raise ParameterError(f"columns is {columns!r}; expected text such as key=url,time=when, or a dict")
    given: dict[str, tuple[str, ...]] = {}
    known = (*ROLES, ACTION, SPACE, IGNORE)
    for asked, value in pairs:
        role = ALIASES.get(str(asked).strip().lower(), str(asked).strip().lower())
        if role not in known:
            raise ParameterError(
                f"columns: unknown role {str(asked).strip()!r}{did_you_mean(role, (*known, *ALIASES))}; expected"
                f" ROLE=COLUMN, where ROLE is one of {', '.join((*known, *ALIASES))}"
            )
        names = tuple(str(name).strip() for name in (value if isinstance(value, list | tuple) else [value]))
        if not names or not all(names):
            raise ParameterError(f"columns: {role} names no column; expected {role}=NAME or {role}=NUMBER")
        if role in given and role != IGNORE:
            instead = f"join columns with +, as in {role}=a+b" if role in COMBINED else "expected one column"
            raise ParameterError(f"columns: {role} is given twice; {instead}")
        given[role] = given.get(role, ()) + names
    return given


def assign(
    names: Sequence[str], given: dict[str, tuple[str, ...]], path: object, line: int | None, *, recognise: bool = True
) -> Roles:
    """Return the places of the columns of each role: first those that the user names, then those whose names are known.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    given : dict
        Columns by role, as `parse_columns` returned them.
    path, line
        Where the header is, for messages.
    recognise : bool
        Whether columns that the user does not name have the role that their name implies.

    Raises
    ------
    InputError
        No column gives the place of a request, two columns have the same role or roles that exclude each other, or a
        column that the user names does not exist or is ambiguous.
    ParameterError
        The user gives two roles to a column, several columns to a role that allows only one, or leaves out a column
        that a format uses.
    """
    fault = functools.partial(InputError, path=path, line=line)
    roles: Roles = {role: _places(role, columns, names, fault) for role, columns in given.items()}
    taken = {place for places in roles.values() for place in places}
    dropped = set(roles.pop(IGNORE, ()))
    twice = [place for place in taken if sum(place in each for each in roles.values()) + (place in dropped) > 1]
    if recognise and twice:
        raise ParameterError(f"columns: column {names[twice[0]]!r} has two roles; expected one")
    if kept := [names[place] for place in twice if place in dropped]:
        raise ParameterError(
            f"columns: {IGNORE}={kept[0]} would have no effect, as the format uses this column; leave {IGNORE} out, or"
            " describe all columns yourself, with --format csv (format=…)"
        )
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names if recognise else ()):
        if (known := meaning(name)) is not None and place not in taken:
            found.setdefault(known[0], []).append(place)
    _drop_what_was_chosen(found, roles)
    _drop_weaker(found, names)
    if [names[place] for place in found.get("device", ())] == ["cs_host", "cs_bucket"]:
        del found["device"][0]  # a bucket has the same objects on every host
    if recognise and "device" not in {**roles, **found}:
        found |= _further_devices(names, {*roles, *found}, taken)
    if recognise and not {*roles, *found} & set(PLACES) and {*roles, *found} & {*TIMES, "op", "read", "write"}:
        free = [place for place, name in enumerate(names) if name.strip().lower() in FILES and place not in taken]
        found |= {"block": free} if free else {}
    for role, places in found.items():
        pair = _pair(role, names, places)
        if role in roles or (len(places) > 1 and not pair):
            columns = [names[place] for place in (*roles.get(role, ()), *places)]
            what = f"columns {' and '.join(columns)} may {'both' if len(columns) == 2 else 'all'} be the {role}"
            raise fault(what, remedy=_both_of(role, columns))
        roles[role] = pair or tuple(places)
    for group in (PLACES, *EXCLUSIVE):
        if len(both := [role for role in group if role in roles]) > 1:
            columns = [names[place] for role in both for place in roles[role]]
            remedy = f"leave one out, such as with --columns ignore={columns[-1]} (columns=…)"
            if group is PLACES and both[0] == "block":
                devices = [names[place] for place in roles.get("device", ())]
                apart = f"device={'+'.join([*devices, columns[0]])}" if devices else f"space={columns[0]}"
                remedy += f"; if {columns[-1]} counts from the start of each {columns[0]}: {apart}"
            expected = f"one column of {', '.join(group)}"
            raise fault(f"columns {' and '.join(columns)} exclude each other", expected=expected, remedy=remedy)
    if not any(role in roles for role in PLACES):
        what = f"no column ({', '.join(names)[:80]}) gives the place of a request"
        remedy = "name it with --columns (columns=…), such as block=key,time_ms=when"
        raise fault(what, expected=f"one column of {', '.join(PLACES)}", remedy=remedy)
    return roles


def _both_of(role: str, columns: Sequence[str]) -> str:
    """Return what to do about columns that may all have one role."""
    if role not in ("device", "size", "op"):
        return REMEDY
    columns = sorted(columns, key=lambda name: name.strip().lower() in ("command", "cmd"))  # often names a program
    chosen = f"say which with --columns (columns=…), such as {role}={columns[0]},ignore={'+'.join(columns[1:])}"
    if role == "op":
        return chosen
    together = "each pair is a device" if role == "device" else "they add up"
    return f"{chosen}, or {role}={'+'.join(columns)} if {together}"


def _further_devices(names: Sequence[str], roles: set[str], taken: set[int]) -> dict[str, list[int]]:
    """Return the columns that together name a device or, if requests have addresses within files, a file."""
    free = {name.strip().lower(): place for place, name in enumerate(names) if place not in taken}
    if all(name in free for name in PAIRS["device"]):
        return {"device": [free[name] for name in PAIRS["device"]]}
    found = [place for name, place in free.items() if name in FILES]
    return {"device": found} if found and roles & {"offset", "sector"} else {}


def _pair(role: str, names: Sequence[str], places: Sequence[int]) -> tuple[int, ...]:
    """Return the places of two columns that make up `role` together, in their order; empty if they do not."""
    place_of = {unpunctuated(names[place]): place for place in places}
    pair = tuple(place_of.get(unpunctuated(name), -1) for name in PAIRS.get(role, ()))
    return pair if len(pair) == len(places) and -1 not in pair else ()


def unpunctuated(name: str) -> str:
    """Return the letters and digits of a name, in small letters.

    Examples
    --------
    >>> unpunctuated("Block_No (LBA)")
    'blocknolba'
    """
    return "".join(filter(str.isalnum, name.lower()))


def _drop_what_was_chosen(found: dict[str, list[int]], roles: Roles) -> None:
    """Leave out recognised places, times and statuses if the user named another column for them."""
    for group in (PLACES, tuple(TIMES), (STATUS,)):
        if any(role in roles for role in group):
            for role in group:
                found.pop(role, None)


def _drop_weaker(found: dict[str, list[int]], names: Sequence[str]) -> None:
    """Leave out places and times with names of `WEAKER` if other columns have places or times."""
    for group in (PLACES, tuple(TIMES)):
        kept = {
            role: [place for place in found[role] if not WEAKER.fullmatch(names[place].strip().lower())]
            for role in group
            if role in found
        }
        if any(kept.values()):
            for role, places in kept.items():
                found[role] = places
                if not places:
                    del found[role]


def _places(
    role: str, columns: Iterable[str], names: Sequence[str], fault: Callable[..., InputError]
) -> tuple[int, ...]:
    """Return the places of columns given by name or by number (from 1); ``+`` joins several columns."""
    places: list[int] = []
    for text in columns:
        for column in [text] if text in names else text.split("+"):
            column = column.strip()
            lower = [name.lower() for name in names]
            if column in names:
                same = [place for place, name in enumerate(names) if name == column]
                if len(same) > 1:
                    remedy = f"name one by its number: {role}={same[0] + 1}"
                    raise fault(f"{len(same)} columns {column!r}", remedy=remedy)
                places += same
            elif re.fullmatch("[0-9]{1,9}", column):
                if not 1 <= int(column) <= len(names):
                    raise fault(f"no column {column}", expected=f"a number from 1 to {len(names)}")
                places.append(int(column) - 1)
            elif lower.count(column.lower()) == 1:
                places.append(lower.index(column.lower()))
            else:
                raise fault(f"no column {column!r}", expected=f"one of {', '.join(names)}")
    if len(places) > 1 and role not in (*COMBINED, IGNORE):
        raise ParameterError(f"columns: {role} has {len(places)} columns; expected one")
    return tuple(places)
