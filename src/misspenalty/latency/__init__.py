"""What a miss costs: response time of a trace through cache, queue and device, and the step model of delayed hits."""
