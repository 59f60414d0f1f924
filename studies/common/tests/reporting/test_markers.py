"""Test the replacement of generated text between markers."""

import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting.markers import update_between_markers


def test_text_between_markers_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "README.md"
    page.touch()
    page.chmod(0o640)
    page.write_text("before\n<!-- claims:start -->\nold\n<!-- claims:end -->\nafter\n")
    assert update_between_markers(page, "claims", "| new |\n")
    expected = "before\n<!-- claims:start -->\n| new |\n<!-- claims:end -->\nafter\n"
    assert page.read_text() == expected
    assert page.stat().st_mode & 0o777 == 0o640
    stamp = page.stat().st_mtime_ns
    assert not update_between_markers(page, "claims", "| new |")
    assert page.stat().st_mtime_ns == stamp
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    ("text", "message"),
    [("nothing", "occurs 0 times"), ("<!-- claims:end --><!-- claims:start -->", "comes before"),
     ("<!-- claims:start --><!-- claims:start --><!-- claims:end -->", "occurs 2 times")],
)  # fmt: skip
def test_markers_that_are_missing_or_crossed_are_an_error(tmp_path, text, message):
    page = tmp_path / "README.md"
    page.write_text(text)
    with pytest.raises(InputError, match=message):
        update_between_markers(page, "claims", "x")
    assert page.read_text() == text
