"""One package per paper: settings, runs, tables, figures, claims. Studies import the library, never the reverse."""
