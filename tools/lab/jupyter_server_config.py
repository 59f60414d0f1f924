"""Configure JupyterLab for this checkout (`make lab`): a notebook that was run is saved as in the repository."""

from misspenalty_studies.common.notebook import normalised


def stable(model, **_):
    """Remove what changes from run to run from a notebook before it is saved."""
    if model["type"] == "notebook" and model["content"]["nbformat"] == 4:
        normalised(model["content"])


c.ContentsManager.pre_save_hook = stable  # noqa: F821
