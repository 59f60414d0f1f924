"""Read the parameters of a machine from its study's ``machine.yaml``: each has a value, a unit, a status and a
source."""

from dataclasses import dataclass, fields, is_dataclass
from types import SimpleNamespace

import pandas as pd

from misspenalty.io.documents import read_checked

COLUMNS = ("value", "unit", "status", "source", "reason")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a machine, as its file states it.

    Attributes
    ----------
    value : object
        In `unit`; None until it is fitted.
    unit : str
    status : str
        ``stated``, ``derived``, ``secondary``, ``recollected``, ``assumed`` or ``fitted``; the head of each file
        explains them.
    source : str
        Section of the paper, or another document; ``none`` if nothing states the value.
    reason : str
        Why this value, if nothing states it.
    vary : sequence
        Values of the sensitivity run.
    vary_factors : sequence of float
        The same, as multiples of the value.
    """

    value: object
    unit: str
    status: str
    source: str
    reason: str = ""
    vary: tuple = ()
    vary_factors: tuple = ()

    def alternatives(self, own):
        """Return the values of the sensitivity run, in the file's order, without `own`, the value in use.

        Parameters
        ----------
        own : object
            The value in use; None = not fitted yet, so that multiples of it are left out as well.

        Returns
        -------
        list

        Examples
        --------
        >>> Parameter(4, "disks", "assumed", "none", vary=(1, 4, 8), vary_factors=(0.5, 2)).alternatives(4)
        [1, 8, 2.0]
        """
        multiples = [] if own is None else [own * factor for factor in self.vary_factors]
        return [value for value in dict.fromkeys([*self.vary, *multiples]) if value != own]

    def row(self):
        """Return `COLUMNS` of the parameter, for a table."""
        return {column: getattr(self, column) for column in COLUMNS}


def variations(entries, values):
    """Return (name, value) of the sensitivity runs, one parameter at a time, in the file's order.

    Parameters
    ----------
    entries : dict of str to Parameter
    values : dict of str to object
        The values in use, which are left out.

    Returns
    -------
    list of tuple
    """
    return [(name, value) for name, entry in entries.items() for value in entry.alternatives(values[name])]


@dataclass(frozen=True)
class Machine:
    """A machine and where its parameters come from.

    Attributes
    ----------
    testbed : object
        The values, as an instance of the system's own dataclass.
    entries : dict of str to Parameter
        The file's entry for each parameter.
    """

    testbed: object
    entries: dict

    def variations(self, testbed):
        """Return (parameter, value) of the sensitivity runs around `testbed`, see `variations`."""
        return variations(self.entries, {name: getattr(testbed, name) for name in self.entries})

    def table(self):
        """Return the parameters as a table: ``parameter`` and `COLUMNS`."""
        rows = [{"parameter": name} | entry.row() for name, entry in self.entries.items()]
        return pd.DataFrame(rows, columns=["parameter", *COLUMNS])


def load_machine(path, schema=None, kind=SimpleNamespace):
    """Read and check the parameters of a machine.

    Parameters
    ----------
    path : path-like
        For example ``mq/machine.yaml``.
    schema : path-like, optional
        Its JSON Schema; by default ``<name>.schema.yaml`` next to it.
    kind : type
        Type of the result: the dataclass of a system, such as
        `misspenalty_studies.mq.storage_server.testbed.StorageServerTestbed`, whose fields are the file's keys and
        further ones that have defaults; by default a namespace of all values.

    Returns
    -------
    Machine

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an invalid value.
    """
    entries = read_entries(path, schema)
    names = [field.name for field in fields(kind) if field.name in entries] if is_dataclass(kind) else list(entries)
    return Machine(kind(**{name: entries[name].value for name in names}), entries)


def read_entries(path, schema=None):
    """Read and check a file of parameters.

    Parameters and errors are those of `load_machine`.

    Returns
    -------
    dict of str to Parameter
    """
    entries = read_checked(path, schema, "the parameters of a machine")
    return {name: Parameter(**entry) for name, entry in entries.items()}
