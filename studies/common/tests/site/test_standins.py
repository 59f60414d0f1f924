"""Test that the page's stand-in for NumPy returns NumPy's values and types; here it runs outside a browser."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STANDINS = Path(__file__).parents[2] / "site" / "play" / "standins"
EXPRESSIONS = """
np.array([1, 2, 3], np.uint8) - np.uint8(2)
np.array([2**63, 1], np.uint64) // np.uint64(3)
np.array([2**64 - 1, 1], np.uint64) * np.uint64(3)
np.array([-7, 7]) // 2
np.array([-7, 7]) % 4
np.array([-7, -5])
np.array([1, 7]) << 62
np.cumsum(np.array([200, 200], np.uint8))
np.array([1.5, -1.5]).astype(np.int64)
np.array([300, -1]).astype(np.uint8)
np.array([2**63 + 5], np.uint64).astype(np.int64)
np.diff(np.array([5, 3], np.uint64))
np.diff(np.array([5, 3]), prepend=-1, append=9)
np.unique(np.array([3, 1, 3]), return_index=True)[1]
np.unique(np.array([[1, 2], [0, 5], [1, 2]]), axis=0)
np.searchsorted(np.array([1, 3, 3, 5]), np.array([3, 6, 0]), side="right")
np.bincount(np.array([1, 1, 4]), minlength=2)
np.argsort(np.array([3, 1, 2, 1]), kind="stable")
np.concatenate([np.array([1], np.int32), np.array([1, 2])])
np.append(np.array([1, 2]), 5)
np.where(np.array([True, False]), np.array([1, 2]), -1)
np.isin(np.array([1, 2, 3]), np.array([2]), invert=True)
np.maximum.accumulate(np.array([3, 1, 4]))
np.clip(np.array([1, 50, -3]), 0, 10)
np.rint(np.array([0.5, 1.5, 2.5, -0.5]))
np.round(np.array([2.5, 1.2]))
np.repeat(np.array([1, 2]), np.array([0, 3]))
np.array([True, False]) * np.array([5, 6])
np.array([[1, 2], [3, 4]])[:, 1]
np.array([1, 2, 3, 4])[::2]
np.array([1, 2]) / 4
np.array([-1]) < np.array([1], np.uint64)
np.array([1], np.uint32) + np.array([1])
3 - np.array([1, 2])
1 << np.arange(3)
np.arange(6).reshape(-1, 2)
np.unique(np.array([], np.int64))
np.maximum(-(-np.array([0, 513]) // 512), 1)
""".strip().splitlines()
RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
made = [eval(text) for text in json.load(sys.stdin)]
values = np.array([1, 5, 2])
np.maximum.at(values, np.array([0, 2, 0]), np.array([7, 1, 3]))
print(json.dumps([[str(one.dtype), repr(one.tolist())] for one in [*made, values, np.empty_like(values) * 0]]))
"""


@pytest.fixture(scope="module")
def stood_in():
    command = [sys.executable, "-c", RUN, str(STANDINS)]
    done = subprocess.run(command, input=json.dumps(EXPRESSIONS), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("place", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_values_and_types_are_those_of_numpy(stood_in, place):
    native = eval(EXPRESSIONS[place], {"np": np})
    assert stood_in[place] == [str(native.dtype), repr(native.tolist())]


def test_larger_values_are_kept_in_their_places(stood_in):
    assert stood_in[-2:] == [["int64", "[7, 5, 2]"], ["int64", "[0, 0, 0]"]]
