"""Flash storage behind a page-mapped, log-structured translation layer."""
