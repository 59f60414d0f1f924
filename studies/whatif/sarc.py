"""Compare SARC with LRU in an array's cache: predict response times with other back ends.

The predictions are computed from the archived components of the simulated response times. These components, and the
utilisations, are those of `results/sarc`, whose disks are 10,000 rpm drives of 2002. With a back end that takes `f`
times as long, the disks' own time is multiplied by `f`. The wait for a disk is the simulated wait, multiplied by `f`
and by the ratio of the waits in a multi-server queue at the two utilisations (H. Sakasegawa, An approximation formula L
= alpha rho^beta / (1 - rho), 1977). The waits for a slot and for room in the write cache change in proportion to the
wait for a disk. The times of controller and adapter are divided by the speed-up of the processors.

A wait grows as 1 / (1 - utilisation), so near a utilisation of 1 it depends more on the last digit of the utilisation
than on the policies. From `SATURATED` on, where one more point of utilisation makes a wait a quarter longer, a back end
is taken to be saturated: its utilisation is reported, but no response time.
"""

from math import isnan, nan, sqrt

import pandas as pd

from misspenalty_studies.whatif.machines import disk, load
from misspenalty_studies.whatif.runs import tried

OWN_DRIVE = "ultrastar_146z10"  # the drive of studies/sarc/machine.yaml
PROCESSORS = ("controller", "adapter_queue", "adapter")
SERVICE = ("disk_overhead", "seek", "rotation", "disk_transfer", "disk_bus", "disk_cache", "in_flight")
WAITS = ("disk_queue", "host_queue", "write_cache")
BASELINES = ("lru_top", "lru_bottom")
SATURATED = 0.95  # utilisation at and above which no response time is computed
SAME, SCALED = "same requests", "same utilisation"


def wait(utilisation, servers):
    """Return the mean wait for one of several servers, in multiples of the service time; NaN from `SATURATED` on.

    Examples
    --------
    One server, busy half of the time:

    >>> wait(0.5, 1)
    1.0
    """
    if not 0 <= utilisation < SATURATED:
        return nan
    return utilisation ** (sqrt(2 * (servers + 1)) - 1) / (servers * (1 - utilisation))


class Conclusion:
    """SARC's gain in mean response time over the better of the two LRUs.

    Parameters
    ----------
    components : DataFrame
        ``results/sarc/components.csv``.
    internals : DataFrame
        ``results/sarc/internals.csv``, with the disks' utilisation.
    responses : DataFrame
        ``results/sarc/fig6.csv``, with mean response times.
    points : sequence of (str, int, str)
        Configuration, load in scaled IOPS (requests per second on the scale of the paper's axis), and what stays the
        same with another back end: the requests per second or the disks' utilisation.
    own_us : float
        Time of a random read of 8 KB from the simulated drive.
    """

    name, study, threshold_pct = "SARC", "sarc", 5.0

    def __init__(self, components, internals, responses, points, own_us):
        keys = ["config", "scaled_iops", "policy"]
        means = components.groupby([*keys, "request", "component"])["ms"].mean()
        self.ms = means.to_dict()
        self.busy = internals.groupby(keys)["utilisation"].mean().to_dict()
        self.response = responses.set_index(keys)["response_ms"].to_dict()
        self.points = {f"{config}, {iops} scaled IOPS, {load}": (config, iops, load) for config, iops, load in points}
        self.cases, self.own_us = tuple(self.points), own_us

    def _response(self, config, iops, policy, factor, faster, servers, scaled):
        """Return the mean response time, in ms, with a back end that takes `factor` times as long and has `servers`
        servers; processors are `faster` times as fast. If `scaled`, the disks' utilisation stays the same, otherwise
        the requests per second do."""
        times = {}
        own = self.busy[config, iops, policy]
        busy = own if scaled else own * factor / servers
        stretched = factor * wait(busy, servers) / wait(own, 1)
        for request in ("read", "write"):
            part = {name: self.ms[config, iops, policy, request, name] for name in PROCESSORS + SERVICE + WAITS}
            times[request] = (
                sum(part[name] for name in PROCESSORS) / faster
                + sum(part[name] for name in SERVICE) * factor
                + sum(part[name] for name in WAITS) * stretched
            )
        return self._mean(config, iops, policy, times)

    def _mean(self, config, iops, policy, times):
        """Return the mean over reads and writes, with the weights that yield the archived mean response time."""
        own = {
            request: sum(self.ms[config, iops, policy, request, name] for name in PROCESSORS + SERVICE + WAITS)
            for request in ("read", "write")
        }
        share = (self.response[config, iops, policy] - own["write"]) / (own["read"] - own["write"])
        return share * times["read"] + (1 - share) * times["write"]

    def measures(self, machines, era, device, case):
        """Compute the response times of the policies.

        Returns
        -------
        dict
            ``gain_pct``, the percentage by which SARC's response time is below the better LRU's, NaN if the back end is
            saturated with SARC or with both LRUs; ``sarc_ms, lru_ms``; and ``utilisation`` of the back end with SARC.
        """
        config, iops, load = self.points[case]
        factor, faster = device.read_us / self.own_us, machines.faster(self.study, era)
        given = (factor, faster, device.parallel, load == SCALED)
        sarc = self._response(config, iops, "sarc", *given)
        priced = [self._response(config, iops, policy, *given) for policy in BASELINES]
        lru = min((ms for ms in priced if not isnan(ms)), default=nan)
        own = self.busy[config, iops, "sarc"]
        busy = own if load == SCALED else own * factor / device.parallel
        return {"gain_pct": 100 * (1 - sarc / lru), "sarc_ms": sarc, "lru_ms": lru, "utilisation": busy}

    def checks(self):
        """Return triples (quantity, simulated, priced): waits at a low load, priced from those at a higher load."""
        rows = []
        for config, low, high in (("cache_sensitive", 2500, 12500), ("cache_insensitive", 1136, 5682)):
            for policy in ("sarc", "lru_bottom"):
                own, busy = (self.busy[config, iops, policy] for iops in (high, low))
                part = {n: self.ms[config, high, policy, "read", n] for n in PROCESSORS + SERVICE + WAITS}
                priced = part["disk_queue"] * wait(busy, 1) / wait(own, 1)
                rows.append(
                    (f"{config}, {policy}, wait for a disk, {low} from {high} scaled IOPS, ms",
                     self.ms[config, low, policy, "read", "disk_queue"], priced)
                )  # fmt: skip
        return rows


def conclusion_of(components, internals, responses, points):
    """Build the conclusion from its tables.

    Parameters
    ----------
    components, internals, responses : path-like
        Tables of `Conclusion`.
    points : dict of str to dict
        ``config, iops, load`` of each point; the names are arbitrary.
    """
    tables = [pd.read_csv(path) for path in (components, internals, responses)]
    chosen = [(point["config"], point["iops"], point["load"]) for point in points.values()]
    return Conclusion(*tables, chosen, disk(OWN_DRIVE).read_us)


def job(machines, components, internals, responses, points):
    """Evaluate SARC on all machines; see `conclusion_of` (a workflow job).

    Returns
    -------
    dict of str to DataFrame
        See `misspenalty_studies.whatif.runs.tried`.
    """
    return tried(conclusion_of(components, internals, responses, points), load(machines))
