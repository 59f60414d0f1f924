"""Read the parameters of a machine from its study's ``machine.yaml``: each has a value, a unit, a status and a source.

A study declares its parameters once, as the fields of a dataclass: ``<name>: <type> = declared(<unit>, <meaning>)``.
The file is checked against this declaration, and an instance of the dataclass holds the file's values for the model.
"""

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.io.documents import allowed, read_yaml
from misspenalty_studies.common.settings import Number, Settings
from misspenalty_studies.common.validated import validated

Text = Annotated[str, Field(min_length=1)]
Factor = Annotated[Number, Field(strict=True, gt=0)]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a machine, as its file states it.

    Attributes
    ----------
    value : object
        The value, in `unit`; None if it is not fitted yet, or if the file leaves it open. The latter is an error unless
        `MachineParameters.nullable` allows it.
    unit : str
    status : str
        ``stated``, ``derived``, ``secondary``, ``recollected``, ``assumed`` or ``fitted``; the head of each file
        explains those that it uses.
    source : str
        Section of the paper, or another document; ``none`` if nothing states the value.
    reason : str
        Reason for the value, if nothing states it.
    vary : sequence
        Values of the sensitivity run.
    vary_factors : sequence of float
        Further values of the sensitivity run, as multiples of the value in use.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # not strict, so that a mapping becomes a `Parameter`

    value: Any
    unit: str
    status: Literal["stated", "derived", "secondary", "recollected", "assumed", "fitted"]
    source: Text
    reason: Text = ""
    vary: Annotated[list | tuple, Field(min_length=1)] = ()
    vary_factors: Annotated[list[Factor] | tuple[Factor, ...], Field(min_length=1)] = ()

    def alternatives(self, own):
        """Return the values of the sensitivity run, in the file's order, without `own`, the value in use.

        Parameters
        ----------
        own : object
            The value in use; None if it is not fitted yet, in which case `vary_factors` is ignored.

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


def variations(entries, values):
    """Return the sensitivity runs as pairs (name, value), one parameter at a time, in the file's order.

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
    """A machine's parameters and their sources.

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
        """Return the sensitivity runs around `testbed` as pairs (parameter, value); see the function `variations`."""
        return variations(self.entries, {name: getattr(testbed, name) for name in self.entries})


def declared(unit, what, **constraints):
    """Declare a parameter, as the value of a field of a dataclass.

    Parameters
    ----------
    unit : str
        The unit that the file must state.
    what : str
        Meaning of the parameter.
    **constraints
        Constraints of `pydantic.Field`: ``ge``, ``gt``, ``le``, ``lt``, ``min_length``, ``pattern``.

    Returns
    -------
    dataclasses.Field
        A field without a default, with the declaration in its metadata.
    """
    return field(metadata={"unit": unit, "what": what, "constraints": constraints})


class MachineParameters:
    """The base class of the dataclasses that declare a machine's parameters.

    Attributes
    ----------
    statuses : tuple of str
        The statuses that a parameter may have; the head of the study's file explains them.
    varied : tuple of str
        Statuses whose parameters need values for the sensitivity run.
    nullable : bool
        Whether a parameter may be null without being fitted, if its type allows it.
    """

    statuses: ClassVar = ("stated", "derived", "assumed", "fitted")
    varied: ClassVar = ("assumed",)
    nullable: ClassVar = False

    def check(self, *fitted):
        """Check all values by the rules for a file: a whole number must be an `int`, not one of NumPy's types.

        Parameters
        ----------
        *fitted : str
            Parameters that may be null in the file and have to be known here.

        Raises
        ------
        ParameterError
            The file could not hold a value, or one of `fitted` is None.
        """
        for name in fitted:
            if getattr(self, name) is None:
                raise ParameterError(f"{name} has no value; fit it first, or set it with replace()")
        check_values(type(self), {one.name: getattr(self, one.name) for one in fields(self) if one.metadata})


def entry_of(
    kind,
    unit=None,
    *,
    statuses=MachineParameters.statuses,
    varied=MachineParameters.varied,
    nullable=False,
    **constraints,
):
    """Return the type of a parameter's entry in a file, for a Pydantic model.

    Parameters
    ----------
    kind : type
        Type of the parameter's value; the value can be null only if the type is a union with ``None``.
    unit : str, optional
        The unit that the entry must state.
    statuses, varied, nullable
        See `MachineParameters`.
    **constraints
        Constraints of `pydantic.Field` on the value.

    Returns
    -------
    type
        `Parameter` with a validator.
    """
    values = _adapter(kind, constraints)

    def check(entry):
        if unit is not None and entry.unit != unit:
            raise ValueError(f"unit: {entry.unit!r}; expected {unit!r}")
        if entry.status not in statuses:
            raise ValueError(f"status: {entry.status!r}; expected {', '.join(statuses)}")
        if entry.status in ("assumed", "fitted") and not entry.reason:
            raise ValueError(f"reason: missing; expected a reason why this value is {entry.status}")
        if entry.status in varied and not entry.vary:
            raise ValueError(f"vary: missing; expected values for the sensitivity run, as the value is {entry.status}")
        for part, value in (("value", entry.value), *(("vary", value) for value in entry.vary)):
            try:
                values.validate_python(value)
            except ValidationError as error:
                raise ValueError(f"{part}: {value!r}; {error.errors()[0]['msg']}") from error
        if entry.value is None and not nullable and entry.status != "fitted":
            raise ValueError("value: null; only a parameter that is fitted may lack a value")
        return entry

    return Annotated[Parameter, AfterValidator(check)]


def _adapter(kind, constraints):
    """Return the Pydantic adapter that checks the value of a parameter."""
    return TypeAdapter(
        Annotated[kind, Field(**constraints)] if constraints else kind,
        config=ConfigDict(strict=True, allow_inf_nan=False),
    )


def check_values(kind, values):
    """Check values that are to replace values of a machine's file.

    Parameters
    ----------
    kind : type
        A subclass of `MachineParameters`.
    values : dict of str to object

    Raises
    ------
    ParameterError
        The file has no such parameter, or the parameter cannot have this value.
    """
    known = {one.name: one for one in fields(kind) if one.metadata}
    for name, value in values.items():
        if name not in known:
            raise ParameterError(f"the machine has no parameter {name!r}{did_you_mean(name, known)}")
        adapter, unit = _adapter(known[name].type, known[name].metadata["constraints"]), known[name].metadata["unit"]
        try:
            adapter.validate_python(value)
        except ValidationError as error:
            schema = adapter.json_schema()
            expected = allowed(schema.get("anyOf", [schema])[0], schema) + (f" ({unit})" if unit else "")
            raise ParameterError(f"{name} is {value!r}; {error.errors()[0]['msg']}; expected {expected}") from error


@cache
def model_of(kind):
    """Return the Pydantic model of a machine's file.

    Parameters
    ----------
    kind : type
        A dataclass derived from `MachineParameters`.

    Returns
    -------
    type
    """
    rules = {name: getattr(kind, name) for name in ("statuses", "varied", "nullable")}
    found = {
        one.name: (
            entry_of(one.type, one.metadata["unit"], **rules, **one.metadata["constraints"]),
            Field(description=one.metadata["what"]),
        )
        for one in fields(kind)
        if one.metadata
    }
    return create_model(kind.__name__, __base__=Settings, __module__=kind.__module__, __doc__=kind.__doc__, **found)


def load_machine(path, kind):
    """Read and check the parameters of a machine.

    Parameters
    ----------
    path : path-like
        For example ``mq/machine.yaml``.
    kind : type
        Type of the result's `testbed`: a subclass of `MachineParameters`, such as
        `misspenalty_studies.mq.storage_server.testbed.StorageServerTestbed`. Its declared fields are the file's keys;
        all other fields have defaults.

    Returns
    -------
    Machine

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an invalid value.
    """
    entries = read_entries(path, kind)
    return Machine(kind(**{name: entry.value for name, entry in entries.items()}), entries)


def read_entries(path, kind):
    """Read and check a file of parameters.

    Parameters and errors are the same as for `load_machine`.

    Returns
    -------
    dict of str to Parameter
        In the file's order.
    """
    made, data = read_document(path, model_of(kind), "the parameters of a machine")
    return {name: getattr(made, name) for name in data}


def read_document(path, model, expected):
    """Read a file of parameters and check it against a Pydantic model.

    Returns
    -------
    made : object
        The instance of `model`.
    data : dict
        The content of the file, in its order.

    Raises
    ------
    InputError
        The file is missing or malformed, or it does not match the model; the message names an unknown key, if there is
        one, and otherwise the first fault.
    """
    data = read_yaml(path, expected)
    return validated(model, data, path, f"see {model.__module__}.{model.__name__}"), data
