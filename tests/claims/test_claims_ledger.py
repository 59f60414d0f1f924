"""Reading the ledger: what is refused, and how the message names it; the language of the formulas."""

import ast
import copy
import math
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from misspenalty.claims import load_ledger, phrases
from misspenalty.claims.formula import FormulaError, UntestableError, Vector, align, compile_formula, constant, evaluate
from misspenalty.claims.layout import TABLES
from misspenalty.errors import InputError

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "data" / "published" / "claims.yaml"
SCHEMA = LEDGER.with_name("claims.schema.yaml")
ENTRIES = yaml.load(LEDGER.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))

GOOD = {
    "id": "mq.one", "study": "mq", "source": "Table 4", "statement": "A statement.", "kind": "ratio",
    "published": 2.0, "needs": "mq_table4", "status": "stated", "role": "result",
    "read": {"column": "hit_ratio_pct", "where": {"cache_mb": 128}, "formula": "mq / lru"},
}  # fmt: skip


def load(tmp_path, *entries):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(list(entries), sort_keys=False))
    return load_ledger(path, SCHEMA)


def changed(**keys):
    return {key: value for key, value in (GOOD | keys).items() if value is not None}


def with_read(**keys):
    return changed(read={key: value for key, value in (GOOD["read"] | keys).items() if value is not None})


