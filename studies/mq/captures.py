"""Read the facts that the capture program recorded in the ``captures.yaml`` next to a capture."""

from pathlib import Path

from misspenalty.errors import InputError, is_number
from misspenalty.io.documents import read_yaml

FORM = "{{{name}: {{shared_buffers: 128MB, duration_s: 227.1, transactions: {{all: 245651}}}}}}"


def fact(facts, raw, *keys):
    """Return one fact about a capture.

    Parameters
    ----------
    facts : path-like
        ``captures.yaml``.
    raw : path-like
        File of the capture, whose name is a key of `facts`.
    *keys : str
        Keys below that name, such as ``"transactions", "all"``.

    Returns
    -------
    object

    Raises
    ------
    InputError
        `facts` cannot be read, does not describe the capture, or lacks one of the keys.
    """
    name = Path(raw).name
    found = read_yaml(facts)
    for key in (name, *keys):
        if not isinstance(found, dict) or key not in found:
            raise InputError(
                f"lacks {'.'.join(keys)} of {name}",
                path=facts,
                expected=FORM.format(name=name),
                remedy="add the entry; config/README.md says what it needs",
            )
        found = found[key]
    return found


def amount(facts, raw, *keys):
    """Return one fact about a capture, which must be a number above 0.

    Parameters and errors are those of `fact`; any other value is an `InputError`, too.
    """
    found = fact(facts, raw, *keys)
    if not is_number(found) or not found > 0:
        raise InputError(f"{Path(raw).name}: {'.'.join(keys)} is {found!r}", path=facts, expected="a number above 0")
    return found
