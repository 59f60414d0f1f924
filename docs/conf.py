"""Configure the documentation: ``make docs`` builds it into ``build/docs`` without warnings and without a network."""

import re

from sphinx.domains.python import PythonDomain
from sphinx.util.docutils import SphinxDirective

import misspenalty
from misspenalty_studies.common.configuration import tables

project = "Miss Penalty"
author = "The Miss Penalty authors"
project_copyright = author  # without a year, so that the same sources give the same pages
release = version = misspenalty.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # docstrings state types in words; aliases such as ArrayLike would become long unions
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "py:obj"  # `name` in a docstring links to the object of that name, if there is one

html_theme = "furo"
html_title = "Miss Penalty"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["genindex.css"]
pygments_style = "default"


class Python(PythonDomain):
    """Python's domain without links for short names that several modules have, because such a link may be wrong."""

    def find_obj(self, *arguments, **keywords):
        """Return the only object that a name may mean, or nothing if there are several or none."""
        matches = super().find_obj(*arguments, **keywords)
        return matches if len(matches) == 1 else []


class Settings(SphinxDirective):
    """A directive that inserts tables of all keys of a run's configuration."""

    def run(self):
        """Return the tables, which are made from the settings."""
        return self.parse_text_to_nodes(tables(), allow_section_headings=True)


def escape_sizes(app, what, name, obj, options, lines):
    """Keep ``|T1|``, the length of list T1 as the papers write it, from being read as a substitution."""
    lines[:] = [re.sub(r"\|(\w+)\|", r"\\|\1\\|", line) for line in lines]


def setup(app):
    """Register the domain, the directive and `escape_sizes` with Sphinx."""
    app.add_domain(Python, override=True)
    app.add_directive("settings", Settings)
    app.connect("autodoc-process-docstring", escape_sizes)
