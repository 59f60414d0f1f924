"""Place the published value, its tolerance and the obtained values on the tracks of a claim's page.

A track is a line that spans all numbers of the page; positions on it are in per cent of its length.
"""

import math
import re

from misspenalty_studies.common.claims.amounts import LIMIT_OBTAINED
from misspenalty_studies.common.claims.forms import NEAR, limit_of, room
from misspenalty_studies.common.claims.numbers import rounded

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
DECIMAL = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
NAMED = re.compile(rf"(.*?)(?:: | )?({NUMBER})")
MARGIN = 4  # per cent of the track, left free at each end
MOST = 16  # maximum number of dots of one claim
AGAINST = " against "


def numbers_of(text):
    """Return the numbers in the text of an obtained value, with their names.

    The list is empty if the text has other words or more than `MOST` numbers.

    Examples
    --------
    >>> numbers_of("7.283"), numbers_of("lru 2.054 <= mq 7.283"), numbers_of("128: 5.2, 256: 7")
    ([('', 7.283)], [('lru', 2.054), ('mq', 7.283)], [('128', 5.2), ('256', 7.0)])
    >>> numbers_of("15 of 15 pairs of points agree, 0 go against it")
    []
    """
    parts = re.split(rf" <=? |, |{AGAINST}", text)
    found = [NAMED.fullmatch(part) for part in parts]
    if not all(found) or len(found) > MOST:
        return []
    return [(one[1].strip(), float(one[2])) for one in found]


def band_of(claim):
    """Return the lowest and highest value that a claim allows for a single number, and the published value, which is
    None for a plain limit; return None if the claim does not compare a single number with published numbers.

    Examples
    --------
    >>> from misspenalty_studies.common.claims.ledger import Claim
    >>> band_of(Claim("a.b", "a", "Table 1", "", "value", 20, "stated", "claim", tolerance={"absolute": 2}))
    (18, 22, 20)
    """
    published = claim.published
    if claim.kind in ("value", "ratio") and _number(published):
        measure, size = limit_of(claim)
        near = room(measure, size, 100 - published if claim.complement else published)
        return published - near, published + near, published
    if claim.kind == "bound" and "near" in published:
        near, below = published["near"], published["op"].startswith("<")
        low, high = near - room("relative", NEAR, near), near + room("relative", NEAR, near)
        return (low, min(high, published["limit"]), near) if below else (max(low, published["limit"]), high, near)
    if claim.kind == "bound" and _number(published.get("limit")):
        limit, (measure, size) = published["limit"], limit_of(claim)
        near = room(measure, size, limit)
        if published.get("reached"):
            return limit - near, limit + near, limit
        return (-math.inf, limit + near, None) if published["op"].startswith("<") else (limit - near, math.inf, None)
    return None


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def tracks(claim, row, conditions):
    """Return the tracks of a claim's page: the published value, the obtained value, and the value per condition.

    Parameters
    ----------
    claim : Claim
    row : dict
        The claim's row of the table of verdicts.
    conditions : list of dict
        ``condition, value, verdict``.

    Returns
    -------
    dict or None
        ``band``: the ends of the allowed range, in per cent; None without such a range, as for an obtained limit;
        ``rows``: for each track ``name``, ``value`` as text, ``dots`` (``at`` and ``name``), ``line`` (the ends of the
        interval) and ``verdict``; ``low`` and ``high``: the lowest and the highest number shown. None if the obtained
        value has no numbers, or if a number to be shown is not finite.
    """
    obtained = numbers_of(row["obtained"])
    printed = not row["note"].startswith(LIMIT_OBTAINED)
    band = band_of(claim) if len(obtained) == 1 and printed else None
    interval = [float(row[end]) for end in ("low", "high")] if _ends(row) and len(obtained) == 1 else []
    rows = [_track("Obtained", row["obtained"], row["verdict"], interval)]
    if band and band[2] is not None:
        rows.insert(0, _track("Published", str(band[2]), ""))
    rows += [_track(tried["condition"], tried["value"], tried["verdict"]) for tried in conditions]
    shown = [number for one in rows for number in (*(value for _, value in one["numbers"]), *one["line"])]
    shown += [end for end in (band or ())[:2] if math.isfinite(end)]
    if not obtained or not all(map(math.isfinite, shown)):
        return None
    low, high = min(shown), max(shown)
    if not math.isfinite(span := high - low):
        return None
    span = span or 1

    def place(value):
        return round(min(max(MARGIN + (100 - 2 * MARGIN) * (value - low) / span, 0), 100), 2)

    for one in rows:
        one["dots"] = [{"name": name, "at": place(value)} for name, value in one.pop("numbers")]
        one["line"] = [place(end) for end in one["line"]]
    ends = [place(end) if math.isfinite(end) else (0 if end < 0 else 100) for end in band[:2]] if band else None
    return {"band": ends, "rows": rows, "low": rounded(low), "high": rounded(high)}


def _ends(row):
    return all(re.fullmatch(NUMBER, row[end]) for end in ("low", "high"))


def _track(name, text, verdict, line=()):
    return {"name": name, "value": shortened(text), "numbers": numbers_of(text), "line": list(line), "verdict": verdict}


def shortened(text):
    """Return a text with its decimal numbers rounded to four significant digits.

    Examples
    --------
    >>> shortened("lru 2.0543217 <= mq 7.28351"), shortened("16 runs of 12345")
    ('lru 2.054 <= mq 7.284', '16 runs of 12345')
    """
    return DECIMAL.sub(lambda found: rounded(float(found[0])), text)
