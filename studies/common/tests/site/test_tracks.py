"""Test the tracks of a claim's page: the positions of its numbers, and the band that its tolerance allows."""

import math

import pytest

from misspenalty_studies.common.claims.ledger import Claim
from misspenalty_studies.common.claims.recorder import Recorder
from misspenalty_studies.common.site.tracks import band_of, numbers_of, tracks


def claim(kind="value", published=20, **more):
    return Claim("a.b", "a", "Table 1", "", kind, published, "stated", "claim", **more)


def row(obtained, low="", high="", verdict="direction", note=""):
    return {"obtained": obtained, "low": low, "high": high, "verdict": verdict, "note": note}


@pytest.mark.parametrize(
    ("one", "band"),
    [
        (claim(), (17, 23, 20)),
        (claim(published=90, complement=True, tolerance={"relative": 0.5}), (85, 95, 90)),
        (claim("bound", {"op": "<=", "limit": 8}), (-math.inf, 8, None)),
        (claim("bound", {"op": ">", "limit": 8}), (8, math.inf, None)),
        (claim("bound", {"op": "<=", "limit": 40, "reached": True}), (34, 46, 40)),
        (claim("bound", {"op": "<", "limit": 10, "near": 10}), (9, 10, 10)),
        (claim("bound", {"op": "<=", "limit": [8, 11]}), None),
        (claim("ordering", [["lru"], ["mq"]]), None),
    ],
)
def test_the_band_is_what_the_rule_of_the_kind_allows(one, band):
    assert band_of(one) == (band if band is None else pytest.approx(band))


def test_places_are_in_proportion_and_an_open_band_reaches_the_end():
    made = tracks(claim("bound", {"op": "<=", "limit": 10}), row("5", "0", "7.5"), [])
    (obtained,) = made["rows"]
    assert [dot["at"] for dot in obtained["dots"]] == [50] and obtained["line"] == [4, 73]
    assert made["band"] == [0, 96] and (made["low"], made["high"]) == ("0", "10")


def test_the_printed_limit_of_a_claim_that_has_an_obtained_one_allows_nothing():
    """The judge itself must write the note by which the page recognises such a claim."""
    one, record = claim("bound", {"op": "<=", "limit": 1.21}), Recorder()
    record.bound(one.id, 1.8, limit=1.827)
    judged = record.forms[one.id].decide(one)
    assert judged.verdict == "reproduced"
    assert tracks(one, row(judged.obtained, verdict=judged.verdict, note=judged.note), [])["band"] is None


def test_conditions_share_the_scale_and_words_have_no_dot():
    tried = [
        {"condition": "cold", "value": "40.00001", "verdict": "tie"},
        {"condition": "hot", "value": "none", "verdict": "tie"},
    ]
    published, obtained, cold, hot = tracks(claim(), row("10"), tried)["rows"]
    assert obtained["dots"][0]["at"] < published["dots"][0]["at"] < cold["dots"][0]["at"] == 96
    assert cold["value"] == "40" and hot["dots"] == []


@pytest.mark.parametrize("text", ["0", "7", "-7"])
def test_a_number_alone_is_at_the_beginning(text):
    made = tracks(claim("trend", "increasing"), row(text), [])
    assert [dot["at"] for dot in made["rows"][0]["dots"]] == [4] and made["low"] == made["high"]


@pytest.mark.parametrize("text", ["", "explanation", "T6: 93.19, mostly", "nan", "1e999", "inf"])
def test_a_text_that_is_not_made_of_numbers_has_no_tracks(text):
    assert tracks(claim("trend", "increasing"), row(text), []) is None


def test_names_may_contain_digits():
    assert numbers_of("T1-: 85.06, 2 MB: -3") == [("T1-", 85.06), ("2 MB", -3.0)]
