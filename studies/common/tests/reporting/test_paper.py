"""Test that the paper compiles from results alone, compiles to the same bytes every time, and contains no hand-typed
results."""

import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
import yaml
from ledgers import LEDGER

from misspenalty.errors import InputError
from misspenalty.io.typesetting import compile_paper, paper_inputs
from misspenalty.plotting import save_figure, style
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[4]
PAPER = ROOT / "paper"
DOCUMENTS = ["paper", "supplement"]
SOURCES = [
    path for path in sorted((*PAPER.glob("*.typ"), *ROOT.glob("studies/*/*.typ"))) if path.name != "template.typ"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a folder like the repository, with all inputs of the documents and a blank page for every figure."""
    root = tmp_path_factory.mktemp("repository")
    with matplotlib.rc_context(style.STYLE):
        blank = style.new_figure(1, 1)
    paths = {path for name in DOCUMENTS for path in paper_inputs(PAPER / f"{name}.typ", ROOT)}
    for pattern in ("studies/*/study.yaml", "results/*/conditions.csv"):  # the sources compute the names of these
        paths |= {path.relative_to(ROOT) for path in ROOT.glob(pattern)}
    for path in paths:
        if path.suffix in (".pdf", ".svg", ".png"):
            save_figure(blank, root / path.with_suffix(""), formats=[path.suffix[1:]])
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, root / path)
    return root


@pytest.fixture
def copy(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def text_of(root, document):
    """Return the text of a document, extracted with Typst's own HTML export."""
    import typst

    source = str(root / "paper" / f"{document}.typ")
    html = typst.compile(source, root=str(root), format="html", ignore_system_fonts=True)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.decode()))


@pytest.fixture(scope="module")
def texts(folder):
    """Return the texts of the documents by name."""
    return {name: text_of(folder, name) for name in DOCUMENTS}


def test_two_processes_write_the_same_bytes(folder, tmp_path):
    program = "import sys; from misspenalty.io.typesetting import compile_paper; compile_paper(*sys.argv[1:])"
    outputs = [tmp_path / "one.pdf", tmp_path / "two.pdf"]
    for output in outputs:
        subprocess.run(
            [
                sys.executable,
                "-W",
                "error",
                "-c",
                program,
                str(folder / "paper" / "paper.typ"),
                str(folder),
                str(output),
            ],
            check=True,
            env={"PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": str(tmp_path)},
        )
    first, second = (output.read_bytes() for output in outputs)
    assert first == second and first.startswith(b"%PDF") and b"CreationDate" not in first


def test_the_paper_compiles_with_other_sizes_and_streams(copy, tmp_path):
    """The paper must also compile from a small run, whose cache sizes differ from the paper's and whose captures the
    fact sheet does not list."""
    for path in (copy / "results" / "mq").glob("*.csv"):
        table = pd.read_csv(path)
        if "cache_mb" in table:
            table.assign(cache_mb=table["cache_mb"] / 64).to_csv(path, index=False)
    config = yaml.safe_load((copy / "config" / "config.yaml").read_text())
    config["captures"] = {label: f"elsewhere/{label}.parquet" for label in config["captures"]}
    compile_paper(copy / "paper" / "paper.typ", copy, tmp_path / "small.pdf", config)
    assert (tmp_path / "small.pdf").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["results/mq/table4.csv", "results/hac/fig9.pdf"])
def test_a_missing_file_is_named_with_its_remedy(copy, tmp_path, name):
    (copy / name).unlink()
    with pytest.raises(InputError, match=rf"{name}.*make reproduce"):
        compile_paper(copy / "paper" / "paper.typ", copy, tmp_path / "paper.pdf")
    assert not list(tmp_path.glob("*.pdf")) and not list(tmp_path.glob(".*"))


def test_an_error_in_a_source_is_placed(copy, tmp_path):
    section = copy / "studies" / "mq" / "section.typ"
    lines = section.read_text().splitlines()
    section.write_text("\n".join([*lines, "", "#nowhere"]))
    with pytest.raises(InputError, match=rf"mq/section\.typ, line {len(lines) + 2}: .*unknown variable: nowhere"):
        compile_paper(copy / "paper" / "paper.typ", copy, tmp_path / "paper.pdf")


def test_a_source_outside_the_root_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match="lies outside"):
        compile_paper(folder / "paper" / "paper.typ", tmp_path, tmp_path / "paper.pdf")
    with pytest.raises(InputError, match="no such file"):
        compile_paper(folder / "paper" / "absent.typ", folder, tmp_path / "paper.pdf")


def test_inputs_are_sorted_and_complete():
    inputs = paper_inputs(PAPER / "paper.typ", ROOT)
    assert inputs == sorted(inputs) and not any(path.is_absolute() for path in inputs)
    named = {str(path) for path in inputs}
    assert {f"paper/{name}" for name in ("paper.typ", "references.bib", "related_work.yaml")} <= named
    assert {"results/claims.csv", "results/hac/fig9.pdf"} <= named


