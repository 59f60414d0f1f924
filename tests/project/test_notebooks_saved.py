"""Opening a notebook in JupyterLab and saving it, with the settings of `make lab`, changes neither of its two files."""

import errno
import runpy
import shutil
from pathlib import Path

import nbformat
import pytest
from jupytext import TextFileContentsManager
from traitlets.config import PyFileConfigLoader

from misspenalty import InputError

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


@pytest.mark.parametrize("pages", [False, True])
def test_a_notebook_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch, pages):
    """`make notebooks` and `make site` must write the same as before, and a full disk must leave the old file."""
    for name in ("mq.py", "mq.ipynb"):
        shutil.copy(ROOT / "notebooks" / name, tmp_path)
    main = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))["main"]
    saved = nbformat.read(tmp_path / "mq.ipynb", 4)
    monkeypatch.setitem(main.__globals__, "FOLDER", tmp_path)
    monkeypatch.setitem(main.__globals__, "run", lambda script: saved)
    monkeypatch.setattr("sys.argv", ["notebooks.py", "mq", *(["--html", str(tmp_path / "pages")] if pages else [])])
    main()
    path = tmp_path / "pages" / "mq.html" if pages else tmp_path / "mq.ipynb"
    before = path.read_bytes()
    assert pages or before == (ROOT / "notebooks" / "mq.ipynb").read_bytes()

    def half(path, text, encoding):
        path.write_bytes(text.encode(encoding)[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(InputError, match=rf"{path.name}: no space left"):
        main()
    assert path.read_bytes() == before and len(list(path.parent.iterdir())) == (1 if pages else 2)


def test_a_cell_that_fails_is_named_with_its_notebook(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text("# %%\n1 / 0\n")
    main = runpy.run_path(str(ROOT / "tools" / "notebooks.py"))["main"]
    monkeypatch.setitem(main.__globals__, "FOLDER", tmp_path)
    monkeypatch.setattr("sys.argv", ["notebooks.py"])
    with pytest.raises(SystemExit, match="1"):
        main()
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told
    assert told.splitlines()[-1].startswith(f"error: {tmp_path / 'mine.py'}: the cell above failed")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
