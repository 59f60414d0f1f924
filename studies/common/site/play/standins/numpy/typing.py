"""Define the name that the package's annotations use."""

from typing import Any

ArrayLike = Any
