"""Present the results as a site: static pages with all claims, interactive figures, and each file's provenance."""
