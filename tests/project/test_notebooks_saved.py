"""Opening a notebook in JupyterLab and saving it, with the settings of `make lab`, changes neither of its two files."""

import shutil
from pathlib import Path

import pytest
from jupytext import TextFileContentsManager
from traitlets.config import PyFileConfigLoader

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "notebooks").glob("*.py"))


@pytest.mark.filterwarnings("ignore:Overriding existing pre_save_hook:UserWarning")  # Jupyter sets it twice
@pytest.mark.parametrize("opened", ["py", "ipynb"])
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_saving_a_notebook_changes_no_file(tmp_path, script, opened):
    pair = [script.name, f"{script.stem}.ipynb"]
    for name in pair:
        shutil.copy(ROOT / "notebooks" / name, tmp_path)
    settings = PyFileConfigLoader("jupyter_server_config.py", path=str(ROOT / "tools" / "lab")).load_config()
    manager = TextFileContentsManager(config=settings, root_dir=str(tmp_path))
    name = f"{script.stem}.{opened}"
    model = manager.get(name, type="notebook", content=True)
    manager.save({"type": "notebook", "content": model["content"]}, name)
    changed = [name for name in pair if (tmp_path / name).read_bytes() != (ROOT / "notebooks" / name).read_bytes()]
    assert changed == []
