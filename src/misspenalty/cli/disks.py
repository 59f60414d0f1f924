"""Run the commands ``disk list|info|replay|fit|import``."""

import contextlib
from pathlib import Path

import numpy as np

from misspenalty import disks
from misspenalty.cli.arguments import add_command, input_file, refuse_existing, refuse_input, whole_number
from misspenalty.disks import requests as disk_replay
from misspenalty.disks.disksim import importer
from misspenalty.errors import InputError, ParameterError, check_whole
from misspenalty.io.files import write_csv
from misspenalty.io.later import pd


def add(commands):
    """Add the commands to a parser."""
    parser = commands.add_parser(
        "disk",
        help="drives: list them, look at one, replay requests, fit or import one",
        description="Show the described drives, compare a simulated drive with times measured on a real one, and"
        " describe a drive of your own. 'misspenalty penalty --device' uses the drives.",
    )
    disk = parser.add_subparsers(required=True, metavar="COMMAND")
    add_command(disk, "list", "list the installed drives", _list, ("misspenalty disk list",))

    info = add_command(
        disk,
        "info",
        "describe a drive, or list where each of its values comes from",
        _info,
        ("misspenalty disk info cheetah9lp", "misspenalty disk info mine.yaml --sources"),
    )
    info.add_argument("drive", metavar="DRIVE", help="a drive's name, or a description's path")
    info.add_argument("--sources", action="store_true", help="list the sources of its values")

    play = add_command(
        disk,
        "replay",
        "replay timed requests and compare service times",
        _replay,
        ("misspenalty disk replay cheetah9lp requests.txt --records components.csv",),
    )
    play.add_argument("drive", metavar="DRIVE", help="a drive's name, or a description's path")
    _requests(play)
    play.add_argument(
        "--records", metavar="FILE", type=Path, help="also write each request's components, in ns, as CSV"
    )
    play.add_argument("--literal", action="store_true", help="interpret values imported from DiskSim as DiskSim does")

    made = add_command(
        disk,
        "fit",
        "make a description from requests that were timed on a drive",
        _fit,
        ("misspenalty disk fit requests.txt mine.yaml", "misspenalty disk replay mine.yaml requests.txt"),
    )
    _requests(made)
    made.add_argument("output", metavar="OUTPUT", type=Path, nargs="?", help="description to write, such as mine.yaml")
    made.add_argument("--name", default="fitted", help="the drive's name (default: fitted)")
    made.add_argument("--heads", metavar="N", type=whole_number, default=4, help="tracks per cylinder (default: 4)")
    made.add_argument(
        "--blocks", metavar="N", type=whole_number, help="blocks of the drive (default: up to the highest requested)"
    )

    get = add_command(
        disk,
        "import",
        "make a description from DiskSim's parameter files",
        _import,
        ("misspenalty disk import mine.diskspecs mine.yaml",),
    )
    get.add_argument("file", metavar="FILE", help="a .parv or .diskspecs; .model and .seek are read from its folder")
    get.add_argument("output", metavar="OUTPUT", type=Path, help="description to write, such as mine.yaml")
    get.add_argument("--name", help="the drive's name (default: the file's)")
    get.add_argument("--bus", metavar="PARV", help="take the bus from this .parv, not from FILE")
    get.add_argument("--literal", action="store_true", help="interpret every value as DiskSim does")


def _requests(command):
    command.add_argument(
        "requests",
        metavar="REQUESTS",
        type=input_file,
        help="file whose lines are R|W action lbn blocks service_us delay_us; - reads standard input",
    )


def _list(options):
    kinds = [disks.load(name) for name in disks.names()]
    return pd.DataFrame(
        {
            "drive": kind.name,
            "model": kind.model,
            "kind": kind.data["kind"],
            "gigabytes": round(kind.gigabytes, 2),
            "rpm": kind.data["mechanics"]["rpm"] if kind.data["kind"] == "disk" else None,
        }
        for kind in kinds
    ).astype({"rpm": "Int64"})


def _info(options):
    kind = disks.load(options.drive)
    if options.sources:
        columns = ["value", "status", "source", "reason", "decision", "disksim"]
        rows = [{"value": key} | entry for key, entry in kind.data["sources"].items()]
        return pd.DataFrame(rows).reindex(columns=columns).astype(object).fillna("")
    return _flash_summary(kind) if kind.data["kind"] == "flash" else _summary(kind)


