"""The strict language of the ledger's formulas: arithmetic on the cells of result tables, never executed as Python.

A name is a column of the claim's table, or a member of one of its keys (``mq``, ``fetch``), which means the claim's
column in that member's row. ``name@member`` picks a row, ``at(expression, key=member)`` too; ``table.name`` reads
another table. ``column`` is the claim's column, ``components`` the parts of a whole. ``+ - * /``, comparisons,
``and``/``or`` and the functions of `FUNCTIONS` are all there is. What is left open by the row filter is not an
ambiguity but a range: the value is then a `Vector` over the open keys, lined up by key in every operation.
"""

import ast
import math
import operator
import re
from dataclasses import dataclass, field, replace

from misspenalty.claims.layout import TABLES

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_AT = re.compile(r'([A-Za-z_][\w.]*)((?:@(?:[A-Za-z_]\w*|\d+(?:\.\d+)?|"[^"]*"))+)')
CLOSE = 1e-9  # numbers that agree to nine digits are equal: sums of printed decimals are not exact in binary


class FormulaError(Exception):
    """A formula that cannot be read; the ledger turns it into an `InputError` that names the claim."""


class UntestableError(Exception):
    """A row, column or table that a formula needs is not there."""


@dataclass(frozen=True)
class Atom:
    """A column of a table in the rows of some members; `parts`: in the rows of all parts of the whole."""

    table: str
    column: str
    members: tuple = ()  # (key, member) pairs
    parts: bool = False


@dataclass(frozen=True)
class Vector:
    """Values over the points of the open keys."""

    keys: tuple  # names of the open keys
    data: dict  # point (a tuple in the order of `keys`) -> value
    own: bool = False  # read from the claim's own table, whose points decide what is compared
    inner: frozenset = field(default_factory=frozenset)  # keys an aggregate runs over

    def over(self, point_keys, point):
        """Value at `point`, given in the order of `point_keys`."""
        here = tuple(point[point_keys.index(key)] for key in self.keys)
        if here not in self.data:
            raise UntestableError("no row for " + ", ".join(f"{k} {p}" for k, p in zip(self.keys, here, strict=True)))
        return self.data[here]


def constant(value):
    """A number as a `Vector` without open keys."""
    return Vector((), {(): value})


def is_close(a, b):
    """Whether two numbers agree to nine digits."""
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def compare(op, a, b):
    """Compare two numbers; those that agree to nine digits are equal."""
    if op in ("==", "!="):
        return is_close(a, b) == (op == "==")
    if is_close(a, b):
        return op in ("<=", ">=")
    return a < b if op in ("<", "<=") else a > b


def align(*vectors):
    """Line vectors up: ``(keys, [(point, values), ...])`` over the points of the widest one.

    Raises
    ------
    UntestableError
        A point of one vector has no counterpart in another.
    """
    wide = max(vectors, key=lambda v: (len(v.keys), v.own))
    for vector in vectors:
        if not set(vector.keys) <= set(wide.keys):
            raise UntestableError(f"{', '.join(vector.keys)} and {', '.join(wide.keys)} cannot be lined up")
        # within one table a row missing on either side counts; another table may hold more rows than are asked for
        if len(vector.keys) == len(wide.keys) and vector.own == wide.own:
            for point in vector.data:
                wide.over(vector.keys, point)
    rows = [(point, [v.over(wide.keys, point) for v in vectors]) for point in wide.data]
    return wide.keys, rows


def _combine(function, *vectors):
    keys, rows = align(*vectors)
    inner = frozenset().union(*(v.inner for v in vectors))
    own = any(v.own for v in vectors)
    return Vector(keys, {point: function(*values) for point, values in rows}, own, inner)


def _finite(function):
    """The function, with a result that is a number or an `UntestableError`."""

    def call(a, b):
        try:
            result = function(a, b)
        except ZeroDivisionError as error:
            raise UntestableError("the formula divides by zero") from error
        if not math.isfinite(result):
            raise UntestableError("the formula overflows")
        return result

    return call


def _reduce(function, vector):
    """Apply `function` to the values over the inner keys (over all keys where the table names none)."""
    kept = [i for i, key in enumerate(vector.keys) if vector.inner and key not in vector.inner]
    groups = {}
    for point, value in vector.data.items():
        groups.setdefault(tuple(point[i] for i in kept), []).append(value)
    keys = tuple(vector.keys[i] for i in kept)
    return Vector(keys, {point: function(values) for point, values in groups.items()}, vector.own, vector.inner)


def _extreme(function):
    def call(*vectors):
        if len(vectors) == 1:
            return _reduce(function, vectors[0])
        return _combine(lambda *values: function(values), *vectors)

    return call


def _total(values):
    try:
        return math.fsum(values)
    except OverflowError as error:
        raise UntestableError("the formula overflows") from error


def _steps(*vectors):
    data = {(i, *point): value for i, v in enumerate(vectors) for point, value in v.data.items()}
    return Vector(("step", *vectors[0].keys), data, vectors[0].own, vectors[0].inner)


