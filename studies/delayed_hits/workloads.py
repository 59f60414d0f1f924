"""Read the authors' sample, or generate a trace for the step model; generated traces are equal on every machine."""

from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

import numpy as np

from misspenalty.errors import InputError

MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # constants of Knuth's MMIX
MOST_DIGITS = 19  # maximum number of digits of an object's number
SEEDS = {"syn_zipf": 20261123, "syn_bursts": 20261124}


class Generator:
    """A 64-bit linear congruential generator."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        """Draw a number from 0 up to but excluding 1, from the upper 53 bits."""
        self.state = (MULTIPLIER * self.state + INCREMENT) % 2**64
        return (self.state >> 11) / 2**53

    def below(self, limit):
        """Draw a whole number below `limit`."""
        return int(limit * self.uniform())


def zipf(seed=SEEDS["syn_zipf"], steps=20_000, objects=2_000, exponent=0.9):
    """Draw independent requests, one per step, from Zipf's law: object k has weight ``1 / (k + 1) ** exponent``.

    Examples
    --------
    >>> zipf(steps=5).tolist()
    [1668, 927, 415, 594, 183]
    """
    random = Generator(seed)
    sums = list(accumulate(1 / (k + 1) ** exponent for k in range(objects)))
    return np.array([min(bisect_right(sums, random.uniform() * sums[-1]), objects - 1) for _ in range(steps)])


def bursts(seed=SEEDS["syn_bursts"], steps=20_000, objects=1_500, sessions=12):
    """Draw requests in bursts; about 30 % of the steps have no request, which is written as -1.

    `sessions` sessions are active at a time, each with one object and 2 to 40 requests to make. Each request comes
    from a random session. With probability one half, the session that replaces a finished one is for one of the last
    200 finished objects, otherwise for any object.
    """
    random, finished = Generator(seed), []
    made = np.full(steps, -1)
    active = [[random.below(objects), 2 + random.below(39)] for _ in range(sessions)]
    for step in range(steps):
        if random.uniform() < 0.3:
            continue
        session = active[random.below(sessions)]
        made[step], session[1] = session[0], session[1] - 1
        if session[1] == 0:
            finished = [*finished, session[0]][-200:]
            again = random.uniform() < 0.5
            session[0] = finished[random.below(len(finished))] if again else random.below(objects)
            session[1] = 2 + random.below(39)
    return made


def read_steps(path):
    """Read requests from a file in the authors' format: one line per step, from step 0 on, ``step;object`` or empty.

    Returns
    -------
    int64 array
        The object requested at each step, -1 for none.

    Raises
    ------
    InputError
        The file cannot be read, a line has another format or the number of another step, or an object's number does not
        fit into 64 bits.
    """
    try:
        lines = Path(path).read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, expected="lines of step;object") from error
    made = np.full(len(lines), -1)
    for number, line in enumerate(lines):
        step, _, name = line.partition(";")
        if line and not (step == str(number) and name.isdecimal()):
            expected = f"{number};object, as steps count from 0, or an empty line"
            raise InputError(f"{line[:80]!r}", path=path, line=number + 1, expected=expected)
        if line and (len(name) > MOST_DIGITS or int(name) >= 1 << 63):
            expected = f"a number below 2**63, of at most {MOST_DIGITS} digits"
            raise InputError(f"object {name[:80]} is out of range", path=path, line=number + 1, expected=expected)
        if line:
            made[number] = int(name)
    return made
