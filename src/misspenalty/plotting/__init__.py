"""Draw figures in one style, save them in one way, and provide one function per figure.

`style` defines the look and `save_figure`; each study has its own module, whose functions take the study's tidy tables
and return a Matplotlib figure. Scripts and notebooks import this package; nothing in the library does.
"""

from misspenalty.plotting.style import save_figure

__all__ = ["save_figure"]
