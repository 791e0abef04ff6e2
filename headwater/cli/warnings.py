"""What the parts of Headwater log, as a command shows it: a warning once, with its remedy.

In: the records of Python's logging. Out: warnings of Headwater on the error stream, as text that
people read; those of libraries nowhere, because nobody who runs a command can act on them. ``run
--debug`` writes every record as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.cli.context import Context

_OURS = "headwater"


class WarningHandler(logging.Handler):
    """Writes the warnings of Headwater; a record may have a ``hint``.

    Args:
        context: of the command; its output is asked for at each warning, as options set it.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(logging.WARNING)
        self._context = context

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        hint = getattr(record, "hint", "")
        text = f"warning: {record.getMessage()}" + (f"\n  hint: {hint}" if hint else "")
        self._context.output.warn(text)


@contextmanager
def shown_warnings(context: Context) -> Iterator[None]:
    """Send what is logged within the block to the output of a command.

    Some libraries call functions of the module ``logging``, which give the root logger a handler of
    their own if it has none. So it always has one.
    """
    root, ours = logging.getLogger(), logging.getLogger(_OURS)
    nothing, handler = logging.NullHandler(), WarningHandler(context)
    root.addHandler(nothing)
    ours.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(nothing)
        ours.removeHandler(handler)


def show_everything() -> None:
    """Write every record to the error stream, for ``--debug``."""
    _take_off()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)


def _take_off() -> None:
    """Take away the handlers of this command."""
    for logger in (logging.getLogger(), logging.getLogger(_OURS)):
        for handler in list(logger.handlers):
            if isinstance(handler, logging.NullHandler | WarningHandler):
                logger.removeHandler(handler)
