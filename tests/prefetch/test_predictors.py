"""Test every registered predictor against its definition, the paper's examples and its invariants."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import InputError, ParameterError
from misspenalty.prefetch.predictors import registry
from misspenalty.prefetch.predictors.accuracy import measure_accuracy
from misspenalty.prefetch.predictors.foresight import Foresight
from misspenalty.prefetch.predictors.registry import find_predictor, known_predictors

PREDICTORS = sorted(known_predictors())
CONTEXT = ["epcm", "fmocm", "pcm"]
VALUES = {
    "order": [1, 2, 3, 5, 45],
    "partition": [1, 2, 3, 4, 8, 64],
    "threshold": [0.0, 0.1, 0.4, 0.5, 0.6, 0.75, 1.0],
    "most": [None, 1, 2, 5],
    "corrected": [0, 1],
    "product": [0, 1],
    "longest": [0, 1],
}


def settings_of(name, number=12):
    """Return the default settings, and some combinations of others."""
    names = [parameter.name for parameter in find_predictor(name).parameters]
    every = list(itertools.product(*(VALUES[parameter] for parameter in names)))
    chosen = random.Random(5).sample(every, min(number, len(every)))
    return [{}, *(dict(zip(names, values, strict=True)) for values in chosen)]


def make(name, files, **parameters):
    definition = find_predictor(name)
    return definition.kernel(files, **definition.check(parameters))


def fed(kernel, ids, cuts=()):
    """Feed events in slices; return the rank of each and the number of predictions after it."""
    ids = np.array(ids, np.uint32)
    rank, number = np.full((2, ids.size), 99, np.uint32)
    for begin, end in itertools.pairwise([0, *sorted(cuts), ids.size]):
        kernel.feed(ids[begin:end], rank[begin:end], number[begin:end])
    return rank.tolist(), number.tolist()


def expected(name, ids, parameters):
    definition = find_predictor(name)
    reference = definition.reference(**definition.check(parameters))
    rank, number, predicted = [], [], []
    for file in ids:
        rank.append(predicted.index(file) + 1 if file in predicted else 0)
        predicted = reference.access(file)
        number.append(len(predicted))
    return rank, number, predicted


def letters(text):
    return [ord(letter) - ord("A") for letter in text]


@pytest.mark.parametrize("name", PREDICTORS)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_kernel_equals_reference_on_any_sequence(name, data):
    ids = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=80))
    parameters = data.draw(st.sampled_from(settings_of(name, 60)))
    cuts = data.draw(st.lists(st.integers(0, len(ids)), max_size=3))
    kernel = make(name, 6, **parameters)
    rank, number = fed(kernel, ids, cuts)
    assert (rank, number, kernel.predictions()) == expected(name, ids, parameters)


RUN = [7, 0, 3, 0, 5, 1, 0, 6, 2, 0, 4, 8, 3, 3, 9, 0, 10, 5, 11, 1, 2, 0, 6, 9]


@pytest.mark.parametrize("noise", [0.02, 0.15])
@pytest.mark.parametrize("longer", [{}, {"most": 4}, {"threshold": 0.55}])
@pytest.mark.parametrize(("partition", "order"), [(5, 4), (16, 12), (64, 45)])
def test_kernel_equals_reference_where_chains_grow_long_and_partitions_are_halved(partition, order, longer, noise):
    rng = np.random.default_rng(3)
    ids = np.where(rng.random(2500) < noise, rng.integers(0, 12, 2500), np.resize(RUN, 2500)).tolist()
    parameters = {"partition": partition, "order": order, **longer}
    kernel = make("epcm", 12, **parameters)
    rank, number = fed(kernel, ids)
    assert kernel.halvings > 5
    assert (rank, number, kernel.predictions()) == expected("epcm", ids, parameters)


@pytest.mark.parametrize("name", PREDICTORS)
def test_kernel_equals_reference_on_long_builds(name):
    """Runs repeat except for a few files, as a build does, and are long enough for partitions to fill and halve."""
    rng = np.random.default_rng(3)
    run = rng.permutation(60)
    ids = np.concatenate([np.where(rng.random(60) < 0.05, rng.integers(60, 80, 60), run) for _ in range(25)]).tolist()
    assert len(settings_of(name))
    for parameters in settings_of(name):
        kernel = make(name, 80, **parameters)
        rank, number = fed(kernel, ids)
        assert (rank, number, kernel.predictions()) == expected(name, ids, parameters)


def test_the_papers_trie():
    """USENIX 2001, Figure 2: after CACBCAABCA the pattern CA has been seen three times."""
    kernel = make("fmocm", 3, order=3)
    fed(kernel, letters("CACBCAABCA"))
    counts = {"C": 4, "A": 4, "B": 2, "CA": 3, "CB": 1, "AC": 1, "AA": 1, "AB": 1, "BC": 2, "BB": 0}
    counts |= {"CAC": 1, "CAA": 1, "ACB": 1, "CBC": 1, "BCA": 2, "AAB": 1, "ABC": 1, "CAB": 0}
    assert {pattern: kernel.count(letters(pattern)) for pattern in counts} == counts


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 6))
def test_the_full_context_model_counts_substrings(ids, order):
    kernel = make("fmocm", 4, order=order)
    fed(kernel, ids)
    patterns = {tuple(ids[i : i + n]) for n in range(1, order + 1) for i in range(len(ids) - n + 1)}
    for pattern in patterns:
        occurrences = sum(tuple(ids[i : i + len(pattern)]) == pattern for i in range(len(ids)))
        assert kernel.count(pattern) == occurrences
    assert kernel.nodes_live == len(patterns), "the model has no other nodes"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(2, 6))
def test_a_partition_that_never_fills_changes_nothing(ids, order):
    full, partitioned = make("fmocm", 4, order=order), make("pcm", 4, order=order, partition=2**20)
    assert fed(full, ids) == fed(partitioned, ids)
    assert full.predictions() == partitioned.predictions()


@pytest.mark.parametrize("name", ["pcm", "epcm"])
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=200), st.integers(1, 9), st.integers(1, 9))
def test_partitions_keep_their_bound(name, ids, partition, order):
    kernel = make(name, 8, partition=partition, order=order)
    for file in ids:
        fed(kernel, [file])
        sizes = [kernel.size_of(file) for file in range(8)]
        assert max(sizes) <= partition
        assert kernel.nodes_live == sum(sizes)
        assert kernel.memory == 16 * sum(sizes)
    assert (kernel.nodes_live > 0) == (len(ids) > 0)


def test_a_full_partition_is_halved_and_purged_or_else_the_access_is_ignored():
    """The partition of A has room for 3 nodes, A, AB and AC; it must be halved to make room for a fourth, AD."""
    kernel = make("pcm", 5, partition=3, order=2)
    fed(kernel, letters("ABABACAD"))
    # Before D, the counts are A 4, AB 2 and AC 1. Halving leaves A 2 and AB 1 and drops AC, so AD has room.
    assert [kernel.count(letters(pattern)) for pattern in ("A", "AB", "AC", "AD")] == [2, 1, 0, 1]
    assert (kernel.halvings, kernel.ignored) == (1, 0)
    kernel = make("pcm", 5, partition=3, order=2)
    fed(kernel, letters("ABABACACAD"))
    # Before D, the counts are A 5, AB 2 and AC 2. Halving leaves A 2, AB 1 and AC 1; no node is free, so D is ignored.
    assert [kernel.count(letters(pattern)) for pattern in ("A", "AB", "AC", "AD")] == [2, 1, 1, 0]
    assert (kernel.halvings, kernel.ignored) == (1, 1)


def test_extended_contexts_grow_by_one_node_per_recurrence():
    """After k <= 6 occurrences of ABCDEFZ, A predicts k files ahead: the number of occurrences bounds the chain."""
    kernel = make("epcm", 26, partition=16, order=12)
    for run in range(7):
        fed(kernel, letters("A"))
        assert kernel.predictions() == letters("BCDEFZ")[:run]
        fed(kernel, letters("BCDEFZ"))
        assert kernel.size_of(0) == 1 + min(run + 1, 6)


def test_an_uncorrected_chain_stops_at_the_threshold():
    """After four occurrences, B, C, D and E have likelihoods 1, 3/4, 2/3 and 1/2."""
    for threshold, length in ((0.8, 1), (0.75, 2), (0.6, 3), (0.5, 4)):
        kernel = make("epcm", 26, threshold=threshold, corrected=0)
        fed(kernel, letters("ABCDEFZ") * 4 + letters("A"))
        assert kernel.predictions() == letters("BCDE")[:length]
    kernel = make("epcm", 26, threshold=0.5, corrected=0, product=1)
    fed(kernel, letters("ABCDEFZ") * 4 + letters("A"))
    assert kernel.predictions() == letters("BCD"), "the products are 1, 3/4, 1/2 and 1/4"


def test_pcm_predicts_all_likely_files_the_likeliest_first():
    kernel = make("pcm", 26, threshold=0.25)
    fed(kernel, letters("ABACABADABA"))
    # Of 5 times, A was followed by B 3 times, and by C and D once each.
    assert kernel.predictions() == letters("B")
    kernel = make("pcm", 26, threshold=0.2)
    fed(kernel, letters("ABACABADABA"))
    assert kernel.predictions() == letters("BCD")


def test_last_successor():
    kernel = make("last_successor", 3)
    assert fed(kernel, letters("ABCABAB")) == ([0, 0, 0, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1, 1])
    assert kernel.predictions() == letters("A")


@pytest.mark.parametrize("name", PREDICTORS)
def test_hostile_input_ends_in_a_message(name):
    with pytest.raises(IndexError, match="event 1 names file 7; expected an id below 5"):
        fed(make(name, 5), [0, 7])
    with pytest.raises(IndexError, match="shorter"):
        make(name, 5).feed(np.zeros(3, np.uint32), np.zeros(2, np.uint32), np.zeros(3, np.uint32))
    with pytest.raises(ParameterError, match="ids: 1 of 3 values are masked"):
        measure_accuracy(np.ma.masked_array([1, 2, 1], mask=[False, True, False]), name)
    for ids in ([], [-1, 2], [2**40]):
        with pytest.raises(InputError, match="the trace is empty or its ids are not dense"):
            measure_accuracy(ids, name)
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'sides'"):
        measure_accuracy([0], name, sides=3)


@pytest.mark.parametrize("name", CONTEXT)
def test_impossible_parameters_are_named(name):
    for parameter, value in (("order", 0), ("order", 1025), ("threshold", 1.5), ("most", 0), ("order", 2.5)):
        with pytest.raises(ParameterError, match=f"{name}: {parameter} is"):
            make(name, 3, **{parameter: value})
    with pytest.raises(ParameterError, match="unknown predictor 'oracle'"):
        find_predictor("oracle")


class Neighbours:
    """A predictor of the `ahead` files with the next higher numbers, among the files 0 to 4."""

    def __init__(self, ahead=1):
        self.ahead = ahead

    def access(self, file):
        return [next_one for next_one in range(file + 1, file + 1 + self.ahead) if next_one < 5]


def test_a_class_of_ones_own_is_a_predictor(monkeypatch):
    monkeypatch.setattr(registry, "_predictors", dict(registry._predictors))
    registry.register("neighbours")(Neighbours)
    for definition in (find_predictor(Neighbours), find_predictor("neighbours")):
        kernel = definition.kernel(5, **definition.check({"ahead": 2}))
        assert fed(kernel, [0, 2, 1, 4, 3]) == ([0, 2, 0, 0, 0], [2, 2, 2, 0, 1])


@pytest.mark.parametrize(
    ("name", "said"),
    [("pcm", r"'pcm' is already registered, by misspenalty\.prefetch\.predictors\.pcm"), ("Mine", "in lower case")],
)
def test_a_name_that_is_taken_or_cannot_be_found_is_refused(monkeypatch, name, said):
    monkeypatch.setattr(registry, "_predictors", dict(registry._predictors))
    with pytest.raises(ParameterError, match=said):
        registry.register(name)(Neighbours)


def test_parameters_of_a_class_of_ones_own_are_checked_together(monkeypatch):
    def check(ahead):
        if ahead > 3:
            raise ParameterError("too far ahead")

    monkeypatch.setattr(registry, "_predictors", dict(registry._predictors))
    registry.register("neighbours", check=check)(Neighbours)
    assert find_predictor("neighbours").check({"ahead": 3}) == {"ahead": 3}
    with pytest.raises(ParameterError, match="too far ahead"):
        measure_accuracy([0, 1], "neighbours", ahead=4)


@pytest.mark.parametrize("ids", [[], [0, -1], [0, 2**31], [0.9, 1], [[0, 1]], ["a"], 3, iter([1])])
def test_accuracy_is_of_files_numbered_from_0(ids):
    with pytest.raises(InputError, match="expected files numbered from 0"):
        measure_accuracy(ids, "last_successor")


def test_accuracy_counts_the_second_event_too():
    class First:
        def access(self, file):
            return [0]

    found = measure_accuracy([1, 0, 0, 1], First)
    assert (found.events, found.predicted, found.first, found.among, found.files) == (3, 3, 2, 2, 1)


def test_epcm_is_by_default_that_of_figure_8():
    """The default must be a partition size of 64 and an order of 45."""
    found = find_predictor("epcm").check({})
    assert (found["partition"], found["order"], found["threshold"], found["corrected"]) == (64, 45, 0.75, 1)


def test_a_class_of_ones_own_may_be_a_dict():
    class Following(dict):
        last = None

        def access(self, file):
            self[self.last], self.last = file, file
            return [self[file]] if file in self else []

    assert measure_accuracy([0, 1, 2] * 3, Following) == measure_accuracy([0, 1, 2] * 3, "last_successor")._replace(
        memory=0
    )


def test_a_constructor_that_fails_is_named():
    class Mine:
        def __init__(self, depth=0):
            self.share = 1 / depth

        def access(self, file):
            return []

    with pytest.raises(ParameterError, match="predictor Mine: its constructor raised ZeroDivisionError"):
        measure_accuracy([0, 1], Mine)


@pytest.mark.parametrize("predicted", [[-1], [5], [4, 0, 5]])
def test_a_class_of_ones_own_predicts_only_files_that_there_are(predicted):
    class Mine:
        def access(self, file):
            return predicted if file else [0, 4]

    kernel = find_predictor(Mine).kernel(5)
    assert fed(kernel, [0]) == ([0], [2])
    message = rf"access\(4\) raised ValueError: predicted file {[-1, 5][5 in predicted]}; expected an id .* below 5"
    with pytest.raises(ParameterError, match=f"predictor Mine: {message}"):
        fed(kernel, [4])


def test_a_class_of_ones_own_predicts_only_whole_numbers():
    class Mine:
        def __init__(self, kind=float):
            self.kind = kind

        def access(self, file):
            return [self.kind(1)]

    assert measure_accuracy([0, 1], Mine, kind=np.uint8).first == 1
    with pytest.raises(ParameterError, match=r"predictor Mine: access\(0\) raised TypeError: 'float' object"):
        measure_accuracy([0, 1], Mine)


def test_foresight_is_the_events_to_come():
    ids = [3, 1, 2, 1, 0]
    assert fed(Foresight(4, np.array(ids, np.uint32), 2), ids, cuts=[2]) == ([0, 1, 1, 1, 1], [2, 2, 2, 1, 0])


def test_foresight_is_of_files_that_there_are():
    with pytest.raises(IndexError, match="event 1 names file 3; expected an id below 3"):
        Foresight(3, np.array([2, 3], np.uint32), 2)


@pytest.mark.parametrize("name", ["corrected", "product", "longest"])
def test_a_switch_is_on_or_off(name):
    assert [find_predictor("epcm").check({name: value})[name] for value in (0, 1)] == [0, 1]
    with pytest.raises(ParameterError, match=f"{name} is 2"):
        find_predictor("epcm").check({name: 2})


def test_accuracy_counts_what_was_predicted():
    result = measure_accuracy(letters("ABCABCABC"), "last_successor")
    assert (result.events, result.predicted, result.first, result.among) == (8, 5, 5, 5)
    assert result.memory == 12
