"""Replace generated text in a hand-written file: only the text between two markers changes."""

from pathlib import Path

from misspenalty.errors import InputError
from misspenalty.io.files import atomic_path


def update_between_markers(path, name, text):
    """Replace the text between ``<!-- name:start -->`` and ``<!-- name:end -->``.

    Returns
    -------
    bool
        Whether the file changed; a file that already holds `text` is not touched.

    Raises
    ------
    InputError
        The file or one of the markers is missing, a marker occurs more than once, or the two are in the wrong order.
    """
    path = Path(path)
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    if not path.is_file():
        raise InputError("no such file", path=path)
    before = path.read_bytes().decode("utf-8")
    for marker in (start, end):
        if before.count(marker) != 1:
            raise InputError(
                f"the marker {marker} occurs {before.count(marker)} times",
                path=path,
                expected="once",
                remedy=f"put {start} and {end} on lines of their own where the text belongs",
            )
    head, _, rest = before.partition(start)
    if end not in rest:
        raise InputError(f"{end} comes before {start}", path=path, remedy="swap the two markers")
    after = f"{head}{start}\n{text.strip()}\n{end}{rest.partition(end)[2]}"
    if after == before:
        return False
    with atomic_path(path) as partial:
        partial.write_bytes(after.encode("utf-8"))
        partial.chmod(path.stat().st_mode)
    return True
