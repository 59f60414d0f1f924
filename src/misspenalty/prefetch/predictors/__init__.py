"""Predictors of the next file: ``<name>.py`` defines one, ``_<name>.pyx`` is its kernel; `registry` knows all."""
