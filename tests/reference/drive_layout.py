"""Find the place of every block of a layout by counting slots."""

from fractions import Fraction
from math import ceil

TURN = 60_000_000_000  # ticks of a revolution


class Layout:
    """Every block's place: ``place[lbn] = (track, sector)``, tracks numbered zone by zone in the order of blocks."""

    def __init__(self, geometry):
        self.place, self.tracks = [], []  # tracks: (cylinder, head, sectors, angle in ticks)
        for zone in geometry["zones"]:
            first_track = len(self.tracks)
            self._add_tracks(zone, geometry)
            slots = self._slots(zone, geometry["heads"], geometry["sparing"])
            spare = dict((bad, good) for bad, good in zone["defects"] if bad != good)
            per = zone["sectors"]
            if geometry["sparing"]["scheme"] == "tracks":
                slots = [spare.get(slot // per, slot // per) * per + slot % per for slot in slots]
            else:
                slots = [spare.get(slot, slot) for slot in slots]
            self.place += [(first_track + slot // per, slot % per) for slot in slots[zone["unused_at_front"] :]]

    def blocks_of(self, track):
        """Return a track's blocks by sector."""
        return {sector: lbn for lbn, (at, sector) in enumerate(self.place) if at == track}

    def _add_tracks(self, zone, geometry):
        heads, scheme = geometry["heads"], geometry["sparing"]["scheme"]
        for c, cylinder in enumerate(range(zone["first_cylinder"], zone["last_cylinder"] + 1)):
            for order in range(heads):
                odd = (c if geometry["mapping"] == "serpentine_zone" else cylinder) % 2
                turned = odd and geometry["mapping"] != "cylinders"
                before = {"track": c * heads + order}.get(scheme, c * heads if scheme.startswith("cylinder") else 0)
                pushed = sum(slip < before * zone["sectors"] for slip in set(zone["slips"]))
                sectors = (
                    Fraction(str(zone["offset"]))
                    + (order + (heads - 1) * c) * Fraction(str(zone["track_skew"]))
                    + c * Fraction(str(zone["cylinder_skew"]))
                    + pushed
                )
                angle = ceil(sectors % zone["sectors"] / zone["sectors"] * TURN) % TURN
                self.tracks.append((cylinder, heads - 1 - order if turned else order, zone["sectors"], angle))

    @staticmethod
    def _slots(zone, heads, sparing):
        """Return the slots of the zone in the order of blocks: the unused ones at the front, then those of blocks."""
        scheme, spares, sectors = sparing["scheme"], zone["spares"], zone["sectors"]
        cylinder = heads * sectors
        total = (zone["last_cylinder"] - zone["first_cylinder"] + 1) * cylinder
        slips = set(zone["slips"])
        if scheme == "tracks":
            good = [slot for slot in range(total) if slot // sectors not in slips]
            return good[: total - spares * sectors]
        good = [slot for slot in range(total) if slot not in slips]
        if scheme == "cylinder_slip_to_end":
            return [slot for slot in good if slot % cylinder < cylinder - spares]
        if scheme == "cylinder_front_slip_to_end":
            return [slot for slot in good if slot % cylinder >= spares]
        if scheme == "zone":
            return good[: total - spares]
        if scheme == "zone_slip_to_end":
            return good[: max(total - spares - len(slips), 0)]
        unit = {
            "track": sectors,
            "cylinder": cylinder,
            "cylinder_front": cylinder,
            "range": sparing["range"] * cylinder,
        }
        if scheme not in unit:
            return good
        kept = []
        for start in range(0, total, unit[scheme]):
            size = min(unit[scheme], total - start)
            mine = [slot for slot in good if start <= slot < start + size]
            back = 0 if scheme == "range" and size < unit[scheme] else spares
            room = max(size - back, 0)
            kept += mine[max(len(mine) - room, 0) :] if scheme == "cylinder_front" else mine[:room]
        return kept
