"""Test the workflow: unknown keys are refused, rules are complete, and a copy of the tree runs on a small capture."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small import RAW, RUN, copy_tree, digests, small_config, small_tree

from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.reporting.jobs import caption_of, function_of
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflow"
RULES = sorted((*(WORKFLOW / "rules").glob("*.smk"), *ROOT.glob("studies/*/rules.smk")))
KINDS = ("tables", "figures")
FORCED = ("kvcache", "mq", "vlog")  # studies whose jobs are all made again in the second run
# Only the site or a user requests these.
ON_REQUEST = {"study_readings", "fetch_trace", "trace_tables", "trace_page", "all_traces"}


def snakemake(folder, *arguments, hash_seed="0", keep="no"):
    command = [sys.executable, "-m", "snakemake", *arguments]
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "MISSPENALTY_KEEP": keep}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=2400
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Return a copy of the tree with a small configuration, for runs."""
    return small_tree(tmp_path_factory.mktemp("tree"))


def read_rules():
    """Map the name of every rule in the rule files to whether it inherits from another rule, and to its text."""
    text = "\n".join(path.read_text() for path in RULES)
    parts = re.split(r"^((?:use )?rule [^\n]*):\n", text, flags=re.MULTILINE)[1:]
    rules = {}
    for head, body in zip(parts[::2], parts[1::2], strict=True):
        name = re.match(r"(?:use rule \w+ as |rule )(\w+)", head)[1]
        rules[name] = (head.startswith("use"), re.split(r"^\S", body, flags=re.MULTILINE)[0])
    return rules


def simulations():
    """Return the names of the simulations that the studies declare, even if their input files are missing, and of the
    tables about claims."""
    text = "\n".join(path.read_text() for path in RULES)
    return set(re.findall(r'^(?:plan\.s|    S)imulation\(\s*"(\w+)"', text, re.MULTILINE))


def grouped_rules():
    """Return the names of the rules that a loop over the studies makes for the target `all`."""
    return {f"{study}_{kind}" for study in studies() for kind in KINDS} - {"whatif_tables"}  # they are all kept tables


def jobs_of(done):
    """Return the number of jobs of each rule that a successful run had or, if it was a dry run, would have."""
    assert done.returncode == 0, done.stdout + done.stderr
    counted = re.findall(r"^(\w+) +(\d+)$", done.stdout + done.stderr, re.MULTILINE)
    return {rule: int(number) for rule, number in counted}


def planned_rules(folder, *targets, keep="no"):
    """Return the number of jobs of each rule that a run in a folder would have."""
    return jobs_of(snakemake(folder, "--dry-run", "--quiet", "rules", "--", *targets, keep=keep))


def sections(body):
    return {name: text for name, text in re.findall(r"^    (\w+):((?:\n        .*|\n(?=\n|$))+)", body, re.MULTILINE)}


# --- form


