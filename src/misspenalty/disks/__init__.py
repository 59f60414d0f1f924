"""Simulate disk drives and flash drives that behave like real ones; ``data/drives`` has their descriptions.

>>> from misspenalty import disks
>>> drive = disks.load("hp97560").drive()
>>> record = drive.service(now=0, lbn=100_000, count=8)
>>> record["done"] == sum(record[part] for part in disks.COMPONENTS)
True
"""

from misspenalty.disks.drive._drive import COMPONENTS, SCHEDULERS, Drive
from misspenalty.disks.drive._mechanics import Mechanics
from misspenalty.disks.drive.description import Description, load, names
from misspenalty.disks.drive.records import RECORD
from misspenalty.disks.flash.model import Flash, FlashDescription

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
