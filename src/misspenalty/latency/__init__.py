"""Measure the cost of misses: the response times of a trace through cache, queue and device, and delayed hits."""
