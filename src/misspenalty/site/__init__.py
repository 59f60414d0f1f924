"""The results as a site: static pages with all claims, figures that answer to a pointer, and what made each file."""
