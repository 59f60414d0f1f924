"""Characterize traces and how caches perform on them: tables, figures, a page for each row of ``config/traces.tsv``."""
