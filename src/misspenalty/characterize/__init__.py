"""What a trace is like and what caches do for it: tables, figures and a page per row of ``config/traces.tsv``."""
