"""The last digit of a decimal, as SQL of any engine."""

from __future__ import annotations

_DIGITS_OF_DOUBLE = 15


def unit(scale: int) -> str:
    """Return one unit of the last of so many digits after the point."""
    if scale > _DIGITS_OF_DOUBLE:  # which DuckDB 2.0 would round
        return f"CAST('0.{1:0{scale}}' AS DECIMAL({scale}, {scale}))"
    return f"CAST(1e-{scale} AS DECIMAL({max(scale, 1)}, {scale}))"
