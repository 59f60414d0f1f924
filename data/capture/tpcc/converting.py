"""Convert a recording into a Parquet file and an entry of facts about it."""

import datetime
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import yaml
from recording import MIX

from misspenalty.record.events import Events, cut, distinct_blocks, extensions, parse, write_parquet
from misspenalty.record.tracer import CaptureError

LARGEST_FILE = 45_000_000  # in bytes; many repository hosts warn at 50 MB
LEAST_SEEN_PERCENT = 99.0


def convert(recording: Path, output: Path) -> dict:
    """Write `output` and enter its facts in ``captures.yaml`` next to it.

    Parameters
    ----------
    recording : Path
        Folder written by `recording.record`.
    output : Path
        Parquet file, which appears only when complete and is made read-only.

    Returns
    -------
    dict
        The facts entered.

    Raises
    ------
    CaptureError
        `output` exists, lines are malformed, events were lost, fewer than 99 % of the buffer misses were seen, there
        are too few reads, or the file is too large.
    """
    refuse_to_overwrite(output)
    facts = json.loads((recording / "recording.json").read_text())
    with (recording / "events.txt").open() as lines:
        everything = parse(lines, facts["relations"], str(recording / "events.txt"))
    # Count only extensions of main forks, as blks_read does.
    main_fork = np.array(["." not in name for name in everything.names])
    extended = extensions(everything, facts["blocks_at_start"]) & main_fork[everything.relation]
    seen = everything.reads + int(np.count_nonzero(extended))
    missed = facts["counters"]["blks_read"]
    percent = 100 * seen / missed
    if percent < LEAST_SEEN_PERCENT:
        raise CaptureError(f"{recording}: saw {seen} of {missed} buffer misses, {percent:.2f} %; expected 99 % or more")
    window = cut(everything, facts["window_start_ns"], facts["run"]["reads"])
    transactions, before_window, completed = count_transactions(
        recording / "transactions.log", window, facts["clock_offset_ns"]
    )
    tables_and_indexes = [name for name, size in facts["blocks_at_start"].items() if size and "." not in name]
    digest = publish(window, output, tables_and_indexes)
    entry = {
        "shared_buffers": facts["run"]["shared_buffers"],
        "warehouses": facts["warehouses"],
        "clients": facts["run"]["clients"],
        "started_utc": facts["started"],
        "warm_up_s": facts["run"]["warmup_seconds"],
        "duration_s": round(float(window.nanoseconds[-1] - window.nanoseconds[0]) / 1e9, 3),
        "reads": window.reads,
        "writes": len(window) - window.reads,
        "writes_that_extend": int(np.count_nonzero(extensions(window, sizes_before(everything, window, facts)))),
        "distinct_blocks": distinct_blocks(window),
        "transactions_before_window": facts["transactions_earlier"] + before_window,
        "transactions": transactions,
        "whole_run": {
            "blks_read_delta": missed,
            "reads_seen": everything.reads,
            "extensions_seen": seen - everything.reads,
            "seen_percent": round(percent, 4),
            "transactions": completed,
            "rolled_back": facts["counters"]["xact_rollback"],
            "written_by_checkpointer": facts["counters"]["buffers_checkpoint"],
            "written_by_background_writer": facts["counters"]["buffers_clean"],
            "written_by_sessions": facts["counters"]["buffers_backend"],
        },
        "database_at_start_mib": round(sum(facts["blocks_at_start"].values()) * 8 / 1024),
        "bytes": output.stat().st_size,
        "sha256": digest,
        "versions": facts["versions"],
        "machine": facts["machine"],
    }
    enter(output.parent / "captures.yaml", output.name, entry)
    return entry


def refuse_to_overwrite(output: Path) -> None:
    """Raise `CaptureError` if the capture `output` exists."""
    if output.exists():
        raise CaptureError(f"{output} exists already: captures are never overwritten; remove it to capture again")


def sizes_before(everything: Events, window: Events, facts: dict) -> dict[str, int]:
    """Return the size of each relation in blocks at the time when the window opens."""
    sizes = dict(facts["blocks_at_start"])
    prior = everything.take(slice(0, int(np.searchsorted(everything.nanoseconds, window.nanoseconds[0]))))
    for index, name in enumerate(prior.names):
        blocks = prior.block[(prior.relation == index) & prior.write]
        if len(blocks):
            sizes[name] = max(sizes.get(name, 0), int(blocks.max()) + 1)
    return sizes


def count_transactions(log: Path, window: Events, clock_offset: int) -> tuple[dict[str, int], int, int]:
    """Count the transactions completed in the window (all, and by type), before it, and in the whole log.

    New-Orders that were rolled back are counted, as in the specification's mix (clause 5.2.3).
    """
    columns = np.loadtxt(log, usecols=(3, 4, 5), dtype=np.int64, ndmin=2)
    finished = columns[:, 1] * 1_000_000_000 + columns[:, 2] * 1000 - clock_offset
    first, last = int(window.nanoseconds[0]), int(window.nanoseconds[-1])
    kinds = columns[(finished >= first) & (finished <= last), 0]
    counts = np.bincount(kinds, minlength=len(MIX))
    by_type = {name: int(count) for name, count in zip(MIX, counts, strict=True)}
    return {"all": int(counts.sum()), **by_type}, int(np.count_nonzero(finished < first)), len(finished)


def publish(window: Events, output: Path, relations: list[str]) -> str:
    """Write a temporary Parquet file, check its size, make it read-only and rename it; return its SHA-256."""
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = output.with_name(f".{output.name}.part")
    try:
        write_parquet(window, temporary, relations)
        size = temporary.stat().st_size
        if size > LARGEST_FILE:
            raise CaptureError(
                f"{output} would have {size} bytes, expected at most {LARGEST_FILE}: record fewer --reads"
            )
        digest = hashlib.sha256(temporary.read_bytes()).hexdigest()
        temporary.chmod(0o444)
        os.replace(temporary, output)
    finally:
        temporary.unlink(missing_ok=True)
    return digest


def enter(path: Path, name: str, entry: dict) -> None:
    """Add or replace one entry of the fact sheet `path`."""
    sheet = yaml.safe_load(path.read_text()) if path.exists() else {}
    sheet[name] = entry
    temporary = path.with_name(f".{path.name}.part")
    try:
        temporary.write_text(
            f"# Facts of the captures in this folder, entered by the capture program on {datetime.date.today()}.\n"
            + yaml.safe_dump(sheet, sort_keys=False)
        )
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
