"""Disks that behave like real drives, and flash; descriptions in ``data/drives``.

>>> from misspenalty import disks
>>> drive = disks.load("hp97560").drive()
>>> record = drive.service(now=0, lbn=100_000, count=8)
>>> record["done"] == sum(record[part] for part in disks.COMPONENTS)
True
"""

from misspenalty.disks._drive import COMPONENTS, RECORD, SCHEDULERS, Drive
from misspenalty.disks._mechanics import Mechanics
from misspenalty.disks.description import Description, load, names
from misspenalty.disks.flash import Flash, FlashDescription

__all__ = [
    "COMPONENTS",
    "RECORD",
    "SCHEDULERS",
    "Description",
    "Drive",
    "Flash",
    "FlashDescription",
    "Mechanics",
    "load",
    "names",
]
