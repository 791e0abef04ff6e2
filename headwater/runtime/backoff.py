"""What a failure means, and how long to wait before the next start.

In: what a worker raised. Out: one error with a hint, and a growing pause, or none where only a
person can help.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.errors.plain import is_bug, plain, plain_text
from headwater.lake.failures import SPARK_GONE, explain_failure, gone, text_of
from headwater.runtime.session import spark_is_gone

log = logging.getLogger(__name__)

_REFUSALS = (
    *("DATATYPE_MISMATCH", "MISSING_GROUP_BY", "PARSE_SYNTAX_ERROR", "UNRESOLVED_COLUMN"),
    "UNRESOLVED_ROUTINE",
)
"""Conditions with which Spark refuses the text of a query: it will refuse it again."""
INPUT_STOPPED = "INPUT_STOPPED"
"""Condition of a view that waits for an input that stopped for good."""


@dataclass(slots=True)
class BackOff:
    """The pauses before new starts: 1, 2, 4, … seconds.

    Attributes:
        first: the first pause in seconds.
        longest: the longest pause in seconds.
        attempts: failures in a row after which it is enough; None for never.
        failures: failures in a row until now.
    """

    first: float = 1.0
    longest: float = 60.0
    attempts: int | None = None
    failures: int = field(default=0)

    def failed(self) -> float | None:
        """Count a failure; return the pause before the next start, None if it is enough."""
        self.failures += 1
        if self.attempts is not None and self.failures >= self.attempts:
            return None
        return min(self.first * 2.0 ** (self.failures - 1), self.longest)

    def worked(self) -> None:
        """Forget the failures."""
        self.failures = 0


def classify_failure(
    name: str, error: Exception, back_off: BackOff
) -> tuple[HeadwaterError, float | None]:
    """Return what a failure means, and the pause in seconds before the next start.

    Args:
        name: what failed.

    Returns:
        The pause is None if there is none: only a person can help, it is enough, or Spark is gone
        and with it everything that this process could still do.
    """
    said = as_headwater_error(name, error)
    log.info("%s: %s", name, said, exc_info=error)
    for_good = isinstance(said, TerminalError) or said.condition == SPARK_GONE
    return said, None if for_good else back_off.failed()


def as_headwater_error(name: str, error: Exception) -> HeadwaterError:
    """Return the error itself, or what it means: one line, ``SERVICE_FAILED`` if that is not known.

    Args:
        name: what failed.
    """
    if spark_is_gone():
        return gone()
    if isinstance(error, HeadwaterError):
        return error
    if known := explain_failure(error):
        return known
    hint = "this is a bug in Headwater; run with --debug and report it"
    if _is_refusal(error):
        message = f'Spark refuses the query of "{name}": {plain_text(text_of(error))}'
        return TerminalError("INTERNAL_ERROR", message, hint=hint)
    if is_bug(error):
        return ServiceError("INTERNAL_ERROR", f'"{name}" failed: {plain(error)}', hint=hint)
    return ServiceError(
        "SERVICE_FAILED",
        f'"{name}" failed: {plain_text(text_of(error))}',
        hint="try again; run with --debug for the whole error",
    )


def _is_refusal(error: Exception) -> bool:
    condition = getattr(error, "getCondition", lambda: None)()  # PySpark's errors have it
    return (condition or "").partition(".")[0] in _REFUSALS


def waits_for(name: str, stopped: HeadwaterError) -> TerminalError:
    """Return the error of a view that cannot go on, because what it reads has stopped for good.

    Args:
        name: what it reads.
        stopped: why that stopped; if it waits itself, for what it waits.
    """
    if stopped.condition == INPUT_STOPPED:
        return TerminalError(INPUT_STOPPED, stopped.message, hint=stopped.hint)
    message = f'waits for "{name}", which stopped: {stopped.condition}: {stopped.message}'
    return TerminalError(INPUT_STOPPED, message, hint=f'mend "{name}", then: headwater run')
