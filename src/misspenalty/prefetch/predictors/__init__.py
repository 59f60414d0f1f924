"""Predict the next file: ``<name>.py`` defines a predictor, ``_<name>.pyx`` is its kernel, `registry` lists all."""
