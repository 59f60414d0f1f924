"""Predict the next file: ``<name>.py`` defines a predictor, ``.pyx`` files are kernels, and `registry` lists all."""
