"""Define the names that annotations use."""

from typing import Any

ArrayLike = Any
NDArray = Any
