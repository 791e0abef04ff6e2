"""Drift: which columns may differ when they are computed again, and where one decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.algebra.properties.drift import drifting
from headwater.analyze.project import bind
from headwater.dialect import parse

GOLDEN = Path(__file__).parents[2] / "golden" / "plan"
TABLES = """
CREATE TABLE t (id BIGINT, k VARCHAR, x BIGINT, d DOUBLE, xs ARRAY(DOUBLE))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
"""
SUMS = "(SELECT k, sum(d) AS s, count(*) AS n FROM t GROUP BY k) AS q"
RANKS = "(SELECT k, sum(d) OVER (PARTITION BY k ORDER BY id) AS s FROM t) AS q"

CASES = [
    ("SELECT k, count(*) AS n, max(d) AS m, sum(x) AS x FROM t GROUP BY k", []),
    ("SELECT k, sum(d) AS s, avg(d) AS a FROM t GROUP BY k", ["s", "a"]),
    ("SELECT k, approx_distinct(x) AS n FROM t GROUP BY k", ["n"]),
    ("SELECT k, sum(d) OVER (PARTITION BY k ORDER BY id) AS s FROM t", ["s"]),
    ("SELECT k, rank() OVER (PARTITION BY k ORDER BY d) AS r FROM t", []),
    (f"SELECT k, s + 1 AS more, n FROM {SUMS}", ["more"]),
    (f"SELECT k, s FROM {SUMS} WHERE n > 1", ["s"]),
    (f"SELECT k FROM {SUMS} WHERE s > 1", None),
    (f"SELECT s, count(*) AS c FROM {SUMS} GROUP BY s", None),
    (f"SELECT n, max(s) AS m FROM {SUMS} GROUP BY n", ["m"]),
    (f"SELECT k, rank() OVER (PARTITION BY n ORDER BY s) AS r FROM {SUMS}", None),
    (f"SELECT k, s FROM {RANKS} ORDER BY s LIMIT 3", None),
    (f"SELECT q.k FROM {SUMS} JOIN t ON t.d = q.s", None),
    (f"SELECT t.id, q.s FROM {SUMS} JOIN t ON t.k = q.k", ["s"]),
    (f"SELECT s FROM {SUMS} EXCEPT SELECT d FROM t", None),
    (f"SELECT s FROM {SUMS} UNION ALL SELECT d FROM t", ["s"]),
    (f"SELECT q.k, u.e FROM {SUMS} CROSS JOIN UNNEST(ARRAY[q.s]) AS u (e)", None),
]


@pytest.mark.parametrize(("select", "expected"), CASES)
def test_the_columns_that_drift(select: str, expected: list[str] | None) -> None:
    tree = bind({"v.sql": parse(f"{TABLES}CREATE STREAMING VIEW v AS {select};")}).views["v"].tree
    found = drifting(tree.root)
    assert (found if found is None else [n for n, own in tree.labels if own in found]) == expected


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.sql")), ids=lambda p: p.stem)
def test_every_view_of_the_goldens_is_asked(path: Path) -> None:
    files = {each.name: each.read_text() for each in (GOLDEN / "tables.sql", path)}
    for view in bind({name: parse(text, file=name) for name, text in files.items()}).views.values():
        drifting(view.tree.root)