def test_schemas_are_valid_and_closed():
    for path in (SCHEMA, ROOT / "data" / "calibration.schema.yaml"):
        schema = yaml.safe_load(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["items"]["additionalProperties"] is False
        data = yaml.safe_load(path.with_name(path.name.replace(".schema", "")).read_text())
        jsonschema.Draft202012Validator(schema).validate(data)


def test_the_ledger_is_whole():
    ledger = load_ledger(LEDGER)
    assert len(ledger) == 367
    assert len({claim.id for claim in ledger}) == 367
    assert sum(claim.reading is None for claim in ledger) == 20
    assert sum(claim.role == "setup" for claim in ledger) == 18
    assert sum(claim.tie for claim in ledger) == 5
    assert sum(claim.tolerance is not None for claim in ledger) == 10
    for claim in ledger:
        assert claim.id.startswith(f"{claim.study}.")
        assert ".txt" not in claim.source


def test_a_good_entry_loads(tmp_path):
    (claim,) = load(tmp_path, GOOD)
    assert (claim.id, claim.published, claim.reading.where) == ("mq.one", 2.0, {"cache_mb": 128})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed(colour="red"), r"entry mq\.one: .*'colour' was unexpected"),
        (with_read(colour="red"), r"entry mq\.one, read: .*'colour' was unexpected"),
        (changed(kind="guess"), r"entry mq\.one, kind: 'guess' is not one of"),
        (changed(statement=None), r"entry mq\.one: 'statement' is a required property"),
        (changed(published="two"), r"entry mq\.one, published: 'two' is not of type 'number'"),
        (changed(tolerance={"relative": 0.1, "absolute": 1}), r"entry mq\.one, tolerance"),
        (changed(tolerance={"relative": -0.1}), r"entry mq\.one, tolerance\.relative"),
        (changed(kind="bound", published={"op": "~", "limit": 1}), r"entry mq\.one, published\.op"),
        (changed(kind="bound", published={"op": "in", "limit": 1}), r"entry mq\.one, published\.limit"),
        (changed(id="mq one"), r"entry mq one, id"),
        (changed(needs="none"), r"claim mq\.one needs none but has a read"),
        (changed(read=None), r"claim mq\.one needs mq_table4 but has no read"),
        (changed(needs="mq_table9"), r"claim mq\.one: needs 'mq_table9', which is no result table"),
        (with_read(column="hits"), r"claim mq\.one: 'hits' is not a column of mq_table4"),
        (with_read(where={"size": 128}), r"claim mq\.one: 'size' is not a key of mq_table4"),
        (with_read(where={"cache_mb": "big"}), r"claim mq\.one: 'big' is not a member of cache_mb"),
        (with_read(where={"policy": "lrru"}), r"claim mq\.one: 'lrru' is not a member of policy"),
        (with_read(formula="mq / lrru"), r"claim mq\.one: 'lrru' is neither a column of mq_table4 nor a member"),
        (with_read(formula="mq / lru@"), r"claim mq\.one: formula 'mq / lru@' is neither arithmetic nor a known"),
        (with_read(formula="the ratio of the two"), r"claim mq\.one: formula .* nor a known wording"),
        (with_read(formula="mq ** lru"), r"claim mq\.one: .* neither arithmetic nor a known function"),
        (with_read(formula="median(mq)"), r"claim mq\.one: .* neither arithmetic nor a known function"),
        (with_read(formula="abs(mq, lru)"), r"claim mq\.one: abs takes one argument"),
        (with_read(formula="hac_fig99.us"), r"claim mq\.one: 'hac_fig99.us' names no result table"),
        (with_read(formula="mq@fetch"), r"claim mq\.one: 'fetch' is not a member of a key of mq_table4"),
        (with_read(formula="at(mq, size=3)"), r"claim mq\.one: 'size' is not a key of mq_table4"),
        (with_read(formula="mq < lru"), r"claim mq\.one: the formula of a ratio has to give a number"),
        (with_read(formula="__import__('os').getcwd()"), r"claim mq\.one"),
        (with_read(formula="().__class__"), r"claim mq\.one"),
        (with_read(formula="(lambda: 1)()"), r"claim mq\.one"),
        (with_read(formula="'a' * 9"), r"claim mq\.one"),
        (with_read(formula="(" * 300 + "mq" + ")" * 300), r"claim mq\.one"),
        (changed(kind="ordering", published=[["lru"], ["mq"]]), r"claim mq\.one: an ordering needs `by`"),
        (changed(kind="trend", published="increasing"), r"claim mq\.one: a trend needs `along`"),
        (changed(kind="equivalence", published=["a", "b"]), r"claim mq\.one: an equivalence needs `pairs`"),
        (
            changed(kind="ordering", published=[["lru"], ["mq"]], read={"column": "hit_ratio_pct", "by": "size"}),
            r"claim mq\.one: 'size' is not a key",
        ),
        (
            changed(kind="ordering", published=[["lru"], ["qm"]], read={"column": "hit_ratio_pct", "by": "policy"}),
            r"claim mq\.one: 'qm' is not a member of policy",
        ),
        (
            changed(kind="trend", published="increasing", read={"column": "hit_ratio_pct", "along": "size"}),
            r"claim mq\.one: along 'size'",
        ),
        (
            changed(
                kind="ordering",
                published=[["lru"], ["mq"]],
                read={"column": "hit_ratio_pct", "by": "policy", "test": "arc lowest"},
            ),
            r"claim mq\.one: test 'arc lowest' names a member that is not among",
        ),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, entry, message):
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path, entry)
    assert "claims.yaml" in str(caught.value)


def test_an_id_may_not_stand_twice_and_the_line_is_named(tmp_path):
    with pytest.raises(InputError, match=r"claims\.yaml, line 15: claim mq\.one stands twice"):
        load(tmp_path, GOOD, copy.deepcopy(GOOD))


def test_a_file_that_is_not_there_or_not_yaml_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        load_ledger(tmp_path / "nowhere.yaml", SCHEMA)
    broken = tmp_path / "claims.yaml"
    broken.write_text("- id: [1\n- 2")
    with pytest.raises(InputError, match=r"claims\.yaml, line \d: not YAML"):
        load_ledger(broken, SCHEMA)
    broken.write_text("id: mq.one\n")
    with pytest.raises(InputError, match=r"entry list: .* is not of type 'array'"):
        load_ledger(broken, SCHEMA)


