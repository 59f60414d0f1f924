"""Record the values obtained for a study's claims; no method accepts or returns a published value."""

from misspenalty.errors import InputError
from misspenalty_studies.common.claims import amounts, comparisons
from misspenalty_studies.common.claims.numbers import series


class Recorder:
    """The values obtained for claims, by id.

    >>> record = Recorder()
    >>> record.value("mq.table4.mq.128", 19.2)
    >>> record.forms["mq.table4.mq.128"].obtained.tolist()
    [19.2]
    """

    def __init__(self):
        self.forms = {}  # id -> form; None if no table decides the claim
        self.reports = {}  # id -> {label: numbers} for the note

    def _add(self, claim, form, report=None):
        if claim in self.forms:
            raise InputError(
                f"claim {claim} is decided twice", remedy="give each claim one line in its study's claims.py"
            )
        self.forms[claim] = form
        self.reports[claim] = {name: series(values) for name, values in (report or {}).items()}

    def value(self, claim, obtained, neutral=None):
        """Record a number, or several. If they compare two quantities, `neutral` is their value when the quantities are
        equal; otherwise `neutral` is None."""
        self._add(claim, amounts.Amount(series(obtained), neutral))

    def bound(self, claim, obtained, limit=(), neutral=None, report=None, digits_of=0.0):
        """Record a number for comparison with the published limit or with an obtained `limit` (a pair for a range).

        Numbers that agree to nine digits are equal. If the limit is a difference of two numbers, pass the greater of
        the two as `digits_of`: the nine digits are then counted from the first digit of that number.
        """
        limits = limit if isinstance(limit, tuple) else (limit,)
        self._add(claim, amounts.Amount(series(obtained), neutral, tuple(map(series, limits)), digits_of), report)

    def setting(self, claim, runs):
        """Record settings that were run, one per row, with columns in the order in which the ledger lists their
        values."""
        self._add(claim, amounts.Setting(runs))

    def peak(self, claim, sweep):
        """Record a sweep, for a claim about the position of its greatest value."""
        self._add(claim, amounts.Peak(series(sweep)))

    def order(self, claim, members, dim=None, report=None):
        """Record numbers to be ranked: a dict or Series by member, a frame with a column per member, or an array with
        its members along `dim`."""
        if dim is not None:
            members = dict(zip(members[dim].values.tolist(), members.transpose(dim, ...), strict=True))
        self._add(claim, comparisons.Order({m: series(x) for m, x in members.items()}), report)

    def compared(self, claim, left, op, right, report=None):
        """Record two quantities, and the relation (``<``, ``<=``, ``>``) that the statement claims between them."""
        self._add(claim, comparisons.Comparison(series(left), op, series(right)), report)

    def holds(self, claim, truth):
        """Record a statement that consists of several comparisons, as 1, 0 or NaN per point, see `below`."""
        self._add(claim, comparisons.Comparison(series(truth), "==", series(1)))

    def equal(self, claim, left, right):
        """Record two quantities that are claimed to be equal."""
        self._add(claim, comparisons.Equality(series(left), series(right)))

    def trend(self, claim, steps, report=None):
        """Record numbers along one key, in the order of the steps."""
        self._add(claim, comparisons.Trend(series(steps)), report)

    def rises_with(self, claim, x, y, within=None):
        """Record two results for a claim that says how `y` changes with `x` within each member of the dimension
        `within` or, if `within` is None, over all points."""
        groups = [(x, y)] if within is None else [(x.sel({within: m}), y.sel({within: m})) for m in x[within]]
        self._add(claim, comparisons.Scatter([tuple(map(series, group)) for group in groups]))

    def no_table(self, *claims):
        """Record claims that no result table decides; a run may log values for their notes."""
        for claim in claims:
            self._add(claim, None)
