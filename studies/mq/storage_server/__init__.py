"""Simulate the MQ paper's storage server below a database: cache, queues, disks, and a closed loop of transactions."""
