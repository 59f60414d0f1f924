"""What a trace is like and how caches perform on it: tables, figures and a page per row of ``config/traces.tsv``."""
