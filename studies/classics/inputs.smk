# Find the traces of the classics study.
from misspenalty_studies.classics.settings import FILES as CLASSICS_FILES
from misspenalty_studies.classics.settings import TRACES as CLASSICS_TRACES


wildcard_constraints:
    surviving="|".join(CLASSICS_TRACES),


def classics_trace(wildcards):
    """Return the file of a registered trace."""
    return str(CLASSICS_PATHS[wildcards.surviving])
