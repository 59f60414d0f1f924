# What the rules of the study epcm take.
EPCM = config["epcm"]
BUILDS = list(EPCM["captures"])


wildcard_constraints:
    build="|".join(BUILDS),


def build_files(build):
    """Calls, files and processes of a recorded build."""
    return recorded_files(EPCM["captures"][build])


def recorded_files(path):
    """Calls, files and processes of the recording whose calls are at `path`."""
    calls = Path(path)
    others = [f"{calls.stem}_files.parquet", f"{calls.stem}_processes.parquet"]
    return [str(calls), *(str(calls.parent / name) for name in others)]


def build_of(wildcards):
    """The files of the recorded build that a rule is about."""
    return build_files(wildcards.build)
