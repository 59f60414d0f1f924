"""Declare, in a study's `rules.smk`, what the workflow makes for it: simulations, tables, figures, files.

``workflow/rules/`` turns these declarations into rules, in the same way for every study.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misspenalty.errors import ParameterError

JOBS = "misspenalty_studies.common.reporting.jobs"  # module that runs every job
# In order: made before the rest, by `make reproduce`, by `make reproduce` if the archived table does not fit
# (`misspenalty_studies.common.reporting.kept`), by `make supplement`.
PARTS = ("first", None, "kept", "further")


def job(sources, function):
    """Return the function that a rule calls and the digest of the code it depends on; a new digest reruns the rule.

    Parameters
    ----------
    sources : Sources
        The code, see `misspenalty_studies.common.reporting.provenance`.
    function : str
        Dotted name; a name without ``misspenalty`` is relative to ``misspenalty_studies``.

    Returns
    -------
    dict of str
        ``function``, its full name, and ``code``, a SHA-256.
    """
    full = function if "misspenalty" in function else f"misspenalty_studies.{function}"
    return {"function": full, "code": sources.digest(full, JOBS)}


def _check_part(name, part, known=PARTS):
    """Raise a `ParameterError` if `part` is unknown, because no command, or the wrong one, would make the files."""
    if part not in known:
        raise ParameterError(f"{name}: part is {part!r}; expected {' or '.join(map(repr, known))}")


def paths_of(source):
    """Return all paths in the inputs of a table or figure, which may be nested dicts and lists.

    Examples
    --------
    >>> paths_of({"runs": ["a.csv", "b.csv"], "by": {"lru": "c.csv"}})
    ['a.csv', 'b.csv', 'c.csv']
    """
    if isinstance(source, str):
        return [source]
    return [path for one in (source.values() if isinstance(source, dict) else source) for path in paths_of(one)]


def files_of(entries):
    """Return the input files of declared tables or figures, except those that one of these entries makes.

    Examples
    --------
    >>> first = {"inputs": {"runs": ["a.csv", "b.csv"]}, "outputs": {"fig9": "fig9.csv"}}
    >>> files_of([first, {"inputs": {"table": "fig9.csv", "by": {"lru": "c.csv"}}}])
    ['a.csv', 'b.csv', 'c.csv']
    """
    made = {path for entry in entries for path in entry.get("outputs", {}).values()}
    found = dict.fromkeys(path for entry in entries for path in paths_of(entry["inputs"]))
    return [path for path in found if path not in made]


@dataclass(frozen=True)
class Simulation:
    """A job that calls a function of the study and writes the tables it returns.

    ``inputs`` are its files by argument, ``outputs`` its tables by name, and ``params`` other arguments. All three may
    contain wildcards; ``inputs`` and ``params`` may also contain functions of wildcards, as in any rule of Snakemake.
    """

    name: str
    job: dict[str, str]
    inputs: dict[str, Any]
    outputs: dict[str, str]
    params: dict[str, Any] = field(default_factory=dict)
    threads: int = 1
    priority: Any = 0
    part: str | None = None

    @property
    def place(self):
        """The path of the rule's log and costs, made of the rule's name and its wildcards.

        The wildcard ``variant`` is a suffix that may be empty; it is appended to the name instead of making a folder.
        """
        wildcards = dict.fromkeys(re.findall(r"\{(\w+)", next(iter(self.outputs.values()))))
        return self.name + "".join("{variant}" if name == "variant" else f"/{{{name}}}" for name in wildcards)


@dataclass
class Plan:
    """The jobs and files that a study declares for the workflow.

    Attributes
    ----------
    study : str
        Id of the study, the name of its folder.
    sources : Sources
        The code, whose digests decide whether a job runs again.
    simulations : list of Simulation
        Each becomes a rule, see `simulation`.
    tables, figures : list of dict
        Tables that take little time to make, and figures, each in the order in which they are made; see `table`,
        `figure`.
    outputs, further : list of str
        Files of simulations that `make reproduce` always makes, and those that `make supplement` adds; `simulation`
        adds its own.
    measured : list of str
        Files with times measured on this machine. They are made, but neither archived nor listed in the manifest.
    read : list of str
        Files that are read but not made, unless they are declared as inputs, see `files_read`.
    archived : list of str
        Registered files that the study needs but that are absent; archived tables made from them are read instead.
    conditions : list of str
        Tables that are also made under other conditions, ``results/<study>/runs/conditions/<item>.csv``.
    seed : int or sequence of int, optional
        Seed of the study's random numbers.
    """

    study: str
    sources: Any
    simulations: list[Simulation] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    further: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    seed: Any = None

    def path(self, name):
        """Return the path of a table of this study by its name; names in lists and dicts are replaced, too, and paths
        are returned as they are.

        Examples
        --------
        >>> Plan("mq", sources=None).path({"lru": "table4", "raw": "data/raw.csv"})
        {'lru': 'results/mq/table4.csv', 'raw': 'data/raw.csv'}
        """
        if isinstance(name, dict):
            return {key: self.path(one) for key, one in name.items()}
        if not isinstance(name, str):
            return [self.path(one) for one in name]
        return self._made(name) if Path(name).name == name else name

    def _made(self, name):
        """Return the path of a file of this study; a name without a suffix means a CSV file."""
        path = f"results/{self.study}/{name}"
        return path if Path(name).suffix else f"{path}.csv"

    def simulation(self, name, function, *, outputs, inputs=None, params=None, threads=1, priority=0, part=None):
        """Declare a simulation: rule `name` calls `function` and writes `outputs`.

        Parameters
        ----------
        name : str
            Name of the rule; it begins with the name of the study.
        function : str
            Dotted name, see `job`; called with `inputs`, `params`, and the wildcards and ``threads`` that it accepts.
        outputs : str, list of str, or dict of str to str
            Names of files below ``results/<study>/``, without ``.csv``: one name if the function returns one table, a
            list if its tables have the names of their files, and otherwise a dict of table -> file. Files outside
            ``runs`` whose names have no wildcards are added to `outputs` or `further`, or returned by `kept`.
        inputs : dict, optional
            Argument -> file or files. ``drives`` and ``files`` are read by other means and are not passed.
        params : dict, optional
            Argument -> value, or a function of the wildcards.
        threads : int, optional
            Maximum number of threads that the function can use.
        priority : int or callable, optional
            Jobs of higher priority start first.
        part : {None, "kept", "further"}, optional
            When the tables outside ``runs`` are made, see `PARTS`.

        Raises
        ------
        ParameterError
            `part` is unknown, or the simulation has no inputs but an output outside ``runs``: an archived table there
            would be mistaken for its result.
        """
        _check_part(name, part, (None, "kept", "further"))
        outputs = {"table": outputs} if isinstance(outputs, str) else outputs
        names = outputs if isinstance(outputs, dict) else dict(zip(outputs, outputs, strict=True))
        files = {table: self._made(file) for table, file in names.items()}
        archived = [path for path in files.values() if "/runs/" not in path]
        if archived and not inputs:
            raise ParameterError(
                f"{name}: has no inputs, so Snakemake would not remake {archived[0]} of an earlier run; "
                f"write it to results/{self.study}/runs/"
            )
        if part != "kept":
            (self.further if part else self.outputs).extend(path for path in archived if "{" not in path)
        called = job(self.sources, function)
        self.simulations.append(Simulation(name, called, inputs or {}, files, params or {}, threads, priority, part))

    def table(self, function, *names, part=None, options=None, **inputs):
        """Declare tables that take little time to make; one job per study and part makes them one after another.

        Parameters
        ----------
        function : str
            Dotted name, see `job`; it returns one table for each name.
        *names : str
            The tables, ``results/<study>/<name>.csv``; by default one, with the function's name.
        part : {None, "first", "kept", "further"}, optional
            When the tables are made, see `PARTS`.
        options : dict, optional
            Arguments other than tables.
        **inputs : str, list or dict
            Argument -> tables of this study by name, or paths.

        Raises
        ------
        ParameterError
            `part` is unknown.
        """
        names = names or (function.rpartition(".")[2],)
        _check_part(", ".join(names), part)
        self.tables.append(
            {
                "part": part,
                "job": job(self.sources, function),
                "outputs": {name: self.path(name) for name in names},
                "inputs": {name: self.path(source) for name, source in inputs.items()},
                "options": options or {},
            }
        )

    def stacked(self, name, runs, part=None):
        """Declare a table that concatenates tables of runs; see `table`."""
        self.table("common.points.stacked", name, part=part, runs=runs)

    def figure(self, name, item, shows, function=None, part=None, options=None, **inputs):
        """Declare a figure.

        Parameters
        ----------
        name : str
            The figure's files are ``results/<study>/<name>.pdf``, ``.svg`` and ``.png``; a figure whose name has a
            folder is not archived.
        item, shows : str
            The figure's name in the paper and what it shows, for lists of figures.
        function : str, optional
            Dotted name, see `job`; called with tables, it returns a Matplotlib figure. The default is
            ``<study>.figures.<name>``.
        part : {None, "first", "further"}, optional
            When the figure is made, see `PARTS`.
        options, **inputs
            See `table`. Without inputs, the function gets the table of the figure's own name as ``table``.

        Raises
        ------
        ParameterError
            `part` is unknown.
        """
        _check_part(name, part, ("first", None, "further"))
        inputs = inputs or {"table": name}
        self.figures.append(
            {
                "part": part,
                "job": job(self.sources, function or f"{self.study}.figures.{name}"),
                "output": f"results/{self.study}/{name}",
                "archived": Path(name).name == name,
                "caption": f"results/{self.study}/runs/captions/{Path(name).name}.rst",
                "labels": {"item": item, "shows": shows},
                "inputs": {name: self.path(source) for name, source in inputs.items()},
                "options": options or {},
            }
        )

    def parts(self, kind):
        """Return the declared tables or figures, grouped by the job that makes them.

        Parameters
        ----------
        kind : {"tables", "figures"}
            Whether to return tables or figures.

        Returns
        -------
        list of (str or None, str, list of dict)
            For each part that has entries: its name, see `PARTS`, the name of its rule, and the entries.
        """
        found = []
        for part in PARTS:
            entries = [entry for entry in getattr(self, kind) if entry["part"] == part]
            if entries:
                found.append((part, "_".join(filter(None, [self.study, part, kind])), entries))
        return found

    def files_read(self):
        """Return the files that the study reads but does not make: `read`, and the declared inputs outside ``results/``
        whose paths do not depend on wildcards."""
        return [path for path in self.inputs() if not path.startswith("results/") or path in self.read]

    def inputs(self):
        """Return the files of `read` and all declared inputs whose paths do not depend on wildcards."""
        jobs = [{"inputs": {k: v for k, v in one.inputs.items() if not callable(v)}} for one in self.simulations]
        declared = files_of([*jobs, *self.tables, *self.figures])
        return [*self.read, *(path for path in declared if "{" not in path)]

    def files(self, supplement=False):
        """Return this study's files that `make reproduce` makes or keeps, or those that `make supplement` adds."""
        wanted = ("further",) if supplement else ("first", None)
        kept = [path for paths in self.kept().values() for path in paths]
        made = self.further if supplement else [*self.outputs, *kept]
        tables = [path for e in self.tables if e["part"] in wanted for path in e["outputs"].values()]
        drawn = [e["output"] for e in self.figures if e["part"] in wanted and e["archived"]]
        return [*made, *tables, *(f"{path}.{form}" for path in drawn for form in ("pdf", "svg", "png"))]

    def kept(self):
        """Return the tables that `make reproduce` takes from the archive if they fit, by the rule that makes them.

        These are the verdicts under other conditions, and tables and simulations with ``part="kept"``.

        Examples
        --------
        >>> Plan("mq", sources=None, conditions=["table4"]).kept()
        {'mq_conditions': ['results/mq/conditions.csv']}
        """
        found = {f"{self.study}_conditions": [self.path("conditions")]} if self.conditions else {}
        for part, name, entries in self.parts("tables"):
            if part == "kept":
                found[name] = [path for entry in entries for path in entry["outputs"].values()]
        simulated = {one.name: one.outputs.values() for one in self.simulations if one.part == "kept"}
        return found | {name: [path for path in paths if "/runs/" not in path] for name, paths in simulated.items()}
