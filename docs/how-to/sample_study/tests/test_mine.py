"""Test the tables of the sample study on values counted by hand."""

import pandas as pd

from misspenalty_studies.mine import runs, tables


def test_the_faults_are_those_counted_by_hand():
    found = runs.faults([3, 4]).set_index(["policy", "frames"])["faults"]
    assert found.to_dict() == {("fifo", 3): 9, ("fifo", 4): 10, ("lru", 3): 10, ("lru", 4): 8}


def test_added_faults_are_those_of_one_more_frame():
    faults = pd.DataFrame({"policy": "fifo", "frames": [4, 3], "faults": [10, 9]})
    assert tables.added(faults).values.tolist() == [["fifo", 4, 1]]
