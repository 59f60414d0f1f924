"""One package per paper: settings, runs, tables, figures, claims. A study knows the library; the library knows no study."""
