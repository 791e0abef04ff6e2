"""The queries of TPC-H are kept, none refused; `make tpch` runs them."""

from __future__ import annotations

from tests.spark.running import planned, refused
from tests.tpch.run import QUERIES, definitions


def test_every_query_is_kept_incrementally() -> None:
    assert len(QUERIES) == 22
    assert refused(definitions, QUERIES) == {}
    _, plans = planned(definitions(QUERIES))
    assert {plans[name].decision.engine for name in QUERIES} == {"incremental"}
