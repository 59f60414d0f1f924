"""Keep the free sectors of a slice, and find how soon the nearest one passes the head."""

from misspenalty_studies.vlog.virtual_log._eager import FreeSpace

__all__ = ["FreeSpace"]
