"""The prompt of ``headwater sql``: history, completion, statements over several lines.

In: what a person types. Out: the results of its statements. Only this module imports
prompt_toolkit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.shortcuts import CompleteStyle

from headwater.cli.shell.completion import Words
from headwater.cli.shell.statements import QueryEngine, run_statement
from headwater.dialect.splitter import cut
from headwater.errors import EXIT_OK, HeadwaterError

if TYPE_CHECKING:
    from headwater.cli.output import Output

PROMPT, GOES_ON = "sql> ", "...> "
LEAVE = (r"\q", "quit", "exit")
HELP = """\
A statement ends with ; and may have several lines.
  SELECT …                  rows of tables, views and side tables
  SHOW TABLES [LIKE 'a%']   tables and views; also VIEWS, SOURCES, SINKS,
                            FUNCTIONS and SCHEMAS
  DESCRIBE name             columns of a table or view
  SHOW CREATE name          the statement that defines a table or view
  EXPLAIN SELECT …          how the engine runs a query
  information_schema        the relations tables, columns, views, schemata
Tab completes keywords, tables, columns and functions.
The arrow keys go through the history.
Ctrl-C stops a query or drops the text. Ctrl-D, quit, exit and \\q leave."""
_HELP = ("help", r"\?", r"\h")
_COMMANDS: Mapping[str, str] = {
    **dict.fromkeys((r"\d", r"\dt", ".tables", r"\dt+"), "SHOW TABLES"),
    r"\dv": "SHOW VIEWS",
    r"\df": "SHOW FUNCTIONS",
}
"""What other shells call it."""


def run_shell(
    engine: Callable[[], tuple[QueryEngine, Words]], output: Output, greeting: str
) -> int:
    """Read statements from the terminal and run them until the person leaves.

    Args:
        engine: gives where they run and what completes them, before each one.
        output: where results and errors go.
        greeting: the first line.
    """
    session: PromptSession[str] = PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=lambda width, number, wrapped: GOES_ON,
        key_bindings=_keys(),
        history=_history(),
        completer=_Completer(lambda: engine()[1]),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
        reserve_space_for_menu=0,
        enable_open_in_editor=True,
        output=create_output(always_prefer_tty=True),
    )
    output.note(greeting)
    while True:
        typed = False
        try:
            text = session.prompt()
            typed = True
            if _carried_out(text, engine, output):
                return EXIT_OK
        except KeyboardInterrupt:
            if typed:
                output.note("stopped")
        except EOFError:
            return EXIT_OK


def _carried_out(
    text: str, engine: Callable[[], tuple[QueryEngine, Words]], output: Output
) -> bool:
    """Do what a text says; return whether it says to leave."""
    word = text.strip().rstrip(";").strip().lower()
    if word in LEAVE:
        return True
    if word in _HELP:
        output.note(HELP)
        return False
    statements, rest = cut(_COMMANDS.get(word, text))
    for statement in [*statements, *([rest] if rest.strip() else [])]:
        try:
            run_statement(engine()[0], statement, output, counted=True)
        except HeadwaterError as error:
            output.error(error)
            break
    return False


class _Completer(Completer):
    def __init__(self, words: Callable[[], Words]) -> None:
        self._words = words

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        word, fitting = self._words().fitting(document.text_before_cursor)
        for each in fitting:
            yield Completion(each, start_position=-len(word))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        """End a statement that is whole; otherwise go on in the next line."""
        buffer = event.current_buffer
        if is_whole(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


def is_whole(text: str) -> bool:
    """Return whether a text can be run: a command, nothing, or statements that all end."""
    word = text.strip().lower()
    return not word or word in (*LEAVE, *_HELP, *_COMMANDS) or not cut(text)[1].strip()


def _history() -> History:
    """What was typed in earlier shells; only of this one if there is no folder to keep it in."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    file = Path(base).expanduser() / "headwater" / "sql_history"
    with suppress(OSError, RuntimeError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        if os.access(file, os.R_OK | os.W_OK):
            return FileHistory(file)
    return InMemoryHistory()
