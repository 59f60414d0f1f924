"""Define the names that the package's annotations use."""

from typing import Any

ArrayLike = Any
NDArray = Any
