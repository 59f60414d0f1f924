"""The results as a site: static pages with all claims, interactive figures, and the provenance of each file."""
