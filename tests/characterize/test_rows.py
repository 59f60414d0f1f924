"""A table of traces is read; an error message names the line, row and column where they are known."""

import pytest

from misspenalty.characterize.rows import COLUMNS, read_rows
from misspenalty.errors import InputError

HEADER = "\t".join(COLUMNS)
SUM = "0" * 64


def table(folder, *lines, header=HEADER):
    path = folder / "traces.tsv"
    path.write_text("\n".join(["# a comment", header, "", *lines]) + "\n")
    return path


def test_rows_by_name_with_defaults(tmp_path):
    rows = read_rows(table(tmp_path, f"web\thttps://a.org/x.spc.gz\t{SUM}\tSPC\t8KB\treads\t10%\tcheetah9lp\tspeed=2"))
    assert rows["web"].file_name == "x.spc.gz" and rows["web"].is_url and rows["web"].format == "spc"
    short = read_rows(table(tmp_path, "mine\tdata/x.spc", header="name\tsource"))
    assert short["mine"].device == "5ms" and not short["mine"].is_url
    assert read_rows(table(tmp_path, "arc\texternal:arc/OLTP.lis.zst", header="name\tsource"))["arc"].external


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"name": "all"}, r"traces.tsv, line 4: row all, column name: 'all' is not a valid trace name"),
        ({"name": "../x"}, "column name: '../x' is not a valid trace name"),
        ({"source": ""}, "column source: ''; expected a path"),
        ({"source": "https://a.org/"}, "column source: .*ends in the name of a file"),
        ({"source": "https://a.org/x.spc"}, "row mine, column sha256: an address needs the checksum"),
        ({"sha256": "12"}, "row mine, column sha256: '12'; expected 64 hexadecimal digits"),
        ({"format": "scp"}, "column format: unknown trace format 'scp', did you mean 'spc'?"),
        ({"format": "spc", "unit": "ms"}, "row mine: format spc has no option 'unit', did .*; it has columns, [^:]*$"),
        ({"block_size": "0"}, "column block_size: block size is '0'; expected at least 1 byte"),
        ({"selection": "frist=3"}, "column selection: .*'frist=3'; expected one of all, reads"),
        ({"warm_up": "half"}, "column warm_up: 'half'; expected a number of references"),
        ({"device": "cheeta9lp"}, "column device: 'cheeta9lp' is not a drive, did you mean 'cheetah9lp'?"),
        ({"load": "speed=0"}, "column load: 'speed=0'; expected a load such as speed=0.5"),
    ],
)
def test_an_impossible_cell_is_named(tmp_path, cells, message):
    row = dict.fromkeys(COLUMNS, "") | {"name": "mine", "source": "x.spc"} | cells
    with pytest.raises(InputError, match=message):
        read_rows(table(tmp_path, "\t".join(row.values())))


@pytest.mark.parametrize(
    ("header", "line", "message"),
    [
        ("name\tsorce", "a\tb", r"line 2: column 'sorce' is unknown, did you mean 'source'\?"),
        ("name\tname\tsource", "a\tb\tc", "column 'name' is listed twice"),
        ("name", "a", "column source is missing"),
        ("name\tsource", "a\tb\tc", "line 4: row a: 3 cells for 2 columns"),
    ],
)
def test_an_impossible_table_is_refused(tmp_path, header, line, message):
    with pytest.raises(InputError, match=message):
        read_rows(table(tmp_path, line, header=header))


def test_a_name_is_given_once(tmp_path):
    with pytest.raises(InputError, match="line 5: row a, column name: listed twice"):
        read_rows(table(tmp_path, "a\tx", "a\ty", header="name\tsource"))


def test_a_cell_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"line \d+: cannot be divided into cells \(field larger than field limit"):
        read_rows(table(tmp_path, f"mine\t{'x' * 200_000}", header="name\tsource"))


@pytest.mark.parametrize("cell", ['"GET (.*)" (.*)', '"x.csv'])
def test_quotes_that_would_be_lost_are_refused(tmp_path, cell):
    with pytest.raises(InputError, match=r"line 4: cannot be divided into cells .* double the quotes inside it"):
        read_rows(table(tmp_path, f"mine\tx.csv\t{cell}\tcsv", header="name\tsource\tpattern\tformat"))


def test_a_missing_or_empty_table_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "none.tsv")
    (tmp_path / "empty.tsv").write_text("# nothing\n")
    with pytest.raises(InputError, match="has no header"):
        read_rows(tmp_path / "empty.tsv")
