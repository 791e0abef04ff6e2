"""``headwater functions`` knows what the binder accepts, whatever a person calls it."""

from __future__ import annotations

import pytest
from sqlglot import exp

from headwater.analyze.inference.catalogue import find, instead, refused
from headwater.analyze.inference.window_functions import WINDOW_FUNCTIONS
from headwater.analyze.project import bind
from headwater.analyze.typing.functions import FUNCTIONS, names
from headwater.analyze.typing.functions.elsewhere import ELSEWHERE
from headwater.dialect import parse, parse_all
from headwater.dialect.parser import Headwater
from headwater.errors import ErrorGroup, HeadwaterError

TABLES = """
CREATE TABLE {} (product VARCHAR, price DECIMAL(10, 2), pieces INTEGER, returned BOOLEAN,
  sold_at TIMESTAMP, WATERMARK FOR sold_at AS sold_at - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'x') FORMAT PLAIN ENCODE JSON;
"""
TABLE = "\n".join(map(TABLES.format, ("sales", "other")))
ENTRIES = find("")
_TYPED = {exp.If, exp.Case, exp.Cast, exp.TryCast, exp.Mod, exp.Array, exp.Struct, exp.Explode}
ARGUMENTS = ("", "x", "x, y", "'a', x, y")


def errors(view: str) -> list[HeadwaterError]:
    try:
        bind({"t.sql": parse(TABLE), "v.sql": parse(view)})
    except ErrorGroup as group:
        return list(group.errors)
    except HeadwaterError as error:
        return [error]
    return []


def query(example: str) -> str:
    if example.startswith("FROM "):
        return f"SELECT count(*) AS x {example}"
    if example.startswith("WHERE "):
        return f"SELECT s.product FROM sales AS s {example}"
    return f"SELECT {example} AS x FROM sales"


def node_of(name: str) -> set[type[exp.Expr]]:
    """What the parser makes of calls of a name."""
    found = set()
    for arguments in ARGUMENTS:
        statements, _ = parse_all(f"SELECT {name}({arguments})")
        if statements and isinstance(statements[0], exp.Select):
            found.add(type(statements[0].selects[0].unalias()))
    return found


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda each: each.name)
def test_every_example_is_accepted(entry: object) -> None:
    assert entry.examples  # type: ignore[attr-defined]
    for example, _ in entry.examples:  # type: ignore[attr-defined]
        assert errors(f"CREATE STREAMING VIEW v AS {query(example)}") == []


def test_what_is_accepted_is_found_and_nothing_is_said_to_be_of_other_systems() -> None:
    """Whatever the parser knows by name and a type is inferred of."""
    functions = (
        {name.lower() for name in Headwater.Parser.FUNCTIONS} | set(ELSEWHERE) | set(names())
    )
    lost = []
    for name in sorted(each for each in functions if each.isidentifier()):
        nodes = node_of(name)
        typed = {node for node in nodes if node in (*FUNCTIONS, *WINDOW_FUNCTIONS, exp.Median)}
        if not (typed or nodes & _TYPED):
            continue
        found = find(name)
        if len(found) != 1 and not any(name in (each.name, *each.aliases) for each in found):
            lost.append(name)
        if instead(name) or refused(name):
            lost.append(f"{name} is said to be of other systems")
    assert lost == []


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("median", "median"),
        ("percentile", "percentile_cont"),
        ("percentile_disc", "percentile_disc"),
        ("CAST", "cast"),
        ("case", "case"),
        ("interval", "interval"),
        ("extract", "extract"),
        ("substring", "substr"),
        ("array_length", "cardinality"),
        ("iif", "if"),
        ("string_agg", "listagg"),
        ("tumble", "tumble"),
        ("%", "mod"),
    ],
)
def test_a_name_is_found_however_it_is_written(name: str, entry: str) -> None:
    assert [each.name for each in find(name)] == [entry]
    assert instead(name) == ""


@pytest.mark.parametrize("name", ["now", "current_date", "rand", "uuid"])
def test_what_is_refused_says_why(name: str) -> None:
    assert refused(name)
