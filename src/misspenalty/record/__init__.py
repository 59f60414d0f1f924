"""Record your own workload with bpftrace: a PostgreSQL server's blocks, a command's files, a device's requests.

The programs in ``data/capture``, which made the captures for the studies, use the same probes and tracer.
"""
