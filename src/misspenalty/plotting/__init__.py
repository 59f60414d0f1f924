"""Figures: one style, one way to save, one function a figure.

`style` holds the look and `save_figure`; each study has a module of its own, whose functions take the study's tidy
tables and return a Matplotlib figure. Nothing in the library imports this package but scripts and notebooks do.
"""

from misspenalty.plotting.style import save_figure

__all__ = ["save_figure"]
