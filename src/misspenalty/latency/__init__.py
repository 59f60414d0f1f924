"""Measure what a miss costs: response time of a trace through cache, queue and device; step model of delayed hits."""
