"""Decide the claims of one study from its result tables."""

from functools import cached_property

import numpy as np

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.noise import Moved, runs
from misspenalty_studies.common.claims.recorder import Recorder
from misspenalty_studies.common.claims.tables import BY_SEED, blanked, filled


class Decided:
    """The claims of a study as decided by its tables."""

    def __init__(self, name, module, tables, variant):
        self.name, self.module, self.frames, self.halves, self.seeds = name, module, {}, {}, {}
        self._lost = {}  # cells -> ids of the claims that lose a number without them, cached by `losing`
        self.samples = {
            item: tables[f"{name}_{item}{BY_SEED}"]
            for item, table in module.TABLES.items()
            if table.by_seed and f"{name}_{item}{BY_SEED}" in tables
        }
        absent = [item for item in module.TABLES if f"{name}_{item}" not in tables]
        gone, holes = [], []
        for item, table in module.TABLES.items():
            self.frames[item], missing = table.read(f"{name}_{item}", tables.get(f"{name}_{item}"))
            self.halves[item], self.seeds[item] = table.halves(tables.get(f"{name}_{item}"), self.frames[item])
            if self.seeds[item] is None and item in self.samples:
                self.seeds[item] = self.samples[item]["seed"].nunique()
            holes += [(item, *hole) for hole in missing if item not in absent]
            if item in absent:
                reason = (
                    f"{name}_{item} is not part of this variant"
                    if variant
                    else f"result table {name}_{item} does not exist"
                )
                built = variant or len(absent) < len(module.TABLES)
                rows, columns = range(len(self.frames[item])), list(table.values)
                gone.append((item, list(rows), columns, reason if built else "study not built yet"))
        self.holes = gone + holes
        recorder = self.run(self.frames)
        self.forms, self.reports = recorder.forms, recorder.reports

    @cached_property
    def complete(self):
        """The ids of the decided claims, that is, of the claims that have every number."""
        return complete(self.forms)

    @cached_property
    def full(self):
        """The tables with all missing cells filled, and the ids of the claims that then have every number."""
        frames = {item: filled(frame) for item, frame in self.frames.items()}
        return frames, complete(self.run(frames).forms)

    def moved(self, id):
        """Return the forms that are recorded for a claim on each seed's tables or, if a table with intervals has no
        numbers by seed or the tables share fewer than two seeds, on tables whose cells are moved to the ends of their
        intervals."""
        made, seeds = self._moved
        return Moved(tuple(forms[id] for forms in made), seeds)

    @cached_property
    def _moved(self):
        """The forms of all claims on each seed's tables or else on tables with moved cells, and whether the seeds'
        tables were used."""
        noisy = {item for item, half in self.halves.items() if (half > 0).any(axis=None)}
        if noisy and noisy <= set(self.samples) and len(self._shared_seeds()) > 1:
            return [self.run(frames).forms for frames in self._each_seed()], True
        return [self.run(frames).forms for frames in runs(self.frames, self.halves)], False

    def _shared_seeds(self):
        """Return the seeds that all samples have."""
        return set.intersection(*(set(sample["seed"]) for sample in self.samples.values()))

    def _each_seed(self):
        """Yield the tables once per seed that all samples have, with the numbers of that seed where there are any."""
        for seed in sorted(self._shared_seeds()):
            frames = dict(self.frames)
            for item, sample in self.samples.items():
                own, _ = self.module.TABLES[item].read(f"{self.name}_{item}{BY_SEED}", sample[sample["seed"] == seed])
                own = own.reindex(self.frames[item].index)
                frames[item] = own.where(own.notna(), self.frames[item])
            yield frames

    def readers(self, item, columns=()):
        """Return the ids of the decided claims that read a table, or the given columns of it."""
        frame = self.frames[item]
        return self.complete & self.losing([(item, range(len(frame)), columns or frame.columns)])

    def seeds_of(self, id):
        """Return the number of runs over which a claim's numbers are averaged.

        The number is 1 if every table of the study has one run. Otherwise it is the largest number among the tables
        that the claim reads, or None if one of these tables does not say how many runs it has, or if the claim reads no
        table or lacks a number.
        """
        if set(self.seeds.values()) == {1}:
            return 1
        counts = [count for item, count in self.seeds.items() if id in self.readers(item)]
        return None if None in counts or not counts else max(counts)

    def run(self, frames):
        """Return a recorder with the forms that the study records on these tables."""
        recorder = Recorder()
        with np.errstate(all="ignore"):
            self.module.claims(recorder, dict(frames))
        return recorder

    def losing(self, cells):
        """Return the ids of the claims that lose a number when `cells`, tuples of item, rows and columns, are
        blanked."""
        cells = tuple((item, tuple(rows), tuple(columns)) for item, rows, columns in cells)
        if cells not in self._lost:
            frames, readable = self.full
            less = dict(frames)
            for item, rows, columns in cells:
                less[item] = blanked(less[item], rows, columns)
            self._lost[cells] = readable - complete(self.run(less).forms)
        return self._lost[cells]

    def reading(self, fit, targets, variant=""):
        """Return the ids of the decided claims that read one of the cells `targets`; cells of a variant's table are
        considered only in that variant."""
        cells = []
        for target in targets:
            named = target["table"].removeprefix(f"{self.name}_")
            item = self._item_of(target["table"])
            table = self.module.TABLES.get(item)
            found = table and table.cells(self.frames[item], target["where"], target["column"])
            if found and named not in (item, f"{item}{variant}"):
                continue
            if not found:
                raise InputError(
                    f"parameter {fit.parameter}: there is no cell {target['table']}, {target['column']}",
                    expected="a result table that claims read, one of its value columns, and members of its keys",
                )
            cells.append((item, *found))
        return self.complete & self.losing(cells) if cells else set()

    def _item_of(self, table):
        """Return the item of a table named ``<study>_<item>`` or ``<study>_<item>_<variant>``; None if claims read no
        such table."""
        named = table.removeprefix(f"{self.name}_")
        if named in self.module.TABLES:
            return named
        return max((item for item in self.module.TABLES if named.startswith(f"{item}_")), key=len, default=None)

    def driven(self, fit, variant=""):
        """Return the ids of the decided claims that read a table made with a fitted parameter.

        Raises
        ------
        InputError
            No claim reads a table that the parameter drives, or one of the columns listed for that table.
        """
        ids = set()
        for drive in fit.drives:
            item = self._item_of(drive["table"])
            columns = list(drive.get("columns", ()))
            if item is None or not set(columns) <= set(self.module.TABLES[item].values):
                named = f" with the columns {', '.join(columns)}" if columns else ""
                raise InputError(
                    f"parameter {fit.parameter}: no claim reads the table {drive['table']}{named}",
                    expected="one of " + ", ".join(f"{self.name}_{item}" for item in self.module.TABLES),
                )
            if drive["table"] == f"{self.name}_{item}{variant}":
                ids |= self.readers(item, tuple(columns))
        return ids

    @cached_property
    def reasons(self):
        """The reason, by id, why a claim lacks a number: the first missing table or cell that the claim reads or, if it
        reads none, the other possible causes."""
        ids = {id for id, form in self.forms.items() if form} - self.complete
        here = ids & self.losing([hole[:3] for hole in self.holes]) if ids else ids
        return dict.fromkeys(ids, "a row is missing, or the claim divides by zero") | self._first(here, self.holes)

    def _first(self, ids, holes):
        """Find, by bisection, the first of `holes` that each claim reads; return its text by id."""
        if len(holes) < 2 or not ids:
            return dict.fromkeys(ids, holes[0][-1]) if ids else {}
        half = len(holes) // 2
        here = ids & self.losing([hole[:3] for hole in holes[:half]])
        return self._first(here, holes[:half]) | self._first(ids - here, holes[half:])


def complete(forms):
    """Return the ids of the claims that have every number."""
    return {id for id, form in forms.items() if form and form.complete()}
