"""Record the data-file reads and writes of a running PostgreSQL server, as a cache below the database would see them.

Every read that misses the server's buffers and every write of a block of one database is recorded, in the trace format
`capture`: Parquet with time, relation (table or index), block and direction. The write-ahead log is left out. Servers
that read several blocks in one call and databases with relations outside their folder are refused, because the probe
would miss some of their reads and writes.
"""

import shutil
import subprocess
from pathlib import Path

from misspenalty.io.files import atomic_path, temporary_folder
from misspenalty.record import tracer
from misspenalty.record.events import Nodes, distinct_blocks, parse, write_parquet
from misspenalty.record.tracer import CaptureError

PROBED = "syscalls/sys_enter_pread64"
FOLDER = (
    "SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database WHERE datname = current_database()"
)
VERSION = "SHOW server_version_num"
VECTORED = 170000  # the first version that reads neighbouring blocks in one call (preadv), which the probe does not see
ELSEWHERE = (
    "SELECT relname FROM pg_class "
    "WHERE NOT relisshared AND pg_relation_filepath(oid) NOT LIKE 'base/%' ORDER BY oid DESC"
)
RELATIONS = (
    "SELECT pg_relation_filenode(c.oid), nspname, relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE NOT relisshared AND pg_relation_filenode(c.oid) IS NOT NULL"
)
ASKED_SECONDS = 60


def ask(query, database, user=None):
    """Run a query with psql, and return its rows; the environment names the connection (``PGHOST``, ``PGUSER``, …).

    Parameters
    ----------
    query, database : str
    user : str, optional
        System user to run psql as.

    Returns
    -------
    list of list of str

    Raises
    ------
    CaptureError
        psql or the user does not exist, or the server refuses the query or does not answer in time.
    """
    if shutil.which("psql") is None:
        raise CaptureError("psql is missing: apt-get install postgresql-client")
    command = ["psql", "-X", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", query, "-d", database]
    as_user = {"user": user, "group": user, "extra_groups": []} if user else {}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ASKED_SECONDS, cwd="/", **as_user
        )
    except KeyError:
        raise CaptureError(f"there is no user {user} on this machine") from None
    except subprocess.TimeoutExpired:
        raise CaptureError(f"psql did not answer within {ASKED_SECONDS} s") from None
    if done.returncode:
        raise CaptureError(
            f"psql cannot query database {database}: {done.stderr.strip()[-400:]}; "
            "name the connection as for psql (PGHOST, PGUSER), or run psql as the server's user with --as postgres"
        )
    return [line.split("\t") for line in done.stdout.splitlines() if line]


def check_version(database, user=None):
    """Raise `CaptureError` if the server reads several blocks in one call."""
    ((version,),) = ask(VERSION, database, user)
    if int(version) >= VECTORED:
        raise CaptureError(
            f"the server is PostgreSQL {int(version) // 10_000}, which reads several blocks in one call (preadv); the"
            f" probe sees calls for one block, up to version {VECTORED // 10_000 - 1}: record an older server, or the"
            " requests to the server's disk with misspenalty record block"
        )


def check_folder(database, user=None):
    """Raise `CaptureError` if relations of a database are outside its folder, as in a tablespace of their own."""
    if outside := [name for (name,) in ask(ELSEWHERE, database, user)]:
        raise CaptureError(
            f"relations of database {database} are in another tablespace ({len(outside)} of them, such as"
            f" {outside[0]}), whose reads and writes the probe does not see: move them with ALTER TABLE … SET"
            " TABLESPACE pg_default (ALTER INDEX, ALTER DATABASE)"
        )


def folder_of(database, user=None):
    """Return the folder with the data files of a database, which must be on this machine."""
    ((path,),) = ask(FOLDER, database, user)
    folder = Path(path)
    if not folder.is_dir():
        raise CaptureError(f"{folder}, the server's data folder, is not on this machine: record where the server runs")
    return folder


def relation_names(relations):
    """Return names of relations by file node, qualified by the schema if several schemas have a relation of that name.

    Examples
    --------
    >>> relation_names([["5", "public", "orders"], ["6", "old", "orders"], ["7", "old", "items"]])
    {'5': 'public.orders', '6': 'old.orders', '7': 'items'}
    """
    schemas = {}
    for _, schema, name in relations:
        schemas.setdefault(name, set()).add(schema)
    return {node: name if len(schemas[name]) == 1 else f"{schema}.{name}" for node, schema, name in relations}


def record(database, output, *, seconds=None, user=None, ring_pages=16384, told=print):
    """Record a database's block reads and writes for some seconds, or until Ctrl-C.

    Parameters
    ----------
    database : str
    output : path-like
        Parquet file, written atomically.
    seconds : float, optional
        Length of the recording; by default, Ctrl-C ends it.
    user : str, optional
        See `ask`.
    ring_pages : int
        Pages per processor's event buffer, a power of two.
    told : callable
        Called with progress messages.

    Returns
    -------
    dict
        ``output, ended, reads, writes, distinct_blocks, relations, seconds``.

    Raises
    ------
    CaptureError
        The machine cannot record, the server cannot be queried, is of version 17 or newer or runs on another machine, a
        relation is outside the database's folder, bpftrace fails or loses events, a read or write is not of one aligned
        block of 8 KB, or no block is read or written.
    """
    tracer.check(PROBED)
    check_version(database, user)
    check_folder(database, user)
    folder = folder_of(database, user)
    relations = ask(RELATIONS, database, user)
    settings = {"BPFTRACE_STRLEN": "32", "BPFTRACE_PERF_RB_PAGES": str(ring_pages)}
    with temporary_folder() as work:
        lines, log = Path(work, "events.txt"), Path(work, "bpftrace.log")
        with tracer.tracing("postgres.bt", folder.stat().st_ino, lines, log, settings=settings) as probe:
            told(f"recording {folder}; Ctrl-C ends it")
            begin = tracer.now()
            why, when = tracer.ended(probe, log, seconds)
        check_folder(database, user)  # finds relations that were created elsewhere during the recording
        relations = ask(RELATIONS, database, user) + relations  # finds those that were created during the recording
        with lines.open(errors="replace") as stream:
            events = parse(stream, Nodes(relation_names(relations)), str(output))
    events = events.take((events.nanoseconds >= begin) & (events.nanoseconds <= when))
    if not len(events):
        raise CaptureError(
            f"database {database} read and wrote no blocks during the recording: it was idle, or its"
            " buffers held all data"
        )
    with atomic_path(output) as partial:
        write_parquet(events, partial)
    return {
        "output": str(output),
        "ended": why,
        "reads": events.reads,
        "writes": len(events) - events.reads,
        "distinct_blocks": distinct_blocks(events),
        "relations": len(events.names),
        "seconds": round(float(events.nanoseconds[-1] - events.nanoseconds[0]) / 1e9, 3),
    }