def test_every_wording_is_used_and_compiles():
    """A wording that no entry has is dead; one that does not compile would surface only with a new entry."""
    used = {(e["needs"], e["read"].get("formula")) for e in ENTRIES if "read" in e}
    used |= {("test", e["read"].get("test")) for e in ENTRIES if "read" in e}
    used |= {("along", e["read"].get("along")) for e in ENTRIES if "read" in e}
    for table, wordings in phrases.FORMULAS.items():
        for text, meaning in wordings.items():
            assert (table, text) in used
            expressions = meaning if isinstance(meaning, dict) else {"expr": meaning}
            if "expr" in expressions:
                compile_formula(expressions["expr"], table, TABLES[table].values[0])
    assert all(("test", text) in used for text in phrases.TESTS)
    assert all(("along", text) in used for text in phrases.ALONG)


ARITHMETIC = st.recursive(
    st.integers(1, 50).map(str) | st.sampled_from(["2.5", "0.1"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=12,
)


@given(ARITHMETIC)
def test_arithmetic_is_that_of_python(text):
    tree = compile_formula(text, "mq_table4", "hit_ratio_pct")
    assert evaluate(tree, None).data[()] == pytest.approx(_by_hand(ast.parse(text, mode="eval").body), rel=1e-12)


def _by_hand(node):
    if isinstance(node, ast.Constant):
        return node.value
    left, right = _by_hand(node.left), _by_hand(node.right)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case _:
            return left * right


@given(st.text(max_size=30) | st.text("mqlru0159.e/*+-()@<=, ", max_size=12))
@example("1/0")
@example("1e999")
@example("9" * 400 + " + mq")
@example("1e300*1e300")
def test_any_text_compiles_or_is_refused(text):
    try:
        value = evaluate(compile_formula(text, "mq_table4", "hit_ratio_pct"), lambda atom: constant(1.0))
    except (FormulaError, UntestableError):
        return
    assert all(math.isfinite(x) for x in value.data.values())


@pytest.mark.parametrize(
    ("text", "value"),
    [("lru@256/lru@128", 4.0), ("-mq", -3.0), ("min(mq, lru)", 2.0), ("abs(lru - mq)", 1.0), ("100*(mq/lru - 1)", 50.0),
     ("mq@512 + 1", 10.0), ("max(mq, lru@256)", 8.0)],
)  # fmt: skip
def test_names_and_rows(text, value):
    cells = {"mq": 3.0, "lru": 2.0, ("lru", 256): 8.0, ("lru", 128): 2.0, ("mq", 512): 9.0}

    def lookup(atom):
        members = dict(atom.members)
        place = members["policy"] if len(members) == 1 else (members["policy"], members["cache_mb"])
        return constant(cells[place])

    tree = compile_formula(text, "mq_table4", "hit_ratio_pct")
    assert evaluate(tree, lookup).data[()] == pytest.approx(value)


def test_vectors_line_up_by_key():
    loads = Vector(("load",), {(1,): 10.0, (2,): 20.0}, own=True)
    fewer = Vector(("load",), {(1,): 1.0}, own=True)
    foreign = Vector(("load",), {(2,): 200.0, (1,): 100.0, (3,): 300.0})
    grid = Vector(("policy", "load"), {("mq", 1): 1.0, ("mq", 2): 2.0}, own=True)
    assert align(loads, constant(5.0)) == (("load",), [((1,), [10.0, 5.0]), ((2,), [20.0, 5.0])])
    assert align(loads, foreign)[1] == [((1,), [10.0, 100.0]), ((2,), [20.0, 200.0])]
    assert align(foreign, loads)[1] == [((1,), [100.0, 10.0]), ((2,), [200.0, 20.0])]
    assert align(grid, loads)[1] == [(("mq", 1), [1.0, 10.0]), (("mq", 2), [2.0, 20.0])]
    for pair in ((loads, fewer), (fewer, loads)):
        with pytest.raises(UntestableError, match="no row for load 2"):
            align(*pair)
    with pytest.raises(UntestableError, match="cannot be lined up"):
        align(grid, Vector(("size",), {(1,): 1.0}))
