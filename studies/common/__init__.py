"""Judge claims, check settings, tabulate, archive and publish results: what all studies share."""
