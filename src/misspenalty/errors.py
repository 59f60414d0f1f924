"""The errors a user can cause. Each message says what was wrong, where, and what to do."""


class MissPenaltyError(ValueError):
    """Base of every error that bad input causes; the command line prints it and exits with 2."""


class InputError(MissPenaltyError):
    """A file or table that cannot be used.

    Parameters
    ----------
    what : str
        What is wrong.
    path : path-like, optional
        The file at fault.
    line : int, optional
        The line at fault, counted from 1.
    expected : str, optional
        What should have been there.
    remedy : str, optional
        What the user can do about it.
    """

    def __init__(self, what, *, path=None, line=None, expected=None, remedy=None):
        self.path, self.line = path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        parts = [f"{place}{what}"]
        if expected:
            parts.append(f"expected {expected}")
        if remedy:
            parts.append(remedy)
        super().__init__("; ".join(parts))


class ParameterError(MissPenaltyError):
    """A parameter that does not exist or has an impossible value."""
