"""What made a streaming query fail, as one of our errors.

In: the exception of a batch or of Spark. Out: the error to raise.
"""

from __future__ import annotations

import re

from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.errors.plain import UNSAID, plain
from headwater.lake.failures import bad_row, explain_failure

_STATE_DAMAGED = re.compile(
    r"CANNOT_LOAD_STATE_STORE|CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED|Stream is corrupted"
    r"|STATE_STORE_(?:(?:KEY|VALUE)_\w+|UNEXPECTED_EMPTY_FILE_IN_ROCKSDB_ZIP)"
)
"""What Spark says when it cannot read the state of a query, however often it tries."""
_DATA_LOSS = re.compile(
    r"Some data may have been (?:lost|missed)(?s:.*?Reason:\s*(?P<what>[^\n]*))?"
)
"""What Spark says when records that a batch is to have are not in Kafka any more."""


def failed(view: str, error: BaseException | None, *, may_fail: bool = False) -> HeadwaterError:
    """Return our own error, what a known failure means, or ``QUERY_FAILED`` in Spark's words.

    Args:
        error: what the batch raised or, if it was none of ours, what Spark says of its query.
        may_fail: whether the view is defined with ON ERROR FAIL.
    """
    if isinstance(error, HeadwaterError):
        return error
    if error is not None and (known := explain_failure(error)):
        return known
    if sign := _STATE_DAMAGED.search(f"{error}\n{getattr(error, '_stackTrace', '')}"):
        damaged = TerminalError(
            "STATE_DAMAGED",
            f'the state of view "{view}" cannot be read: {sign[0]}',
            hint=f"run `headwater doctor {view}`, which says whether the view can be rebuilt",
        )
        damaged.__cause__ = error
        return damaged
    if sign := _DATA_LOSS.search(str(error)):
        what = sign["what"] or _first_line(error)
        return TerminalError(
            "DATA_LOSS",
            f'Kafka deleted records before view "{view}" read them: {what}',
            hint="retain records longer (retention.ms) than the project may stand still; to begin "
            "with the remaining records, define a view of another name",
        )
    if bad := bad_row(view, error, may_fail=may_fail):
        return bad
    found = ServiceError(
        "QUERY_FAILED",
        f'the streaming query of view "{view}" failed: {_first_line(error)}',
        hint="Headwater restarts it; if it fails repeatedly, run with --debug for the whole error",
    )
    found.__cause__ = error
    return found


def _first_line(error: BaseException | None) -> str:
    """The first line of what an error says, or of what caused it where Spark only wraps it."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, BaseException) and str(cause).strip():
        return _first_line(cause)
    return UNSAID if error is None else plain(error)
