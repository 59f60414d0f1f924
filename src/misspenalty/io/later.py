"""Import pandas, as `pd`, only when it is first used, since it takes longer than all other imports of a command."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
else:

    class _Later:
        """A module that is imported when one of its attributes is first read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            import importlib

            return getattr(importlib.import_module(self._name), name)

    pd = _Later("pandas")

__all__ = ["pd"]
