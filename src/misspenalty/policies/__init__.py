"""Replacement policies: ``<name>.py`` defines one (paper, parameters, reference), ``_<name>.pyx`` is its kernel.

The package can be called: ``misspenalty.policies()`` is every known policy by name.
"""

import sys
import types

from misspenalty.policies.registry import Definition, Parameter, find_policy, known_policies


class _Package(types.ModuleType):
    def __call__(self):
        return known_policies()


sys.modules[__name__].__class__ = _Package

__all__ = ["Definition", "Parameter", "find_policy", "known_policies"]
