"""Predict the next file: ``<name>.py`` defines a predictor, a ``.pyx`` file is its kernel, and `registry` lists all."""
