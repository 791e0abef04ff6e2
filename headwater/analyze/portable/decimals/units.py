"""The last digit of a decimal, as SQL of any engine."""

from __future__ import annotations


def unit(scale: int) -> str:
    """Return one unit of the last of so many digits after the point."""
    return f"CAST(1e-{scale} AS DECIMAL({max(scale, 1)}, {scale}))"
