"""Test the comparison of two versions of a result: cells of tables, pixels of pictures, bytes of other files."""

import io
import zlib

import matplotlib.image
import numpy as np
import PIL.Image
import pytest

from misspenalty_studies.common.reporting.archive.compare import compare_contents


@pytest.mark.parametrize(
    ("here", "verdict", "detail"),
    [
        ("k,x\na,1.0\nb,2.0\n", "equal", ""),
        ("k,x\na,1\nb,2.0000000000004\n", "numerically equal", "largest relative difference 2e-13"),
        ("k,x\na,1.0\nb,2.5\n", "different", "x: 1 of 2 values differ, most '2.0' and here '2.5' (relative 0.2)"),
        ("k,x\na,1.5\nb,3\n", "different", "x: 2 of 2 values differ, most '1.0' and here '1.5' (relative 0.333)"),
        ("k,x\na,1.0\nc,2.0\n", "different", "k: 1 of 2 values differ, most 'b' and here 'c' (relative inf)"),
        ("k,x\na,1.0\nb,\n", "different", "x: 1 of 2 values differ, most '2.0' and here '' (relative inf)"),
        ("k,x\na,1.0\nb\n", "different", "x: 1 of 2 values differ, most '2.0' and here None (relative inf)"),
        ("k,x\na,1.0\nb,2.0,\n", "different", "column 3: 1 of 2 values differ, most None and here '' (relative inf)"),
        ("k,x\na,1.0\n", "different", "2 rows archived, 1 here"),
        ("k,y\na,1.0\nb,2.0\n", "different", "columns differ: ['x', 'y']"),
        ("x,k\na,1.0\nb,2.0\n", "different", "columns differ: their order"),
        ("", "different", "columns differ: ['k', 'x']"),
        ('k,x\na,1.0\nb,"2.0', "different", "16 bytes archived, 16 here; 4 of the first 16 differ"),
    ],
)
def test_tables_are_compared_by_value(here, verdict, detail):
    assert compare_contents("a.csv", b"k,x\na,1.0\nb,2.0\n", here.encode()) == (verdict, detail)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("NA", "", "different"),
        ("null", "", "different"),
        ("NA", "null", "different"),
        ("nan", "NaN", "different"),
        ("inf", "1e999", "different"),
        ("True", "1", "different"),
        ("1_0", "10", "different"),
        ("\u0661", "1", "different"),
        (str(2**53), str(2**53 + 1), "different"),
        (f"{2**53}.0", f"{2**53 + 1}.0", "numerically equal"),
        ("007", "7", "numerically equal"),
        ("0", "-0.0", "numerically equal"),
        ("1e-400", "0", "different"),
        ("1.0000000009", "1", "numerically equal"),
        ("1.0000000011", "1", "different"),
        ("-1", "1.0", "different"),
    ],
)
def test_cells_that_are_equal(one, other, verdict):
    assert compare_contents("a.csv", f"x\n{one}\n".encode(), f"x\n{other}\n".encode())[0] == verdict


def test_pictures_are_compared_by_pixel(tmp_path):
    picture = np.zeros((10, 10, 3))
    matplotlib.image.imsave(tmp_path / "one.png", picture)
    picture[0, :5] = 1
    matplotlib.image.imsave(tmp_path / "other.png", picture)
    one, other = ((tmp_path / name).read_bytes() for name in ("one.png", "other.png"))
    assert compare_contents("a.png", one, other) == (
        "different",
        "5.00% of the pixels differ, by up to 1 of full scale",
    )
    matplotlib.image.imsave(tmp_path / "other.png", picture[:9])
    shorter = compare_contents("a.png", one, (tmp_path / "other.png").read_bytes())
    assert shorter == ("different", "10×10 pixels archived, 10×9 here")
    PIL.Image.new("RGB", (10, 10)).save(tmp_path / "other.png")
    opaque = (tmp_path / "other.png").read_bytes()
    assert compare_contents("a.png", one, opaque) == ("different", "4 channels archived, 3 here")
    assert compare_contents("a.png", one, b"x" * 9)[1].endswith("9 of the first 9 differ")


@pytest.mark.parametrize("side", [2**16, 2**31])
def test_a_picture_that_claims_a_huge_size_is_not_decoded(side):
    matplotlib.image.imsave(stream := io.BytesIO(), np.zeros((2, 2, 3)), format="png")
    here = stream.getvalue()
    header = here[12:16] + 2 * side.to_bytes(4, "big") + here[24:29]
    archived = here[:12] + header + zlib.crc32(header).to_bytes(4, "big") + here[33:]
    assert compare_contents("a.png", archived, here) == ("different", f"{side}×{side} pixels archived, 2×2 here")


def test_other_files_are_compared_by_byte():
    assert compare_contents("a.pdf", b"abc", b"abdd") == (
        "different",
        "3 bytes archived, 4 here; 1 of the first 3 differ",
    )
