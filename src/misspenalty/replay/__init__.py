"""Replay a trace through a policy: one simulation, a curve over cache sizes, exact stack distances."""
