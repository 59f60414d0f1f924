"""Record your own workload with bpftrace: a PostgreSQL server's blocks, a command's files, a device's requests.

The programs of ``data/capture``, which made the captures that the studies read, use the same probes and tracer.
"""
