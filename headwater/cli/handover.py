"""What commands hand to the process that runs the project: only that process may write its tables.

In: on one side a command that finds the project running, on the other side the request that the
run has heard. Out: an :class:`CommandAnswer`, which both show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from headwater.errors import EXIT_OK, HeadwaterError

if TYPE_CHECKING:
    from headwater.cli.context import Context
    from headwater.deploy.requests import Requests
    from headwater.project import Project


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What became of a command.

    Attributes:
        code: its exit code.
        columns: of its result; none if it has none.
        rows: of its result.
        notes: remarks for people.
    """

    code: int = EXIT_OK
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    notes: Sequence[str] = ()

    def show(self, context: Context) -> int:
        """Write the result and the remarks; return the exit code."""
        if self.columns:
            context.output.rows(self.columns, self.rows, null="-", below=("done",))
        for note in self.notes:
            context.output.note(note)
        return self.code


Task = Callable[["Context", "Project", Mapping[str, Any]], tuple[CommandAnswer, "Project | None"]]
"""Does what a command asks for; returns the project to run from then on, too, None for the same."""


def done_here_or_handed_over(
    context: Context, project: Project, task: Task, command: str, arguments: Mapping[str, Any]
) -> int:
    """Do what a command asks for, or let the process that runs the project do it.

    Args:
        task: does it.
        command: its name.
        arguments: what it was given, as JSON holds it.

    Returns:
        The exit code.

    Raises:
        HeadwaterError: what the task raises; ``ALREADY_RUNNING`` if a process runs the project
            that hears no requests, because it ends by itself.
    """
    try:
        answer, _ = task(context, project, arguments)
        return answer.show(context)
    except HeadwaterError as error:
        if error.condition != "ALREADY_RUNNING":
            raise
        running = error
    from headwater.deploy.requests import Request, ask, is_listened_to

    if not is_listened_to(project.config.state):
        raise running
    context.output.note("the process that runs the project does it; it shows the progress")
    said = ask(project.config.state, Request(command, arguments))
    if said is None:
        raise running
    return CommandAnswer(**said).show(context)


def answer_request(
    context: Context, requests: Requests, kept: Project, tasks: Mapping[str, Task]
) -> Project:
    """Do what a command has asked the running process for.

    Args:
        requests: what was asked.
        kept: the project as it ran.
        tasks: by the name of a command, what does it.

    Returns:
        The project to run from now on.
    """
    asked = requests.asked
    assert asked is not None
    try:
        answer, changed = tasks[asked.command](context, context.project(), asked.arguments)
    except HeadwaterError as error:
        context.output.error(error)
        answer, changed = CommandAnswer(error.exit_code, notes=[error.render()]), None
    else:
        answer.show(context)
    requests.answer(asdict(answer))
    return changed or kept
