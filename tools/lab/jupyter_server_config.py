"""JupyterLab's settings for this checkout (`make lab`): a notebook that was run is saved as it is in the repository."""

from misspenalty.studies.notebook import normalised


def stable(model, **_):
    """Take out of a notebook what changes from run to run, before it is saved."""
    if model["type"] == "notebook" and model["content"]["nbformat"] == 4:
        normalised(model["content"])


c.ContentsManager.pre_save_hook = stable  # noqa: F821
