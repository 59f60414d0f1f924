"""Serve requests that arrive at a drive, in the order of its scheduler."""


def play(drive, arrivals, scheduler, depth):
    """Serve requests (arrival, lbn, count, write) through a reference drive's queue; return (start, Record) of each.

    The scheduler chooses from the first `depth` that wait; ties go to the request that came first.
    """
    waiting, results, now, coming, up = [], [None] * len(arrivals), 0, 0, True
    while coming < len(arrivals) or waiting:
        if not waiting:
            now = max(now, arrivals[coming][0])
        while coming < len(arrivals) and (arrivals[coming][0] < now or not waiting):
            waiting.append(coming)
            coming += 1
        window = waiting[:depth]
        if drive.ahead >= 0 and scheduler != "fcfs" and len(window) > 1:
            drive.read_until(now, 1 << 90)
            drive.end_ahead()
        here = drive.layout.tracks[drive.track][0]
        away = {i: drive.layout.tracks[drive.layout.place[arrivals[i][1]][0]][0] - here for i in window}
        if scheduler == "look" and not any(away[i] >= 0 if up else away[i] <= 0 for i in window):
            up = not up
        chosen = min(window, key={i: (_key(scheduler, drive, arrivals[i], away[i], up, now), i) for i in window}.get)
        waiting.remove(chosen)
        _, lbn, count, write = arrivals[chosen]
        results[chosen] = now, drive.service(now, lbn, count, write)
        now = results[chosen][1].done
    return results


def _key(scheduler, drive, request, away, up, now):
    """Return the sort key of a request; the request with the lowest key is served next."""
    if scheduler == "sstf":
        return abs(away)
    if scheduler == "look":
        return (away < 0 if up else away > 0), abs(away)
    if scheduler == "clook":
        return away < 0, away
    if scheduler == "sptf":
        return positioning(drive, now, *request[1:])
    return 0


def positioning(drive, now, lbn, count, write):
    """Return the ticks from a command at `now` until the arm has arrived and the block begins, without the cache."""
    released, stands = drive.stopped(now)
    track, sector = drive.layout.place[lbn]
    move = drive.reposition(track, write, stands)
    start = max(released, now + drive.command_time(lbn, count, write))
    start += max(move, drive.s["least_seek"]) if write else move
    return drive.meets(track, sector, start) - now * drive.rpm
