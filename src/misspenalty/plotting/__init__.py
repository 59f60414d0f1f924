"""Draw all figures in the same style, and save them in the same way.

`style` defines the look and `save_figure`; each study has its own module, whose functions take the study's tidy tables
and return a Matplotlib figure. Scripts and notebooks import this package; nothing in the library does.
"""

from misspenalty.plotting.style import save_figure

__all__ = ["save_figure"]
