"""Compare MQ with LRU: compute TPC-C's transaction rate from counted misses and writes, by mean value analysis.

The study's own model replays every request. Here the same closed network is solved from that model's counts, which
takes about a millisecond. The network has 48 terminals, the database's processor, the storage servers' processors, both
directions of the link, and 24 devices. The method is exact mean value analysis (M. Reiser, S. S. Lavenberg, JACM 1980)
with constant service at the devices: a request in service has half of its time left on average. A device that serves
several requests at a time is modelled as a faster one behind a delay (A. Seidmann, P. Schweitzer, S. Shalev-Oren,
1987).
"""

import numpy as np
import pandas as pd

from misspenalty_studies.whatif.machines import load
from misspenalty_studies.whatif.runs import tried

TERMINALS, SERVERS, DEVICES = 48, 4, 24  # as in studies/mq/machine.yaml
OWN_MBIT_PER_S = 800  # the testbed's link, each way
OWN_ACCESS_MS, OWN_MB_PER_S = 9, 15  # the testbed's disks
BYTES = 8192


def rate(demands, delay, terminals, constant=()):
    """Return the throughput of a closed network.

    Parameters
    ----------
    demands : sequence of (float, int)
        For each kind of station, a transaction's service time at one station, and the number of stations that share
        the load.
    delay : float
        Time that a transaction spends without queueing, in the same unit.
    terminals : int
    constant : collection of int
        Kinds of station, by position in `demands`, with constant service times; all others have exponential ones.

    Returns
    -------
    float
        Transactions per unit of time.

    Examples
    --------
    Two terminals keep a single station busy, whatever its queue:

    >>> rate([(2.0, 1)], 0.0, 2)
    0.5
    >>> rate([(1.0, 1), (1.0, 1)], 0.0, 2)  # N / (N + K - 1) for N = 2 terminals and K = 2 equal stations
    0.6666666666666666
    """
    service = np.array([one for one, _ in demands])
    number = np.array([many for _, many in demands])
    left = np.array([0.5 if kind in constant else 0.0 for kind in range(len(demands))])
    queue, busy, throughput = np.zeros(len(service)), np.zeros(len(service)), 0.0
    for population in range(1, terminals + 1):
        response = service * (1 + queue - left * busy)
        throughput = population / (delay + (number * response).sum())
        queue, busy = throughput * response, throughput * service
    return float(throughput)


class Conclusion:
    """MQ's gain in transaction rate over LRU.

    Parameters
    ----------
    rates : dict of str to DataFrame
        Tables by name: ``results/mq/fig7.csv``, and its variant in which the first level is calibrated.
    """

    name, study, threshold_pct = "MQ", "mq", 1.0
    STATIONS = ("database_cpu", "server_cpu", "link_in", "link_out")  # demands follow from their utilisation

    def __init__(self, rates):
        self.points = {
            (f"{name}, {row.cache_mb:g} MB", row.policy): row for name, t in rates.items() for row in t.itertuples()
        }
        self.cases = tuple(dict.fromkeys(case for case, _ in self.points))

    def _rate(self, row, faster, link, read_us, write_us, parallel):
        """Return the transactions per second at one point; demands are utilisation / rate, by the utilisation law."""
        second = 1e6
        reads, writes = row.misses / row.transactions, row.writes / row.transactions
        busy = {name: getattr(row, f"utilisation_{name}") / row.rate_per_s for name in self.STATIONS}
        device = (reads * read_us + writes * write_us) / second / DEVICES
        demands = [
            (busy["database_cpu"] / faster, 1),
            (busy["server_cpu"] / faster, SERVERS),
            (busy["link_in"] / link, 1),
            (busy["link_out"] / link, 1),
            (device / parallel, DEVICES),
        ]
        return rate(demands, DEVICES * device * (1 - 1 / parallel), TERMINALS, constant=(4,))

    def measures(self, machines, era, device, case):
        """Solve the network for both policies and return their transaction rates.

        Returns
        -------
        dict
            ``gain_pct``, the percentage by which MQ's rate is higher; ``mq_per_s, lru_per_s``.
        """
        faster, link = machines.faster(self.study, era), era.network_mbit_per_s / OWN_MBIT_PER_S
        times = (device.read_us, device.write_us, device.parallel)
        if device.name == "remote_memory":  # the link is a separate station, so only the processors' work is left
            times = (4 * era.packet_us, 4 * era.packet_us, device.parallel)
        mq, lru = (self._rate(self.points[case, policy], faster, link, *times) for policy in ("mq", "lru"))
        return {"gain_pct": 100 * (mq / lru - 1), "mq_per_s": mq, "lru_per_s": lru}

    def checks(self):
        """Return triples of a quantity, its simulated value and its solved value, on the testbed."""
        own = 1000 * OWN_ACCESS_MS + BYTES / OWN_MB_PER_S  # us
        rows = []
        for case in self.cases:
            solved = {p: self._rate(self.points[case, p], 1, 1, own, own, 1) for p in ("mq", "lru")}
            simulated = {p: self.points[case, p].rate_per_s for p in ("mq", "lru")}
            rows.append((f"{case}, LRU, transactions/s", simulated["lru"], solved["lru"]))
            rows.append((f"{case}, MQ over LRU", simulated["mq"] / simulated["lru"], solved["mq"] / solved["lru"]))
        return rows


def job(machines, recorded, calibrated):
    """Evaluate MQ on all machines (a workflow job).

    Parameters
    ----------
    machines, recorded, calibrated : path-like
        ``machine.yaml``, ``results/mq/fig7.csv`` and ``fig7_calibrated.csv``.

    Returns
    -------
    dict of str to DataFrame
        See `misspenalty_studies.whatif.runs.tried`.
    """
    rates = {"recorded": pd.read_csv(recorded), "calibrated": pd.read_csv(calibrated)}
    return tried(Conclusion(rates), load(machines))
