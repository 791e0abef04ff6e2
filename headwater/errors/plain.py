"""What an exception of another library says, in words of the user's world.

In: an exception of Python, or the text of one of Java. Out: one line that says what happened. Names
of classes, stacks, and advice that only helps who runs Spark by hand are left out.
"""

from __future__ import annotations

import re

from headwater.errors import HeadwaterError

UNSAID = "no reason is known"
_BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, StopIteration)
"""Exceptions whose text means something to a programmer only; ``TypeError`` is one as well."""
_CLASS = r"(?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*(?:Exception|Error|Invalid)"
_PREFIX = re.compile(
    rf"^(?:(?:Caused by|Exception in thread \S+)?:? *)?\(?(?:{_CLASS})(?::\s*|\) |$)"
)
_WITHIN = re.compile(rf"(?<![\"'`\w./-]){_CLASS}(?::\s+|(?=[\s.,;)]|$))")
_DOTTED = re.compile(r"\b(?:[a-z_][\w$]*\.){2,}((?:[A-Z][\w$]*)(?:[.$#][\w$]+)*)(?:@[0-9a-f]+)?")
_NOISE = re.compile(
    r"^(?:An error occurred while calling|at [\w.$<>/]+\(|JVM stacktrace|Traceback \("
    r"|File \".*\", line|Driver stacktrace|Py4JJavaError|\.{3} \d+ more|== )"
)
_GENERIC = re.compile(
    r"^(?:Job aborted|Writing job aborted|\[STREAM_FAILED\]|\[WRITING_JOB_ABORTED\]"
    r"|Query .* terminated|Exception thrown in awaitResult|Lost task|Failed to execute)"
)
_TASK = re.compile(r"^.*(?:most recent failure: Lost task|Lost task) [^:]*?\(TID[^)]*\)[^:]*: ")
_ADVICE = re.compile(
    r"\s*(?:Use `try_|If necessary,? set|To return NULL instead|Please use|You may |You can set"
    r"|To disable|Set the|For more details see|You might|Consider setting).*$"
)
_OBJECT = re.compile(r"<(?:class '[^'>]*'|[\w.]+ object at 0x[0-9a-f]+)>")
_OF_A_BUG = re.compile(r"NoneType|' object (?:has no attribute|is not|does not support)")
_STATE = re.compile(r"\s*(?:SQLSTATE: \w{5}|\(SQLState[^)]*\)|\[errno -?\d+\])", re.IGNORECASE)


def plain(error: BaseException) -> str:
    """Return what an exception says, as one line without names of Python and Java."""
    if isinstance(error, HeadwaterError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        place = f' "{error.filename}"' if error.filename else ""
        return f"{error.strerror.lower()}{place}"
    if is_bug(error):
        return "an internal error"
    return plain_text(str(error))


def is_bug(error: BaseException) -> bool:
    """Return whether an exception says that Headwater itself is wrong."""
    bugs = (*_BUGS, TypeError)
    return isinstance(error, bugs) and type(error).__module__ == "builtins"


def plain_text(text: str) -> str:
    """Return the line of a text that says most, without names of Python and Java.

    Args:
        text: what an exception says, with its causes and the stacks of Java.
    """
    lines = [_without_prefix(line.strip()) for line in _OBJECT.sub("", text).splitlines()]
    telling = [line for line in lines if line and not _NOISE.match(line)]
    said = next((line for line in telling if not _GENERIC.match(line)), "")
    said = said or next(iter(telling), "")
    if _OF_A_BUG.search(said):
        return "an internal error"
    said = _ADVICE.sub("", _STATE.sub("", said))
    said = _DOTTED.sub(lambda found: re.split(r"[.$#]", found[1])[0], _WITHIN.sub("", said))
    return said.strip(" .:;") or UNSAID


def _without_prefix(line: str) -> str:
    line = _TASK.sub("", line)
    while (shorter := _PREFIX.sub("", line)) != line:
        line = shorter
    return line
