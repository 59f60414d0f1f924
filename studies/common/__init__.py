"""Judge claims, check settings, and tabulate, archive and publish results, for all studies."""
