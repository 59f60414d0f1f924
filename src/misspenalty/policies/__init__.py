"""Replacement policies, each defined in a module of its own.

``<name>.py`` has the policy's paper, parameters and reference; most kernels are in ``_<name>.pyx``. The package can be
called: ``misspenalty.policies()`` returns all known policies by name.
"""

import sys
import types

from misspenalty.policies.registry import Definition, Parameter, Reference, find_policy, known_policies, register


class _Package(types.ModuleType):
    def __call__(self) -> dict[str, Definition]:
        return known_policies()


sys.modules[__name__].__class__ = _Package

__all__ = ["Definition", "Parameter", "Reference", "find_policy", "known_policies", "register"]
