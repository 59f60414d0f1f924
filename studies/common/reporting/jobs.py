"""Share code among the workflow's scripts: a job reads its inputs, calls a function, and writes the returned tables.

A rule names the function by its dotted name (``misspenalty_studies.mq.tables.bounds``). The same name determines the
digest of the rule's code (`misspenalty_studies.common.reporting.provenance.Sources.digest`), so a rule never lists
the modules it depends on.
"""

import importlib
import inspect
import re
import resource
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.files import atomic_path, write_csv
from misspenalty_studies.common.reporting.dictionary import check


@contextmanager
def logged(path):
    """Send a job's ``stderr``, and the traceback of a failure, to its log file; end the file with the job's cost."""
    with open(path, "w", buffering=1) as stream:
        sys.stderr = stream
        try:
            yield stream
        except BaseException:
            sys.excepthook(*sys.exc_info())
            raise
        finally:
            stream.write(f"{spent()}\n")
            sys.stderr = sys.__stderr__


def spent():
    """Return, as text, the CPU time of this process and its children so far, and the peak memory of any one of them.

    Snakemake samples its jobs at ever longer intervals, and therefore misses up to half a minute of each job.

    Examples
    --------
    >>> spent().endswith(" MB of memory")
    True
    """
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = max(_peak(used[0]), used[1].ru_maxrss) / (2**20 if sys.platform == "darwin" else 2**10)
    return f"{sum(one.ru_utime + one.ru_stime for one in used):.2f} s of CPU time, {peak:.0f} MB of memory"


def _peak(used):
    """Return the peak memory of this process, in the unit of ``ru_maxrss``. The value in `used` is only a fallback: in
    a fork of Snakemake it includes the memory of the parent."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:  # only Linux has this file
        found = None
    return int(found[1]) if found else used.ru_maxrss


def function_of(name):
    """Return the function with a dotted name.

    Parameters
    ----------
    name : str
        Module and function: ``misspenalty_studies.mq.tables.bounds``.

    Returns
    -------
    callable

    Raises
    ------
    ParameterError
        There is no such module, or it has no such function.

    Examples
    --------
    >>> function_of("misspenalty_studies.mq.tables.bounds").__name__
    'bounds'
    """
    module, _, function = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ParameterError(f"a rule names the function {name!r}, which cannot be imported: {error}") from error


def caption_of(function):
    """Return the caption of a figure: the docstring of the function that draws it, up to its list of parameters.

    Raises
    ------
    ParameterError
        There is no such function, or it has no docstring.

    Examples
    --------
    >>> caption_of("misspenalty_studies.mq.figures.fig4").startswith("Share of the blocks")
    True
    """
    documented = inspect.getdoc(function_of(function)) or ""
    text = documented.split("\nParameters\n")[0].split("\nReturns\n")[0].strip()
    if not text:
        raise ParameterError(f"{function} has no docstring; a figure's docstring is its caption")
    return text


def read_tables(source):
    """Read tables in the form that a job's function expects.

    Parameters
    ----------
    source : str, list of str or dict of str to str
        The file of a table (CSV or Parquet); a list of files with the same columns, which are concatenated; or
        files by name. A YAML document is not read: the function receives its path.

    Returns
    -------
    DataFrame, dict of str to DataFrame, or str
    """
    if isinstance(source, dict):
        return {name: read_tables(path) for name, path in source.items()}
    if not isinstance(source, str | Path):
        return pd.concat([read_tables(path) for path in source], ignore_index=True)
    if str(source).endswith(".yaml"):
        return source
    return pd.read_parquet(source) if str(source).endswith(".parquet") else pd.read_csv(source)


def write_table(table, path):
    """Write a table atomically, in the format of its suffix; a result table must match its study's declaration.

    Raises
    ------
    InputError
        See `misspenalty_studies.common.reporting.dictionary.check`.
    """
    check(table, path)
    if str(path).endswith(".parquet"):
        with atomic_path(path) as partial:
            table.to_parquet(partial, compression="zstd")
    else:
        write_csv(table, path)


def write_tables(found, outputs):
    """Write the tables that a function returned.

    Parameters
    ----------
    found : DataFrame or dict of str to DataFrame
        One table for a single output, or tables by the names of the outputs.
    outputs : dict of str to path-like

    Raises
    ------
    ParameterError
        The tables returned do not match the rule's outputs.
    InputError
        See `write_table`.
    """
    found = {next(iter(outputs)): found} if isinstance(found, pd.DataFrame) else found
    if found.keys() != outputs.keys():
        raise ParameterError(f"the function returned {sorted(found)}; the rule's outputs are {sorted(outputs)}")
    for name, table in found.items():
        write_table(table, outputs[name])