FUNCTIONS = {
    "min": _extreme(min),
    "max": _extreme(max),
    "abs": lambda v: _combine(abs, v),
    "sum": lambda v: _reduce(_total, v),
    "count": lambda v: _reduce(sum, v),
    "all": lambda v: _reduce(all, v),
    "fraction": lambda v: constant(sum(v.data.values()) / len(v.data)),
    "steps": _steps,
}
_ARITY = {"min": None, "max": None, "steps": None}  # the rest take one argument
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def compile_formula(text, table, column):
    """Parse a formula into a tree of tuples; every name is checked against the layout of its table.

    Raises
    ------
    FormulaError
        Something other than arithmetic, or a name that no table has.
    """
    marked = _AT.sub(lambda m: f"at({m[1]}, {', '.join(m[2][1:].split('@'))})", text)
    try:
        body = ast.parse(marked.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormulaError(f"formula {text!r} is neither arithmetic nor a known wording") from error
    return _compile(body, table, column, text)


def _compile(node, table, column, text):
    def below(child):
        return _compile(child, table, column, text)

    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return ("number", _float(value))
        case ast.Name() | ast.Attribute():
            return ("atom", _resolve(node, table, column))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ("arithmetic", operator.sub, ("number", 0), below(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return ("arithmetic", _OPERATORS[type(op)], below(left), below(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return ("compare", _COMPARISONS[type(op)], below(left), below(right))
        case ast.BoolOp(op=op, values=values):
            return ("and" if isinstance(op, ast.And) else "or", *(below(value) for value in values))
        case ast.Call(func=ast.Name(id="at"), args=[first, *members], keywords=keywords):
            return _at(below(first), [_literal(m) for m in members], {k.arg: _literal(k.value) for k in keywords})
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS and args:
            if name not in _ARITY and len(args) != 1:
                raise FormulaError(f"{name} takes one argument in {text!r}")
            return ("call", FUNCTIONS[name], *(below(arg) for arg in args))
    raise FormulaError(f"formula {text!r} holds something that is neither arithmetic nor a known function")


def _float(value):
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise FormulaError("a number is too large")
    return number


def _literal(node):
    """A member: a bare name, a number or a quoted name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
    raise FormulaError("a member is a name, a number or a quoted name")


def _resolve(node, table, column):
    if isinstance(node, ast.Attribute):
        if not isinstance(node.value, ast.Name) or node.value.id not in TABLES:
            raise FormulaError(f"{ast.unparse(node)!r} names no result table")
        table, name = node.value.id, node.attr
        column = TABLES[table].values[0]
    else:
        name = node.id
    layout = TABLES[table]
    if name == "column":
        return Atom(table, column)
    if name == "components" and layout.parts:
        return Atom(table, column, parts=True)
    if name in layout.keys or name in layout.values or name in layout.optional:
        return Atom(table, name)
    key = layout.key_of(name)
    if key is None:
        raise FormulaError(f"{name!r} is neither a column of {table} nor a member of one of its keys")
    return Atom(table, column, ((key, name),))


def _at(tree, members, keyed):
    def narrow(atom):
        layout = TABLES[atom.table]
        pairs = dict(atom.members)
        for member in members:
            key = layout.key_of(member)
            if key is None:
                raise FormulaError(f"{member!r} is not a member of a key of {atom.table}")
            pairs[key] = member
        for key in keyed:
            if key not in layout.keys:
                raise FormulaError(f"{key!r} is not a key of {atom.table}")
        return replace(atom, members=tuple((pairs | keyed).items()))

    return substitute(tree, narrow)


def substitute(tree, function):
    """The tree with every atom replaced by ``function(atom)``."""
    if tree[0] == "atom":
        return ("atom", function(tree[1]))
    return tuple(substitute(part, function) if isinstance(part, tuple) else part for part in tree)


def atoms(tree):
    """Atoms of a tree, in the order of reading."""
    if tree[0] == "atom":
        return [tree[1]]
    return [atom for part in tree if isinstance(part, tuple) for atom in atoms(part)]


def calls(tree, *names):
    """Whether a tree uses one of the named functions."""
    here = tree[0] == "call" and any(tree[1] is FUNCTIONS[name] for name in names)
    return here or any(calls(part, *names) for part in tree if isinstance(part, tuple))


def evaluate(tree, lookup):
    """Value of a tree as a `Vector`; `lookup` turns an `Atom` into one."""
    match tree:
        case ("number", value):
            return constant(value)
        case ("atom", atom):
            return lookup(atom)
        case ("arithmetic", function, left, right):
            return _combine(_finite(function), evaluate(left, lookup), evaluate(right, lookup))
        case ("compare", op, left, right):
            return _combine(lambda a, b: compare(op, a, b), evaluate(left, lookup), evaluate(right, lookup))
        case ("call", function, *arguments):
            return function(*(evaluate(argument, lookup) for argument in arguments))
        case (word, *parts):
            joined = all if word == "and" else any
            return _combine(lambda *values: joined(values), *(evaluate(part, lookup) for part in parts))
