"""Running statements one after the other: an error ends one of them, not the rest.

In: statements and an engine. Out: their results on the output, and the exit code of it all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cli.output import Output, Row
from headwater.errors import EXIT_NO, EXIT_OK, HeadwaterError
from headwater.errors.words import count

if TYPE_CHECKING:
    from headwater.serve.embedded import Result

_AGAIN = 0.05
"""Seconds between two looks at a query, and between two requests to stop it."""
_START = 1.0
"""Seconds after which a thread that has not begun was never started: Ctrl-C came before it."""


@dataclass(frozen=True, slots=True)
class QueryEngine:
    """Where queries run.

    Attributes:
        query: runs one statement; its rows can be read until the block ends.
        interrupt: stops it from another thread; None if Ctrl-C stops the thread that waits for it.
    """

    query: Callable[[str], AbstractContextManager[Result]]
    interrupt: Callable[[], None] | None = None


def run_statement(engine: QueryEngine, text: str, output: Output, *, counted: bool = False) -> int:
    """Run one statement and write its rows.

    Args:
        engine: where it runs.
        text: one statement, without a semicolon.
        output: where the rows go.
        counted: whether a note says how many rows there are, and how long they took.

    Returns:
        The exit code.

    Raises:
        HeadwaterError: the statement or the lake is wrong.
        KeyboardInterrupt: Ctrl-C stopped it.
    """

    def work() -> int:
        began, seen = time.monotonic(), 0

        def passed(rows: Iterator[Row]) -> Iterator[Row]:
            nonlocal seen
            for seen, row in enumerate(rows, 1):  # noqa: B007 - read after the loop
                yield row

        with engine.query(text) as result:
            output.rows(result.columns, passed(result.rows))
            for name, reason in result.unread.items():
                output.note(f'left out: "{name}": {reason}')
            if counted:
                seconds = time.monotonic() - began
                output.note(f"({count(seen, 'row')}, {seconds:.1f} s)")
            return EXIT_NO if result.unread else EXIT_OK

    return work() if engine.interrupt is None else _interruptible(work, engine.interrupt)


def run_all(engine: QueryEngine, texts: list[str], output: Output) -> int:
    """Run statements in order, also after one that fails.

    Returns:
        The exit code of the first that is not well.
    """
    code = EXIT_OK
    for text in texts:
        try:
            found = run_statement(engine, text, output)
        except HeadwaterError as error:
            output.error(error)
            found = error.exit_code
        code = code or found
    return code


def _interruptible(work: Callable[[], int], interrupt: Callable[[], None]) -> int:
    """Do work in a thread, for DuckDB hears of no Ctrl-C; end it before Ctrl-C is raised here."""
    found: list[int] = []
    failed: list[BaseException] = []
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    try:
        # CPython 3.11 takes a thread for dead if Ctrl-C interrupts join(): hence the events
        threading.Thread(target=run, name="query", daemon=True).start()
        while not ended.wait(_AGAIN):
            pass
    except KeyboardInterrupt:
        while begun.wait(_START) and not ended.wait(_AGAIN):
            interrupt()
        raise
    if failed:
        raise failed[0]
    return found[0]
