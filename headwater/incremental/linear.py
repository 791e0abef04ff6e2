"""Rule 1 and full recomputation: programs whose rows are written as they come.

In: a program and its registered inputs. Out: a function that writes to a staging branch.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.plan.program import FullProgram, LinearProgram


def linear_writer(session: SparkSession, program: LinearProgram) -> Callable[[str], None]:
    """Return the function that appends the change of a view.

    Args:
        session: where the changes are registered.
        program: the query over the changes.
    """
    return lambda target: session.sql(program.sql).writeTo(target).append()


def full_writer(session: SparkSession, program: FullProgram) -> Callable[[str], None]:
    """Return the function that replaces all rows of a view.

    Args:
        session: where the inputs are registered.
        program: the query over the whole inputs.
    """
    return lambda target: session.sql(program.sql).writeTo(target).overwrite(F.lit(True))
