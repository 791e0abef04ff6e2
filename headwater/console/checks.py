"""``verify`` as a button: one check at a time, in a thread of its own.

In: a reading of a project and a view. Out: how far its check is, then what it found. A check reads
tables and writes nothing. DuckDB runs it, or Trino if the project names one; what only Spark can
run is left to ``headwater verify``, for the console starts no JVM.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from headwater.console.project_reader import ProjectReading
from headwater.errors import ConfigError, HeadwaterError
from headwater.serve.verify import Comparer, VerifyResult, as_failure, verify
from headwater.serve.verify_applied import judge_applied


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a view.

    Attributes:
        view: the view.
        began: when it began.
        seconds: how long it took; None while it runs.
        result: what it found.
        error: why nothing could be found.
    """

    view: str
    began: datetime
    seconds: float | None = None
    result: VerifyResult | None = None
    error: HeadwaterError | None = None


class Checks:
    """Runs checks, and remembers the last one of each view."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._last: dict[str, Check] = {}
        self._running = ""

    @property
    def busy(self) -> bool:
        """Whether a check runs."""
        return bool(self._running)

    def last(self, view: str) -> Check | None:
        """Return the running or last check of a view, None if there was none."""
        with self._changing:
            return self._last.get(view)

    def start(self, look: ProjectReading, view: str) -> Check:
        """Begin a check, unless one of this view runs already.

        Raises:
            ConfigError: ``CONSOLE_BUSY``: another view is being checked.
        """
        with self._changing:
            if self._running == view:
                return self._last[view]
            if self._running:
                message = f"view {self._running} is being checked"
                hint = "wait until that check has ended"
                raise ConfigError("CONSOLE_BUSY", message, hint=hint)
            self._running = view
            check = self._last[view] = Check(view, datetime.now(UTC))
        threading.Thread(target=self._run, args=(look, check), name="verify", daemon=True).start()
        return check

    def _run(self, look: ProjectReading, check: Check) -> None:
        began = time.monotonic()
        result, error = None, None
        try:
            result = _verified(look, check.view)
        except Exception as failed:  # whatever it is, the page says it
            error = as_failure(failed)
        done = Check(check.view, check.began, time.monotonic() - began, result, error)
        with self._changing:
            self._last[check.view], self._running = done, ""


def _verified(look: ProjectReading, view: str) -> VerifyResult:
    others: dict[str, Comparer] = {}
    if look.project.config.trino.url:
        from headwater.serve.trino.verify import compare_in_trino

        others["Trino"] = compare_in_trino
    check = partial(verify, others=others)
    found = check(look.project, look.plans, [view])
    return judge_applied(look.project, found, check)[0]
