"""Prefetching: ``<name>.py`` defines a mechanism (paper, parameters, readable twin), ``_<name>.pyx`` is its kernel.

Predictors of files register themselves in `misspenalty.prefetch.registry`, as policies do.
"""
