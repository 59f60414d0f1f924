"""Simulate a storage server below database clients (MQ): cache, queue, disks, closed loop of transactions."""