def test_prose_follows_verdicts_and_numbers(copy, texts):
    """Sentences about ranks, a fit, levels, the best predictor, the slower drive and the fastest policy must follow the
    tables."""

    def change(path, column, value, **keys):
        table = pd.read_csv(copy / "results" / path, dtype=str, keep_default_na=False)
        rows = pd.concat([table[key] == of for key, of in keys.items()], axis=1).all(axis=1)
        assert rows.any(), keys
        table.loc[rows, column] = value
        table.to_csv(copy / "results" / path, index=False)

    change("claims.csv", "verdict", "reproduced", id="mq.table4.mq.512")
    change("claims.csv", "verdict", "reproduced", id="mq.fig7.gain_order")
    change("mq/fit.csv", "at_bound", "False", variant="128mb")
    change("epcm/fig7.csv", "io_reduction_pct", "95", benchmark="ld", model="last_successor")
    change("kvcache/sensitivity.csv", "saved_pct", "1.5", parameter="ssd_gb_s", policy="mq", kind="ssd")
    change("sarc/table2.csv", "read_ms", "1000", config="cache_insensitive", policy="sarc")
    supplement, paper = text_of(copy, "supplement"), text_of(copy, "paper")
    assert "They do not rank by cache size" in texts["supplement"] and "They rank by cache size" in supplement
    assert "cannot reach this value" in texts["supplement"] and "cannot reach this value" not in supplement
    assert "every printed hit ratio is above" not in paper and "every printed hit ratio is above" in texts["paper"]
    assert "On GNU ld last successor is" in supplement and "On GNU ld" not in texts["supplement"]
    slower = "so that a cache that loads whatever it holds can be slower than no cache"
    assert "they save 1.5 %." in supplement and slower not in supplement and slower in texts["supplement"]
    assert "it is not the fastest, at" in paper and "it is fastest as well, at" in texts["paper"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_source_code_is_printed(texts, document):
    """A line break before a method ends a Typst statement, and the rest is typeset as text. The documents must not
    contain such text."""
    leaks = re.findall(r"\.(?:filter|map|sorted|join|flatten)\(.{0,30}|=&gt;|#let \w+", texts[document])
    assert not leaks, f"code is typeset as text: {leaks}"


def test_every_judged_study_is_named(texts):
    names = [study.name for study in studies().values() if study.judged]
    assert len(names) > 1 and [name for name in names if name not in texts["paper"]] == []


def test_the_totals_are_those_of_the_claims(folder, texts):
    """The rows of three studies in the table of totals must equal the counts computed in pandas."""
    claims = pd.read_csv(folder / "results" / "claims.csv").query("role == 'claim'")
    tested = claims[claims["verdict"] != "not_testable"]
    for study, title in (("mq", "Multi-Queue"), ("hac", "HAC"), ("kvcache", "Mooncake")):
        cells = [
            part if (part := f"{(own['verdict'] == 'reproduced').sum()}/{len(own)}") != "0/0" else "–"
            for form in ("number", "comparison")
            for basis in ("free", "calibrated", "fitted")
            for own in [tested[(tested["study"] == study) & (tested["form"] == form) & (tested["basis"] == basis)]]
        ]
        untestable = len(claims[(claims["study"] == study) & (claims["verdict"] == "not_testable")])
        ties = len(claims[(claims["study"] == study) & (claims["verdict"] == "tie")])
        assert f"{title} {' '.join(cells)} {ties} {untestable}" in texts["paper"]


def numbers_of(source):
    """Return the decimal numbers in a Typst source, prose and code, except lengths, section numbers and releases."""
    text = re.sub(r"//[^\n]*|§[\d.]+|Linux [\d.]+", "", source.read_text())
    return set(re.findall(r"(?<![\w.])\d+\.\d+(?!\d|\.|pt|em|mm|fr)", text))


@functools.cache
def results():
    """Return MQ's published values, its cache sizes and counts of ledger entries, as they would be typed."""
    published = pd.read_csv(ROOT / "studies" / "mq" / "published" / "table4.csv")
    gains = pd.read_csv(ROOT / "studies" / "mq" / "published" / "fig7.csv")
    typed = {f"{value:g}" for value in [*published["hit_ratio_pct"], *gains["normalized_rate"].dropna()]} - {"1"}
    judged = [claim.study for claim in LEDGER]
    # Leave out 100, which also occurs as a percentage.
    typed |= {str(len(judged)), *(str(judged.count(study)) for study in set(judged))} - {"100"}
    sizes = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["mq"]["cache_mb"]
    return sorted(typed | {f"{size} MB" for size in sizes})


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_result_is_typed_into_the_documents(source):
    """The source must contain no value of `results` and no decimal numbers except lengths, section numbers and
    releases."""
    assert not numbers_of(source), "read it from a result file"
    text = re.sub(r"//[^\n]*", "", source.read_text())
    found = [value for value in results() if re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", text)]
    assert not found, f"{source.name} has {found} typed in: read it from a result file"


def test_the_guard_against_typed_results_sees_one(tmp_path):
    source = tmp_path / "bad.typ"
    source.write_text("MQ hits 44.34 % of the reads. // 1.23\n#v(0.5em)\n")
    assert numbers_of(source) == {"44.34"}


def test_fonts_are_embedded_ones():
    fonts = set(re.findall(r'font: "([^"]+)"', "".join(path.read_text() for path in PAPER.rglob("*.typ"))))
    import typst

    assert fonts and fonts <= set(typst.Fonts(include_system_fonts=False).families())
