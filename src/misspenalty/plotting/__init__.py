"""Draw all figures in the same style, and save them in the same way.

`style` defines the look and `save_figure`; `parts` draws the elements that figures of several studies share; `curve`
draws the plots of the command line. Each study's own functions take its tidy tables and return a Matplotlib figure.
"""

from misspenalty.plotting.style import save_figure

__all__ = ["save_figure"]