def _summary(kind):
    """Return the most important facts about a disk."""
    geometry, mechanics, cache = kind.data["geometry"], kind.data["mechanics"], kind.data["cache"]
    sectors = [zone["sectors"] for zone in geometry["zones"]]
    rates = [count * geometry["sector_bytes"] * mechanics["rpm"] / 60e6 for count in sectors]
    distance = np.arange(1, kind.mechanics.cylinders)
    seeks = np.array([kind.mechanics.seek(int(d)) for d in distance]) / 1e6
    pairs = kind.mechanics.cylinders - distance  # the number of pairs of cylinders at each distance
    return {
        "drive": kind.name,
        "model": kind.model,
        "blocks": kind.blocks,
        "gigabytes": round(kind.gigabytes, 2),
        "heads": geometry["heads"],
        "cylinders": geometry["cylinders"],
        "zones": len(sectors),
        "sectors_per_track": f"{max(sectors)} to {min(sectors)}",
        "media_mb_per_s": f"{max(rates):.1f} to {min(rates):.1f}",
        "rpm": mechanics["rpm"],
        "revolution_ms": round(kind.mechanics.revolution_ns / 1e6, 3),
        "seek_one_cylinder_ms": float(seeks[0]) if len(seeks) else 0.0,
        "seek_mean_ms": round(float((seeks * pairs).sum() / pairs.sum()), 3) if len(seeks) else 0.0,
        "seek_full_ms": float(seeks[-1]) if len(seeks) else 0.0,
        "head_switch_ms": mechanics["head_switch_ms"],
        "cache": f"{cache['segments']} x {cache['segment_blocks']} blocks",
        "read_ahead": cache["read_ahead"],
        "write_behind": cache["write_behind"],
        "note": kind.data["note"],
    }


def _flash_summary(kind):
    """Return the most important facts about a flash drive."""
    geometry, flash, settings = kind.data["geometry"], kind.data["flash"], kind.settings
    page = geometry["planes"] * geometry["page_bytes"]
    dies = geometry["channels"] * geometry["dies"]
    return {
        "drive": kind.name,
        "model": kind.model,
        "blocks": kind.blocks,
        "gigabytes": round(kind.gigabytes, 2),
        "channels": geometry["channels"],
        "dies": dies,
        "page_kb": page / 1024,
        "erase_block_kb": geometry["pages"] * page // 1024,
        "spare_pct": round(100 * kind.spare, 1),
        "page_read_us": flash["read_us"],
        "page_program_us": flash["program_us"],
        "block_erase_us": flash["erase_us"],
        "program_mb_per_s": round(
            1e3 * dies * page / (settings["program"] + settings["page_units"] * settings["move"]), 1
        ),
        "interface_mb_per_s": kind.data["interface"]["mb_per_s"],
        "power_safe_buffer_kb": kind.data["cache"]["write_units"] * geometry["unit_bytes"] // 1024,
        "note": kind.data["note"],
    }


def _replay(options):
    if options.records:
        refuse_input(options.records, options.requests, options.drive)
    kind = disks.load(options.drive)
    if options.literal:
        kind, ours = kind.as_disksim(), kind
        if kind is ours:
            raise ParameterError(
                f"--literal: no value of {kind.name} was imported from DiskSim; leave out --literal, or name a drive"
                " made by 'misspenalty disk import'"
            )
    requests = disk_replay.read_requests(options.requests)
    with _named(options.requests):
        outcome = disk_replay.replay(kind, requests)
    if options.records:
        write_csv(pd.DataFrame(outcome.records).drop(columns=["tag", "unused"]), options.records)
    return outcome.row()


@contextlib.contextmanager
def _named(path):
    """Add the file's name to errors about requests, which do not name it."""
    try:
        yield
    except ParameterError as error:
        raise InputError(str(error), path=path) from error


def _fit(options):
    from misspenalty.disks.fit import MOST_HEADS, fit  # imported here, as it loads SciPy

    if options.output:
        refuse_existing(options.output)
    check_whole("--heads", options.heads, 1, MOST_HEADS)
    requests = disk_replay.read_requests(options.requests)
    with _named(options.requests):
        found = fit(requests, options.name, options.heads, options.blocks)
    if options.output:
        importer.write(found.kind.data, options.output)
    summary, after = _summary(found.kind), found.held_out
    return {
        "output": str(options.output) if options.output else None,
        **{key: summary[key] for key in ("drive", "blocks", "sectors_per_track", "media_mb_per_s", "rpm")},
        **{key: round(summary[key], 3) for key in ("seek_one_cylinder_ms", "seek_mean_ms", "seek_full_ms")},
        "overhead_read_ms": found.kind.data["overheads"]["read_miss_after_read"],
        "overhead_write_ms": found.kind.data["overheads"]["write_miss_after_read"],
        **{key: summary[key] for key in ("read_ahead", "write_behind")},
        "fitted_requests": found.fitted["requests"],
        "fitted_demerit_ms": round(found.fitted["demerit_ms"], 4),
        "held_out_requests": after["requests"],
        "held_out_mean_measured_ms": round(after["mean_measured_ms"], 4),
        "held_out_mean_simulated_ms": round(after["mean_simulated_ms"], 4),
        "held_out_demerit_ms": round(after["demerit_ms"], 4),
    }


def _import(options):
    refuse_existing(options.output)
    data = importer.from_disksim(options.file, options.name, options.bus, options.literal)
    kind = disks.Description(importer.check(data), options.file)
    importer.write(data, options.output)
    decided = ", ".join(sorted({entry["decision"] for entry in kind.decisions().values()}))
    assumed = ", ".join(key for key, entry in kind.data["sources"].items() if entry["status"] == "assumed")
    return {
        "output": str(options.output),
        "drive": kind.name,
        "blocks": kind.blocks,
        "decisions": decided or None,
        "assumed": assumed or None,
    }
