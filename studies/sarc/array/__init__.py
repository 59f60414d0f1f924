"""Simulate a storage controller with a read cache, a non-volatile write cache and RAID-5 arrays (SARC)."""
