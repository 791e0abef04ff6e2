"""Checkpoints of a project whose folder has moved.

Spark's source of files knows a file by its address. After a move each file would have another one,
and would be read again. So the logs in a checkpoint get the addresses of now. Commits name what was
read by a hash of addresses; it is always taken of the addresses at the project's first place.

In: a checkpoint, and the folder of its project. Out: the same checkpoint for that folder. A crash
leaves addresses of both places; their hash is the same, and the next call goes on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from headwater.analyze.definitions import Source
from headwater.checkpoints.durable import put

PLACES_FILE = "headwater-places.json"
_HEAD = re.compile(r"(?:file:(?://)?)?(?=/)")
_QUOTED = re.compile(r"[^\w\-.!~'()*,;:$&+=/@]")
"""What Java quotes in a path; it leaves letters of all languages as they are."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that the project of a checkpoint had; lies in the checkpoint.

    Attributes:
        first: the first one; hashes are of addresses there.
        now: the one that the logs name.
        all: every one.
    """

    first: str
    now: str
    all: tuple[str, ...]

    @classmethod
    def read(cls, checkpoint: Path) -> Places | None:
        """Return the places of a checkpoint, None if it does not say them.

        Args:
            checkpoint: its folder.
        """
        try:
            fields = json.loads((checkpoint / PLACES_FILE).read_text(encoding="utf-8"))
            return cls(fields["first"], fields["now"], tuple(fields["all"]))
        except (OSError, ValueError, KeyError):
            return None

    def write(self, checkpoint: Path) -> None:
        """Write the places into a checkpoint."""
        checkpoint.mkdir(parents=True, exist_ok=True)
        put(checkpoint / PLACES_FILE, json.dumps(asdict(self)))

    def at_first(self, address: str) -> str:
        """Return the address that a file has, or would have, at the first place."""
        return _moved(address, self.all, self.first)


def paths_of(sources: Iterable[Source]) -> list[str]:
    """Return the folders of sources of files that are relative to the project's folder."""
    paths = (each.options.get("path", "") for each in sources if each.connector == "files")
    return [each for each in paths if not each.startswith(("/", "s3:"))]


def follow(checkpoint: Path, directory: Path, relative: Iterable[str]) -> None:
    """Give the logs of a checkpoint the addresses that files have now.

    Args:
        checkpoint: its folder; it may be missing.
        directory: the project's folder.
        relative: folders with files in the logs, relative to the project's; they tell where it was
            if the checkpoint does not.
    """
    # the folder of the view, with its heartbeats
    relative = (*relative, os.path.relpath(checkpoint.parent.absolute(), directory.absolute()))
    now, known = str(directory.absolute()), Places.read(checkpoint)
    logs = [file for file in (checkpoint / "sources").glob("*/*") if _is_entry(file)]
    if known is None:
        before = _before(logs, now, relative)
        known = Places(before, before, (before,))
        if before == now:
            known.write(checkpoint)
    if known.now == now:
        return
    known = replace(known, all=tuple(dict.fromkeys((*known.all, now))))
    known.write(checkpoint)
    for file in logs:
        _rewrite(file, [each for each in known.all if each != now], now)
    replace(known, now=now).write(checkpoint)


def _rewrite(file: Path, before: list[str], now: str) -> None:
    version, *lines = file.read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    moved = [{**each, "path": _moved(each["path"], before, now)} for each in entries]
    if moved != entries:
        rows = (json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in moved)
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
        put(file, "\n".join([version, *rows]))


def _is_entry(file: Path) -> bool:
    return file.name.removesuffix(".compact").isdigit()


def _before(logs: Iterable[Path], now: str, relative: Iterable[str]) -> str:
    """Where the project was when logs were written; here, if nothing in them says otherwise."""
    inside, found = f"{_quoted(now)}/", ""
    ends = [f"/{_quoted(each.strip('/').removeprefix('./'))}/" for each in relative if each]
    for file in logs:
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            path = _HEAD.sub("", json.loads(line)["path"], count=1)
            if path.startswith(inside):
                return now
            found = found or next((path[: path.find(e)] for e in ends if e in path), "")
    return unquote(found) or now


def _moved(address: str, before: Iterable[str], now: str) -> str:
    head = _HEAD.match(address)
    begin = head[0] if head else ""
    path = address[len(begin) :]
    # of folders in folders the inner one
    for folder in sorted(before, key=len, reverse=True):
        if path.startswith(f"{_quoted(folder)}/"):
            return f"{begin}{_quoted(now)}{path[len(_quoted(folder)) :]}"
    return address


def _quoted(path: str) -> str:
    return _QUOTED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), path)
