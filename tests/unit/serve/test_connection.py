"""What a query in the embedded engine may take."""

from __future__ import annotations

import pytest

from headwater.serve.connection import QueryLimits, duckdb_connection, limited


def test_a_query_may_hold_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    def limit() -> str:
        with duckdb_connection() as connection:
            return str(connection.execute("SELECT current_setting('memory_limit')").fetchone())

    monkeypatch.setattr("headwater.serve.connection.available_memory", lambda: 16 * 2**30)
    assert "8.0 GiB" in limit()
    monkeypatch.setattr("headwater.serve.connection.available_memory", lambda: 2**30)
    assert "1.8 GiB" in limit()
    with limited(QueryLimits(memory="100MB")):
        assert "95.3 MiB" in limit()
