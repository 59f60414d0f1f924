"""Test times and sizes as users write them."""

import pytest

from misspenalty import ParameterError
from misspenalty.traces.quantities import parse_bytes, parse_size, parse_time

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "ns"),
    [("7ns", 7), ("20NS", 20), ("0.5us", 500), ("3us", 3000), ("3\u00b5s", 3000), ("3\u03bcS", 3000),
     ("2ms", 2 * 10**6), ("1 s", SECOND), ("1.5s", 15 * SECOND // 10), (" 4 S ", 4 * SECOND), ("10m", 600 * SECOND),
     ("10min", 600 * SECOND), ("2h", 7200 * SECOND), ("1d", 86_400 * SECOND)],
)  # fmt: skip
def test_times(text, ns):
    assert parse_time(text) == ns


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("8192", 8192), ("65536", 65536), ("8KB", 8192), ("8kb", 8192), ("8192B", 8192), ("1.5k", 1536),
     ("0.5 MiB", 1 << 19), ("2MiB", 2 << 20), ("512MB", 1 << 29), ("512 MiB", 1 << 29), ("0.5g", 1 << 29),
     ("3g", 3 << 30), ("9007199254740993", 2**53 + 1)],
)  # fmt: skip
def test_bytes(text, size):
    assert parse_bytes(text, "a block") == size
    if size >= 8192:
        assert parse_size(text, 4096) == (size if text.isdigit() else size // 4096)


@pytest.mark.parametrize("text", ["0", "0.4b", "-1", "1e3", "5%", "", "7XB", "1.5", "0.5", "12 parsecs", "9" * 5000])
def test_what_is_not_a_size_is_refused(text):
    with pytest.raises(ParameterError):
        parse_bytes(text, "a block")
    with pytest.raises(ParameterError):
        parse_size(text, 4096)


def test_shares_of_a_footprint():
    assert [parse_size(text, 4096, blocks=1000) for text in ("5%", "0.1%", "100%")] == [50, 1, 1000]
    for text in ("0.01%", "101%", "4095B"):
        with pytest.raises(ParameterError):
            parse_size(text, 4096, blocks=1000)


@pytest.mark.parametrize(
    ("text", "of", "half"), [("50%", 45, 22), ("70%", 45, 31), ("57.5%", 220, 126), ("0.7%", 500, 3)]
)
def test_halves_of_a_block_are_rounded_up(text, of, half):
    assert parse_size(text, 4096, blocks=of) == half + 1


@pytest.mark.parametrize("text", ["1", "4096B", "4KB", "0.1%", "0.05%"])
def test_a_cache_may_hold_one_block(text):
    assert parse_size(text, 4096, blocks=1000) == 1


def test_whole_bytes_are_exact_beyond_what_a_float_holds():
    assert parse_bytes("9007199254740993B", "space") == parse_size("9007199254740993B", 1) == 2**53 + 1
    assert parse_size("1.5KB", 512) == 3
