"""Configure JupyterLab for this checkout (`make lab`): notebooks are saved in the form that the repository keeps."""

from misspenalty_studies.common.notebook import normalised


def stable(model, **_):
    """Remove everything that changes between runs from a notebook that is about to be saved."""
    if model["type"] == "notebook" and model["content"]["nbformat"] == 4:
        normalised(model["content"])


c.ContentsManager.pre_save_hook = stable  # noqa: F821
