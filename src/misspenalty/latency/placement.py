"""Find the device that serves misses, and place each block or object on it."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

import numpy as np

from misspenalty import disks
from misspenalty.disks.drive.description import Kind
from misspenalty.errors import ParameterError
from misspenalty.latency._devices import Device, Disk, FixedTime
from misspenalty.latency._flash_device import FlashDrive
from misspenalty.traces.quantities import is_time, parse_time
from misspenalty.traces.trace import Trace

# Maximum number of sectors of one request; np.iinfo does not exist in the page that replays in a browser.
MAX_SECTORS = 2**31 - 1


@dataclass(frozen=True)
class Target:
    """A device, and the places of a trace's blocks or objects on it.

    Attributes
    ----------
    name : str
    make : callable
        Makes a new device, which serves one replay.
    lbn : int64, shape (blocks,)
        First sector of each block or object.
    sectors : int
        Sectors of a block; 1 for objects of different sizes, and for a fixed time.
    layout : str
        ``address``, ``packed`` or ``none``.
    sector_bytes : int
        Bytes of a sector; 0 for a fixed time.
    queued : bool
        Whether the device has a queue that a scheduler can order; only disks have one.
    """

    name: str
    make: Callable[[], Device]
    lbn: np.ndarray
    sectors: int
    layout: str
    sector_bytes: int = 0
    queued: bool = False

    def transfers(self, trace: Trace, kept: "slice | np.ndarray") -> np.ndarray | None:
        """Return how many sectors each reference in `kept` transfers; None for whole blocks or a fixed time."""
        if trace.object_bytes is None or not self.sector_bytes:
            return None
        return _sectors(trace.bytes_of(kept), self.sector_bytes).astype(np.int32)


def find_target(device: "str | PathLike[str] | Kind", trace: Trace, scheduler: str | None) -> Target:
    """Make the `Target` for a device, given as in `misspenalty.penalty`.

    Raises
    ------
    ParameterError
        The device is neither a time nor a drive, or the trace does not fit on the drive.
    InputError
        There is no such drive, or its description is invalid.
    """
    if isinstance(device, str) and is_time(device):
        latency = parse_time(device, "device")
        if latency < 1:
            raise ParameterError(f"device {device}: expected at least 1 ns")
        return Target(device.strip(), lambda: FixedTime(latency), np.zeros(trace.blocks, np.int64), 1, "none")
    if isinstance(device, str) and re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*", device):
        whole, _, rest = device.strip().partition(".")
        written = f"{whole or 0}{rest and '.'}{rest}ms"  # `parse_time` requires digits on both sides of a point
        raise ParameterError(f"device {device.strip()!r} is a time without its unit; write {written}, or name a drive")
    if isinstance(device, str) and re.fullmatch(r"\s*-?[0-9.]+ *[A-Za-zµ]+\s*", device) and not os.path.exists(device):
        raise ParameterError(f"device {device.strip()!r} is not a time; expected one such as 5ms or 200us, or a drive")
    if not isinstance(device, Kind | str | PathLike):
        raise ParameterError(f"device is {device!r}; expected a drive's name or description, or a time such as '5ms'")
    kind = device if isinstance(device, Kind) else disks.load(device)
    flash = kind.data["kind"] == "flash"
    order = {} if flash or scheduler is None else {"scheduler": scheduler}
    make = (lambda: FlashDrive(kind.drive())) if flash else (lambda: Disk(kind.drive(**order)))
    unit = kind.data["geometry"]["sector_bytes"]
    lbn, sectors, layout = _blocks(trace, kind, unit) if trace.object_bytes is None else _objects(trace, kind, unit)
    return Target(kind.name, make, lbn, sectors, layout, unit, not flash)


def _blocks(trace: Trace, kind: Kind, unit: int) -> tuple[np.ndarray, int, str]:
    sectors = -(-trace.block_bytes // unit)
    fits = int(trace.address.max(initial=0)) < kind.blocks // sectors
    if trace.blocks > kind.blocks // sectors:
        raise ParameterError(
            f"{trace.name} has {trace.blocks} blocks of {trace.block_bytes} bytes; {kind.name} has room for "
            f"{kind.blocks // sectors}: choose a larger drive or a fixed time"
        )
    place = trace.address.astype(np.int64) if fits else np.argsort(np.argsort(trace.address, kind="stable"))
    return place * sectors, sectors, "address" if fits else "packed"


def _objects(trace: Trace, kind: Kind, unit: int) -> tuple[np.ndarray, int, str]:
    """Place objects in order of address, each with room for its largest size."""
    largest = np.array(trace.object_bytes)
    if trace.request_bytes is not None:
        np.maximum.at(largest, trace.ids, trace.request_bytes)
    sectors = _sectors(largest, unit)
    if sectors.max(initial=0) > MAX_SECTORS or sectors.sum() > kind.blocks:
        raise ParameterError(
            f"{trace.name} has objects of {int(largest.sum())} bytes in total, the largest of {int(largest.max())};"
            f" {kind.name} has {kind.blocks * unit} bytes: choose a larger drive or a fixed time"
        )
    order = np.argsort(trace.address, kind="stable")
    lbn = np.zeros(trace.blocks, np.int64)
    lbn[order[1:]] = np.cumsum(sectors[order])[:-1]
    return lbn, 1, "packed"


def _sectors(size: np.ndarray, unit: int) -> np.ndarray:
    """Return the number of sectors that `size` bytes occupy, at least one."""
    return np.asarray(np.maximum(-(-size // unit), 1))
