"""Turn result tables into LaTeX: one file per table, for booktabs and longtable, and a document of all of them."""

from pathlib import Path

import pandas as pd

from misspenalty.errors import InputError
from misspenalty.io.files import atomic_path

LONGEST = 250  # maximum number of rows of a printable table
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "µ": r"\textmu{}",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def escaped(text):
    """Return a text with LaTeX's special characters escaped.

    >>> escaped("cache_mb: 50 %")
    'cache\\\\_mb: 50 \\\\%'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def cell(text):
    """Return a cell of a CSV file as LaTeX: numbers with six significant digits, an empty cell as a dash."""
    try:
        number = float(text)
    except ValueError:
        return escaped(text) or "--"
    return text if text.lstrip("+-").isdigit() else f"{number:.6g}"


def latex_table(path, label):
    """Return a table as LaTeX.

    Parameters
    ----------
    path : path-like
        A CSV file with a header.
    label : str
        Caption and label of the table.

    Returns
    -------
    str

    Raises
    ------
    InputError
        There is no such file.
    """
    if not Path(path).is_file():
        raise InputError("no such table", path=path, remedy="make it with `make reproduce`")
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    numeric = [pd.to_numeric(table[name], errors="coerce").notna().any() for name in table.columns]
    head = " & ".join(rf"\textbf{{{escaped(name.replace('_', ' '))}}}" for name in table.columns) + r" \\"
    rows = [" & ".join(map(cell, row)) + r" \\" for row in table.itertuples(index=False, name=None)]
    return "\n".join(
        [
            rf"\begin{{longtable}}{{{''.join('r' if number else 'l' for number in numeric)}}}",
            rf"\caption{{{escaped(label)}}}\label{{tab:{label}}}\\",
            r"\toprule",
            head,
            r"\midrule\endfirsthead",
            r"\toprule",
            head,
            r"\midrule\endhead",
            r"\bottomrule\endfoot",
            *rows,
            r"\end{longtable}",
            "",
        ]
    )


def write_latex(paths, folder):
    """Write ``<study>_<table>.tex`` for each table that is not too long, and ``tables.tex``, a document of them all.

    Parameters
    ----------
    paths : iterable of path-like
        CSV files ``<study>/<table>.csv``.
    folder : path-like
        Folder of the files; its previous content is removed.

    Returns
    -------
    list of str
        Names of the tables written.
    """
    written, document = [], [r"\documentclass{article}", r"\usepackage[a3paper,landscape,margin=15mm]{geometry}"]
    document += [r"\usepackage{booktabs,longtable,textcomp}", r"\begin{document}\tiny"]
    with atomic_path(folder) as partial:
        partial.mkdir()
        for path in sorted(map(Path, paths)):
            name = f"{path.parent.name}_{path.stem}"
            rows = len(pd.read_csv(path, dtype=str, keep_default_na=False)) if path.is_file() else 0
            if rows > LONGEST:
                document.append(f"% {path.parent.name}/{path.name} has {rows} rows: too long to print")
                continue
            (partial / f"{name}.tex").write_text(latex_table(path, name.replace("_", "-")), encoding="utf-8")
            document.append(rf"\input{{{name}}}")
            written.append(name)
        (partial / "tables.tex").write_text("\n".join([*document, r"\end{document}", ""]), encoding="utf-8")
    return written
