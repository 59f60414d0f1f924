"""Typeset the report as a paper: turn Typst sources and results into one PDF, with the same bytes every time."""

import json
import os
import re
from pathlib import Path

from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import atomic_path

_READ = re.compile(r'"(/[^"\s]+\.(?:csv|yaml|json|pdf|svg|png))"')
_PART = re.compile(r'#?\b(?:include|import|bibliography)[ (]"([^"]+\.(?:typ|bib))"')
_EACH = re.compile(r'"(/[^"\s]+/\*/[^"\s]+\.typ)"')
_PLACE = re.compile(r"┌─ (.+):(\d+):\d+")


def paper_inputs(source, root):
    """Return every file from which a paper is made.

    Parameters
    ----------
    source : path-like
        The main Typst file.
    root : path-like
        Folder to which absolute paths in the sources refer.

    Returns
    -------
    list of Path
        Sorted, relative to `root`: the source, the Typst and bibliography files that it includes or imports, directly
        or not, and the files that these name by an absolute path (tables, figures, facts). A ``*`` in the path of a
        Typst file matches the name of any folder.

    Raises
    ------
    InputError
        `source` does not exist or lies outside `root`.
    """
    source, root = Path(source).absolute(), Path(root).absolute()
    if not source.is_file():
        raise InputError("no such file", path=source, expected="the main Typst file of a paper")
    if not source.is_relative_to(root):
        raise InputError(f"lies outside {root}", path=source, remedy="name a root that contains it")
    sources, texts, waiting = {source}, [], [source]
    while waiting:
        path = waiting.pop()
        if path.suffix != ".typ" or not path.is_file():
            continue
        texts.append(path.read_text(encoding="utf-8"))
        named = ((root, name[1:]) if name.startswith("/") else (path.parent, name) for name in _PART.findall(texts[-1]))
        named = [*named, *((root, found) for name in _EACH.findall(texts[-1]) for found in sorted(root.glob(name[1:])))]
        parts = {Path(os.path.normpath(folder / name)) for folder, name in named} - sources
        sources |= parts
        waiting += parts
    named = {Path(name.lstrip("/")) for text in texts for name in _READ.findall(text)}
    return sorted(named | {path.relative_to(root) for path in sources})


def compile_paper(source, root, output, config=None):
    """Compile a paper to PDF.

    Parameters
    ----------
    source : path-like
        The main Typst file.
    root : path-like
        Folder that contains the sources and all files that they read.
    output : path-like
        The PDF, written atomically.
    config : dict, optional
        The run's configuration; by default, that in ``config/config.yaml`` below `root`.

    Raises
    ------
    InputError
        A file that the paper reads is missing, `source` lies outside `root`, or a source has an error; the message
        names the file and, if known, the line.
    ParameterError
        The Typst compiler is not installed.
    """
    try:
        import typst
    except ImportError as error:
        raise ParameterError("the paper needs the Typst compiler: install the package typst") from error
    for path in paper_inputs(source, root):
        if not (Path(root) / path).is_file():
            raise InputError("is missing, but the paper reads it", path=path, remedy="make it with `make reproduce`")
    inputs = {} if config is None else {"config": json.dumps(config, sort_keys=True)}
    try:
        pdf = typst.compile(
            str(source), root=str(root), ignore_system_fonts=True, format="pdf", sys_inputs=inputs, timestamp=0
        )
    except RuntimeError as error:  # typst.TypstError, or an error raised before the source is read
        raise _explain(error, source, root) from error
    with atomic_path(output) as partial:
        partial.write_bytes(pdf)


def _explain(error, source, root):
    place = _PLACE.search(getattr(error, "diagnostic", ""))
    path, line = (os.path.relpath(place[1], root), int(place[2])) if place else (source, None)
    hints = " ".join(getattr(error, "hints", ()))
    return InputError(f"does not compile: {error}", path=path, line=line, remedy=hints or None)
