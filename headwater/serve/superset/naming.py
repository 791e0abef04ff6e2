"""Names of what is pushed: titles for people, uuids and slugs that are the same at every push.

In: the namespace of a project, a kind of object and its name. Out: texts.
"""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

_ROOT = uuid5(NAMESPACE_URL, "headwater")
"""Of all uuids that are made here; it must never change, or a push would make everything twice."""


def uuid_of(namespace: str, kind: str, name: str) -> str:
    """Return the uuid of an object.

    Args:
        kind: ``database``, ``dataset``, ``chart`` or ``dashboard``.
        name: among the objects of its kind.
    """
    return str(uuid5(_ROOT, f"{namespace}/{kind}/{name}"))


def title_of(name: str) -> str:
    """Return an identifier as a title: ``revenue_per_minute`` becomes ``Revenue per minute``.

    Args:
        name: an identifier.
    """
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def slug_of(namespace: str, pipeline: bool = False) -> str:
    """Return the last part of a dashboard's address.

    Args:
        pipeline: whether it is the dashboard of the pipeline.
    """
    return f"headwater-{namespace}" + ("-pipeline" if pipeline else "")
