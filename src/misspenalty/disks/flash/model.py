"""Model flash drives: dies on channels behind a controller with a page-mapped, log-structured translation layer.

The model is deliberately small:

* Dies work in parallel, each on one operation at a time. The pages of a request share the wires of a channel; pages of
  older requests do not delay them there, nor does collection, which copies inside a die. The planes of a die are used
  together, so a page here is one page of each plane.
* The controller maps units, by default of 4 KB. A page of units is programmed on the die that is free first, in the
  next page of its open block. The older copy of a unit becomes garbage.
* A read interrupts its die if the die is programming or erasing; the interrupted operation then takes correspondingly
  longer.
* A die with few erased blocks is collected: the valid units of the full block that has the fewest (*greedy*) are copied
  to another open block inside the die, at the rate needed to keep up with the pages programmed; then the block is
  erased. The spare space that this needs is the capacity of the flash beyond the nominal size of the drive.
* A power-safe buffer, if the description has one, completes a write as soon as it has room, and gathers units into
  whole pages. Without one, a write is complete when its pages are programmed, the last one padded.
* A write to part of a unit reads the unit first, without holding up the buffer. A unit never written is read as if all
  units had been laid out in order across the dies.

The model leaves out wear levelling beyond taking blocks in turn, faults, mapping tables that do not fit into memory,
and idle-time collection. The methods of `Flash` serve one request at a time: the next one starts only when the last has
completed. In the replays of `misspenalty.penalty`, requests overlap on different dies. A read that interrupts a program
delays what the die does next, but the program's units leave the buffer at the time they would have left without the
interruption.

A request's record is that of `misspenalty.disks.Drive`: ``overhead`` is command processing, ``bus`` the interface,
``transfer`` pages read or programmed and moved over their channels, ``cache`` waiting for room in the buffer or for a
die that older writes and their collection keep busy; all other components are 0.
"""

from misspenalty.disks.drive.description import KINDS, Kind
from misspenalty.disks.flash._flash import FEW_BLOCKS, Flash
from misspenalty.errors import InputError, ParameterError, check_whole


class FlashDescription(Kind):
    """A kind of flash drive.

    Attributes
    ----------
    name, model : str
    data : dict
        The description, defaults filled in.
    settings : dict
        Parameters of the kernel, times in ns.
    """

    def __init__(self, data, path=None):
        super().__init__(data, path)
        try:
            self.settings = _settings(data)
            _check_room(self.units, self.settings)
        except ParameterError as error:
            raise InputError(str(error), path=path) from error

    @property
    def unit_sectors(self):
        """Sectors per mapped unit."""
        return self.settings["unit_blocks"]

    @property
    def units(self):
        """Number of mapped units in the drive's nominal size."""
        return self.data["geometry"]["sectors"] // self.unit_sectors

    @property
    def blocks(self):
        """Number of blocks (sectors) of the drive."""
        return self.units * self.unit_sectors

    @property
    def spare(self):
        """Flash capacity beyond the nominal size of the drive, as a share of the latter."""
        return _places(self.settings) / self.units - 1

    def drive(self):
        """Make a drive of this kind on which nothing has been written."""
        return Flash(self.settings, self.units)

    def one_by_one(self, lbn, count, write, delay):
        """Serve requests on a new drive one after another, waiting `delay` ns after each; return their records."""
        return self.drive().one_by_one(lbn, count, write, delay)

    def slice(self, blocks):
        """Return this kind with `blocks` erase blocks per plane and fewer sectors, so that its spare share is kept.

        Raises
        ------
        ParameterError
            `blocks` is not a whole number, is above the drive's own number, or is below 8 or so low that collection has
            no room.
        """
        most = self.data["geometry"]["blocks"]
        least = next(
            n for n in range(8, most + 1) if self.units * n // most <= _room(self.settings | {"die_blocks": n})
        )
        blocks = check_whole(f"{self.name}: blocks", blocks, least, most, " erase blocks per plane")
        units = self.units * blocks // most
        return self.replace({"geometry.blocks": blocks, "geometry.sectors": units * self.unit_sectors})


KINDS["flash"] = FlashDescription


def _settings(data):
    geometry, flash = data["geometry"], data["flash"]
    unit, sector = geometry["unit_bytes"], geometry["sector_bytes"]
    page = geometry["planes"] * geometry["page_bytes"]
    if unit % sector or page % unit:
        raise ParameterError(
            f"geometry.unit_bytes: {unit}; expected a multiple of sector_bytes ({sector}) that divides"
            f" planes x page_bytes ({page})"
        )
    slots = data["cache"]["write_units"]
    if 0 < slots < 2 * page // unit:
        raise ParameterError(
            f"cache.write_units: {slots}; expected 0, or at least {2 * page // unit}, the units of two pages"
        )
    return {
        "channels": geometry["channels"],
        "dies": geometry["channels"] * geometry["dies"],
        "die_blocks": geometry["blocks"],
        "block_pages": geometry["pages"],
        "page_units": page // unit,
        "unit_blocks": unit // sector,
        "slots": slots,
        "read": _ns(flash["read_us"]),
        "program": _ns(flash["program_us"]),
        "erase": _ns(flash["erase_us"]),
        "move": _ns(unit / flash["channel_mb_per_s"]),
        "link": _ns(sector / data["interface"]["mb_per_s"]),
        "read_command": _ns(data["overheads"]["read_us"]),
        "write_command": _ns(data["overheads"]["write_us"]),
    }


def _ns(us):
    return round(1000 * us)


def _places(settings):
    """Return the number of units that the flash has room for."""
    return settings["dies"] * settings["die_blocks"] * settings["block_pages"] * settings["page_units"]


def _room(settings):
    """Return the largest number of units with which collection can always free a page."""
    pages = settings["dies"] * (settings["die_blocks"] - FEW_BLOCKS) * (settings["block_pages"] - 1)
    return pages * settings["page_units"]


def _check_room(units, settings):
    """Check that the units leave collection room, and that the flash is not too large."""
    most = _room(settings)
    if not 1 <= units <= most:
        raise ParameterError(f"geometry.sectors: {units} units; expected 1 to {most}, as collection needs spare space")
    if _places(settings) >= 2**31:
        raise ParameterError(f"geometry: {_places(settings)} units of flash; at most 2^31 - 1 can be simulated")
