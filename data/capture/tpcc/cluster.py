"""Make, start, query and remove a private PostgreSQL cluster, which can only be reached through a Unix socket."""

import contextlib
import json
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from misspenalty.record.tracer import CaptureError

USER = "postgres"
DATABASE = "tpcc"
BINARIES = Path("/usr/lib/postgresql/15/bin")
SOCKET_PATH_LIMIT = 90  # the limit of Unix sockets is 107 bytes, including the socket's own name

# Durability, background vacuum, and parallel and compiled plans are off, because they are not part of the workload.
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "30",
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}


class Cluster:
    """The database cluster under ``work``/cluster.

    Parameters
    ----------
    work : Path
        Folder outside the repository that holds the cluster, its socket and the raw recordings.
    """

    def __init__(self, work: Path):
        self.work = work
        self.data = work / "cluster"
        self.socket = work / "socket"
        self.log = work / "postgres.log"

    def check_machine(self) -> None:
        """Raise `CaptureError` unless run as root, with PostgreSQL 15, its user, and a short enough socket path."""
        if os.geteuid() != 0:
            raise CaptureError("this must run as root: bpftrace needs root, and PostgreSQL is run as user postgres")
        for name in ("initdb", "pg_ctl", "psql", "pgbench"):
            if not (BINARIES / name).is_file():
                raise CaptureError(f"{BINARIES / name} is missing: apt-get install postgresql-15")
        try:
            pwd.getpwnam(USER)
        except KeyError:
            raise CaptureError(f"there is no user {USER}: apt-get install postgresql-15") from None
        if len(str(self.socket)) > SOCKET_PATH_LIMIT:
            raise CaptureError(f"{self.socket}: the path is too long for a Unix socket; choose a shorter --work")

    def create(self) -> None:
        """Make an empty cluster with single-byte text and the C locale."""
        if self.data.exists():
            raise CaptureError(f"{self.data} exists already: remove it with `tpcc.py clean`, or capture from it")
        for folder in (self.work, self.socket):
            folder.mkdir(parents=True, exist_ok=True)
            shutil.chown(folder, USER, USER)
        self._as_postgres("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "SQL_ASCII", "--locale=C", "-N")

    @contextlib.contextmanager
    def running(self, **settings: str):
        """Run the server with `settings` on top of `SETTINGS`, and stop it cleanly even after an error.

        A clean stop matters because PostgreSQL empties unlogged tables after a crash.
        """
        if not self.data.is_dir():
            raise CaptureError(f"{self.data} is missing: load the database first with `tpcc.py load`")
        if (self.data / "postmaster.pid").exists():
            raise CaptureError(
                f"{self.data}: a server is already running here (postmaster.pid); stop it. If it crashed, clean and "
                "load again: unlogged tables are empty after a crash"
            )
        given = {**SETTINGS, "unix_socket_directories": str(self.socket), **settings}
        options = " ".join(f"-c {name}='{value}'" for name, value in given.items())
        try:
            self._as_postgres("pg_ctl", "-D", self.data, "-l", self.log, "-o", options, "-w", "-t", "120", "start")
            yield self
        finally:
            if (self.data / "postmaster.pid").exists():
                self._as_postgres("pg_ctl", "-D", self.data, "-m", "fast", "-w", "-t", "600", "stop")

    def _as_postgres(self, program: str, *arguments: object) -> None:
        command = [str(BINARIES / program), *map(str, arguments)]
        # The server has a session of its own, so that it does not receive Ctrl-C and only `running` stops it.
        done = subprocess.run(
            command,
            user=USER,
            group=USER,
            extra_groups=[],
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode != 0:
            raise CaptureError(f"{program} failed: {done.stderr.strip()[-800:]} (see {self.log})")

    def connection(self, database: str = DATABASE) -> list[str]:
        """Return arguments with which psql and pgbench connect to this server."""
        return ["-h", str(self.socket), "-U", USER, database]

    def psql(self, *arguments: str, database: str = DATABASE) -> subprocess.Popen:
        """Start psql without the user's own settings, and let it stop at the first error."""
        command = [str(BINARIES / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments, *self.connection(database)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *statements: str, files: tuple[Path, ...] = (), database: str = DATABASE) -> str:
        """Run files and then statements, each in order, and return their unaligned output."""
        options = [option for path in files for option in ("-f", str(path))]
        options += [option for statement in statements for option in ("-c", statement)]
        process = self.psql("-A", "-t", *options, database=database)
        printed, complaint = process.communicate()
        if process.returncode != 0:
            raise CaptureError(f"psql failed: {complaint.strip()[-800:]}")
        return printed.strip()

    def ask(self, query: str, database: str = DATABASE):
        """Return the rows of `query` as a list of dictionaries."""
        return json.loads(self.run(f"SELECT coalesce(json_agg(r), '[]') FROM ({query}) AS r", database=database))

    def run_together(self, statement_lists: list[list[str]]) -> None:
        """Run lists of statements at the same time, each list in its own session."""
        sessions = []
        try:
            for statements in statement_lists:
                options = [option for statement in statements for option in ("-c", statement)]
                sessions.append(self.psql(*options))
            for session in sessions:
                _, complaint = session.communicate()
                if session.returncode != 0:
                    raise CaptureError(f"psql failed: {complaint.strip()[-800:]}")
        finally:
            for session in sessions:
                session.terminate()
                session.wait()
