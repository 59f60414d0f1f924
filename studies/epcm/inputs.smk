# Define the inputs of the EPCM study's rules.
EPCM = config["epcm"]
BUILDS = list(EPCM["captures"])


wildcard_constraints:
    build="|".join(BUILDS),


def build_files(build):
    """Return the tables of a recorded build: calls, files and processes."""
    return recorded_files(EPCM["captures"][build])


def recorded_files(path):
    """Return the tables of the recording whose calls are at `path`: calls, files and processes."""
    calls = Path(path)
    others = [f"{calls.stem}_files.parquet", f"{calls.stem}_processes.parquet"]
    return [str(calls), *(str(calls.parent / name) for name in others)]


def build_of(wildcards):
    """Return the tables of the recorded build that a rule is about."""
    return build_files(wildcards.build)


def runs_of_builds(item):
    """Return the tables of one kind of run, one per recorded build."""
    return collect(f"results/epcm/runs/{item}_{{build}}.csv", build=BUILDS)