def test_lint_finds_nothing():
    done = snakemake(ROOT, "--lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakefmt_changes_nothing():
    command = [Path(sys.executable).with_name("snakefmt"), "--check", "Snakefile", "workflow", "studies"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(read_rules()))
def test_rule_is_complete(name):
    inherits, body = read_rules()[name]
    parts = sections(body)
    assert {"output", "log"} <= set(parts)
    assert "input" in parts or "/runs/" in parts["output"]  # an archived table without an input would pass for finished
    if not name.endswith("manifest"):  # a manifest, which reads all benchmarks, could not read its own
        assert "benchmark" in parts
    if not inherits:
        assert {"params", "conda", "script"} <= set(parts)
    if "params" in parts:
        assert re.search(r"code=(CODE\.digest|judging)\(|job=job\(", parts["params"])
    for part in {"input", "output"} & set(parts):
        items = [line.strip() for line in parts[part].splitlines() if re.match(r"        \S", line)]
        named = re.compile(r"\w+=|\*\*[A-Z_]+,|unpack\(\w+\),|\)|\]")
        assert all(map(named.match, items)), f"an {part} has no name"
    assert "lambda" not in body


def test_rules_have_no_reference_logs_or_benchmarks():
    texts = [sections(body) for _, body in read_rules().values()]
    for part in ("log", "benchmark"):
        paths = [text[part] for text in texts if part in text]
        assert len(paths) == len(set(paths))


@pytest.mark.parametrize("script", ["claims.py", "conditions.py", "readings.py"])
def test_rules_that_judge_depend_on_the_code_of_the_claims(script):
    """These rules must depend on the claims: the judge imports a study's claims by a computed name, which the digest of
    its own code cannot follow."""
    bodies = [body for _, body in read_rules().values() if f"scripts/{script}" in body]
    texts = bodies or [path.read_text() for path in RULES if f"../scripts/{script}" in path.read_text()]
    assert len(texts) == 1 and "code=judging(" in texts[0]


def test_the_page_of_a_trace_depends_on_its_template():
    """The rule must depend on the template explicitly, because the digest of its code includes no Typst files."""
    assert '.with_name("page.typ")' in sections(read_rules()["trace_page"][1])["params"]


def test_every_script_and_caption_is_used():
    rules = "\n".join(path.read_text() for path in RULES)
    outside = (ROOT / "Makefile").read_text() + (WORKFLOW / "Snakefile").read_text()
    for folder in ("scripts", "report"):
        files = [path.name for path in (WORKFLOW / folder).iterdir() if path.is_file()]
        assert files
        for name in files:
            assert f"{folder}/{name}" in rules + outside


def functions():
    """Return the dotted names of the functions that the rule files name; a figure's is ``<study>.figures.<name>``."""
    named = r'\b(?:job\(CODE, |table\(|function=|simulation\(\s*"\w+",)\s*"([\w.]+)"'
    found = {name for file in RULES for name in re.findall(named, file.read_text())}
    for file in RULES:
        for name, rest in re.findall(r'^plan\.figure\(\s*"(\w+)",(.*?)\)$', file.read_text(), re.MULTILINE | re.DOTALL):
            if "function=" not in rest:
                found.add(f"{file.parent.name}.figures.{name}")
    return sorted(found)


@pytest.mark.parametrize("name", functions())
def test_rules_name_functions_that_exist_and_figures_have_captions(name):
    full = name if "misspenalty" in name else f"misspenalty_studies.{name}"
    assert callable(function_of(full))
    if ".figures." in name:
        caption = caption_of(full)
        assert caption.endswith(".") and "Parameters" not in caption


def test_top_snakefile_names_the_default_target():
    """Without the second statement an included workflow says "Nothing to be done" and makes nothing."""
    statements = [line for line in (ROOT / "Snakefile").read_text().splitlines() if line]
    assert statements == ['include: "workflow/Snakefile"', 'workflow.default_target = "all"']


# --- configuration


def test_impossible_configuration_stops_the_run(tmp_path):
    """`test_configuration.py` tests the other messages."""
    (tmp_path / "mine.yaml").write_text("mq: {cahce_mb: [128]}\n")
    done = snakemake(ROOT, "--dry-run", "--configfile", str(tmp_path / "mine.yaml"))
    assert done.returncode != 0
    assert "mine.yaml: mq.cahce_mb: unknown key, did you mean 'cache_mb'?" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_table_of_traces_that_does_not_exist_stops_the_run(tmp_path):
    done = snakemake(ROOT, "--dry-run", "--config", f"traces={tmp_path / 'none.tsv'}")
    assert done.returncode != 0
    assert re.search(r"none\.tsv: cannot be read .*expected a table of traces", done.stdout + done.stderr)


def test_a_trace_named_as_a_rule_stops_the_run(tmp_path):
    (tmp_path / "mine.tsv").write_text("name\tsource\nsupplement\tmine.lis\n")
    done = snakemake(ROOT, "--dry-run", "--config", f"traces={tmp_path / 'mine.tsv'}")
    assert done.returncode != 0
    assert "row supplement, column name: the workflow already has a rule with this name" in done.stdout + done.stderr


def test_whole_archived_run_can_be_planned(tmp_path):
    folder = copy_tree(tmp_path)
    (folder / "data" / "raw").symlink_to(ROOT / "data" / "raw")
    planned = planned_rules(folder, "supplement")
    assert set(planned) >= {*read_rules(), *simulations(), *grouped_rules(), "supplement"} - ON_REQUEST


# --- the run


@pytest.fixture(scope="module")
def jobs(tree):
    """Make `all` and then the rest of `supplement`; return the number of jobs of each rule in both runs."""
    return [jobs_of(snakemake(tree, *RUN, target)) for target in ("all", "supplement")]


@pytest.fixture(scope="module")
def first_run(tree, jobs):
    return digests(tree)


@pytest.fixture(scope="module")
def summary(tree, first_run):
    """Return what Snakemake says about each file after the run, by column."""
    done = snakemake(tree, "--detailed-summary", "--", "supplement")
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_supplement_makes_only_what_all_leaves_out(jobs):
    main, rest = map(set, jobs)
    assert main >= grouped_rules() | {"claims", "missing_facts", "paper", "manifest", "mq_first_figures"}
    assert rest >= {
        "sarc_sensitivity",
        "sarc_scale",
        "sarc_prefetchers",
        "sarc_run",
        "hac_sensitivity",
        "supplement_pdf",
    }
    assert rest.isdisjoint({"claims", "claims_calibrated", "paper", *(f"{study}_conditions" for study in STUDIES)})
    assert not {rule for rule in main if "_further_" in rule}


def test_run_makes_every_file_and_a_second_one_would_make_none(tree, first_run, summary):
    assert {row["output_file"] for row in summary} >= set(first_run)
    assert {(row["status"], row["plan"]) for row in summary} == {("ok", "no update")}
    assert all((tree / row["output_file"]).exists() for row in summary)


def read_manifests(tree):
    return [json.loads((tree / "results" / f"manifest{part}.json").read_text()) for part in ("", "_supplement")]


def test_manifests_describe_the_outputs(tree, first_run):
    manifest, supplement = read_manifests(tree)
    assert set(manifest["outputs"]).isdisjoint(supplement["outputs"])
    described = {name: entry["sha256"] for name, entry in (manifest["outputs"] | supplement["outputs"]).items()}
    final = {name: digest for name, digest in first_run.items() if name in described}
    assert final == {name: described[name] for name in final}
    assert {"results/mq/table4.csv", "results/mq/table4.svg", "results/claims.csv"} <= set(manifest["outputs"])
    assert {"results/supplement.pdf", "results/sarc/scale.csv", "results/epcm/today.svg"} <= set(supplement["outputs"])
    assert RAW in manifest["inputs"]
    assert manifest["config"] == supplement["config"] == small_config()
    assert manifest["jobs"]["mq_tables"]["wall_s"] > 0
    assert {"sarc_scale", "supplement_pdf"} <= set(supplement["jobs"]) - set(manifest["jobs"])


def test_manifest_names_everything_that_was_read(tree, summary):
    inputs = {name for row in summary for name in row["input-file(s)"].split(",") if name.strip("-")}
    manifest, supplement = read_manifests(tree)
    read = {name for name in inputs if not name.startswith("results/")}
    assert read >= {RAW, "data/calibration.yaml", "paper/paper.typ"}
    assert read - set(manifest["inputs"]) - set(supplement["inputs"]) == set()


def test_a_run_that_keeps_its_own_tables_has_nothing_to_do(tree, first_run):
    done = snakemake(tree, "--dry-run", "supplement", keep="yes")
    assert done.returncode == 0 and "Nothing to be done" in done.stdout + done.stderr
    line = r"^Kept: archived tables .*, of classics, .*whatif\. MISSPENALTY_KEEP=no makes them again\.$"
    assert re.search(line, done.stdout + done.stderr, re.MULTILINE)


def test_a_wrong_switch_is_refused(tree):
    done = snakemake(tree, "--dry-run", keep="nein")
    assert done.returncode != 0
    assert "MISSPENALTY_KEEP=nein: give yes (keep archived tables that fit) or no" in done.stdout + done.stderr


def test_report_is_one_self_contained_page(tree, first_run):
    done = snakemake(tree, "--report", "results/report.html")
    assert done.returncode == 0, done.stderr
    page = (tree / "results" / "report.html").read_text()
    assert "Multi-Queue (USENIX 2001)" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?https?:", page)


def test_a_folder_with_braces_is_refused(tmp_path):
    """The message must name the braces; Snakemake alone would take them for a wildcard and end with a traceback."""
    done = snakemake(copy_tree(tmp_path / "{x}" / "tree"), "--dry-run")
    assert done.returncode != 0
    assert "Snakemake takes braces in a path for a wildcard; move the checkout" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(("name", "target"), [("{x}", "reproduce"), ("a{", "supplement"), ("}", "smoke")])
def test_make_refuses_a_folder_with_braces_before_it_builds(tmp_path, name, target):
    folder = tmp_path / name
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    done = subprocess.run(["make", target], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{name}: Snakemake takes braces in a path for a wildcard; move the checkout" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["Makefile"]
    assert subprocess.run(["make", "help"], cwd=folder, capture_output=True, check=False).returncode == 0


def test_package_built_from_other_sources_is_refused(tree, first_run):
    source = tree / "studies" / "mq" / "runs.py"
    before = source.read_text()
    try:
        source.write_text(before + "\n# edited\n")
        done = snakemake(tree, "--dry-run")
    finally:
        source.write_text(before)
    assert done.returncode != 0
    assert "make build" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def clone(tree, first_run, tmp_path_factory):
    """Return a clone of the tree after its run: it has the archived results, but no record of how they were made."""
    folder = copy_tree(tmp_path_factory.mktemp("clone"))
    shutil.copytree(tree / "data", folder / "data", dirs_exist_ok=True)
    shutil.copy(tree / "config" / "config.yaml", folder / "config")
    shutil.copytree(tree / "results", folder / "results", dirs_exist_ok=True)
    names = [path.relative_to(folder).as_posix() for path in (folder / "results").rglob("*") if path.is_file()]
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input="\n".join(names),
        capture_output=True,
        text=True,
        check=False,
    )
    if ignored.returncode == 128:
        pytest.skip("not a git checkout")
    for name in ignored.stdout.splitlines():
        (folder / name).unlink()
    shutil.rmtree(folder / "results" / "traces")
    for second, path in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        os.utime(path, (second, second))  # git writes a clone in the order of the names
    assert {"results/mq/table4.csv", "results/claims.csv"} <= set(digests(folder))
    return folder


def test_fresh_clone_recomputes_everything(clone):
    """None of the archived results may be mistaken for finished work."""
    planned = planned_rules(clone, "supplement")
    assert set(planned) >= {*read_rules(), *simulations(), *grouped_rules(), "supplement"} - ON_REQUEST


def kept_rules():
    """Return the names of the rules that make tables which `all` may keep."""
    judged = {f"{study}_conditions" for study in STUDIES}
    return judged | {"epcm_kept_tables", "vlog_kept_tables", "whatif_kept_tables", "vlog_under_conditions", "kept"}


def test_fresh_clone_keeps_the_tables_that_fit(clone):
    index = json.loads((clone / "results" / "index.json").read_text())
    planned = planned_rules(clone, "all", keep="")
    assert kept_rules() <= {entry["rule"] for entry in index["made"].values()}
    assert not kept_rules() & set(planned)
    assert set(planned) - {"all", "total"} == {*index["reproduced"], "manifest"}


@pytest.mark.parametrize(
    ("name", "added", "studies"),
    [
        ("studies/vlog/machine.yaml", b"# edited\n", ("vlog", "whatif")),  # the what-if reads vlog's results
        ("studies/kvcache/ledger.yaml", b"# edited\n", ("kvcache",)),
        ("studies/sarc/inputs.smk", b"# edited\n", ("sarc", "whatif")),
        ("workflow/scripts/simulate.py", b"# edited\n", tuple(studies())),
        ("requirements.lock", b"# edited\n", tuple(studies())),
        ("results/mq/conditions.csv", b"mq.x,y,1,reproduced,direction\n", ("mq",)),
        ("results/kept.csv", b"\xff", tuple(studies())),
    ],
)
def test_fresh_clone_makes_tables_again_that_do_not_fit(clone, name, added, studies):
    path = clone / name
    before = path.read_bytes()
    try:
        path.write_bytes(before + added)
        planned = planned_rules(clone, "all", keep="")
    finally:
        path.write_bytes(before)
    again = {rule for rule in kept_rules() if rule.startswith(tuple(f"{study}_" for study in studies))}
    assert kept_rules() & set(planned) == again | {"kept"}


def test_forced_run_gives_the_same_bytes(tree, first_run, summary):
    """In this run, strings hash differently, so that sets have another order.

    It makes every kind of file again: everything of the studies in `FORCED`, the tables of all studies, and what is
    made from all studies (claims, papers, overview and index). The other studies' simulations and figures stay.
    """
    others = tuple(f"{study}_" for study in studies() if study not in FORCED)
    rules = {row["rule"] for row in summary} | {"supplement"}
    forced = {rule for rule in rules if not rule.startswith(others) or rule.endswith("_tables")}
    done = snakemake(tree, "--forceall", "--allowed-rules", *sorted(forced), *RUN, "supplement", hash_seed="1")
    assert set(jobs_of(done)) - {"total"} == forced
    assert forced >= {"claims", "compile_trace", "index", "mq_conditions", "overview", "paper", "supplement_pdf"}
    assert digests(tree) == first_run
