"""Define replacement policies, each in a module that has its paper, parameters and reference.

Most kernels are in a ``.pyx`` file named after that module. The package can be called: ``misspenalty.policies()``
returns all known policies by name.
"""

import sys
import types

from misspenalty.policies.registry import Definition, Parameter, Reference, find_policy, known_policies, register


class _Package(types.ModuleType):
    def __call__(self) -> dict[str, Definition]:
        return known_policies()


sys.modules[__name__].__class__ = _Package

__all__ = ["Definition", "Parameter", "Reference", "find_policy", "known_policies", "register"]
