"""Check the content of a file against a model; errors name the file, the place and a remedy."""

from pydantic import ValidationError

from misspenalty.errors import InputError


def validated(model, data, path, remedy, *place):
    """Check data from a file against a model and return the model's instance.

    Parameters
    ----------
    model : type
        A Pydantic model.
    data : dict
    path : path-like
        The file, for the message.
    remedy : str
        What to do about an error, for the message.
    *place : str or int
        Place of the data in the file, for the message.

    Raises
    ------
    InputError
        The data do not match the model; the message names the first fault.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Point(BaseModel):
    ...     x: int
    >>> validated(Point, {}, "points.yaml", "give every point its x", "entry", 2)
    Traceback (most recent call last):
    misspenalty.errors.InputError: points.yaml: entry.2.x: Field required; give every point its x
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (*place, *first["loc"])))
        raise InputError(f"{where}: {first['msg']}", path=path, remedy=remedy) from error
