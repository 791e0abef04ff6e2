"""Files of a source in a folder of this machine, or in one that all machines of a cluster see.

In: a folder. Out: a :class:`Place`.

A folder may hold what is no file, or what nobody can read. Such an entry has a fault from the
beginning: it goes to the quarantine by its name, and the files beside it land.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO

from pyspark.sql.streaming.readwriter import DataStreamReader

from headwater.analyze.definitions import Source
from headwater.connectors.files.known_files import LOCAL_FILES
from headwater.connectors.files.place import FileFault, Place, is_hidden
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ServiceError

_OF_THE_ENTRY = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
"""What is wrong with one entry of a folder, and not with its disk or network."""
_UNNAMED = "./"
"""Stands before a name that is shown otherwise than it is; no name in a listing begins so."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


PATTERN_CHARACTERS = frozenset("[]{}*?\\")
"""Characters by which Spark takes a path for a pattern."""


def stream_of(
    reader: DataStreamReader, folder: Path, most: object = None
) -> tuple[DataStreamReader, str]:
    """Return a reader of a folder as a stream, and the path to give it.

    Spark 4.1.3 takes the folder for a pattern, and repeats the files of a batch as often as the
    batch has names with such characters (apache/spark#57769): one file is never repeated.

    Args:
        most: how many files a batch takes at most; None if files may be repeated.
    """
    path = "".join(f"\\{each}" if each in PATTERN_CHARACTERS else each for each in str(folder))
    if most is not None:
        most = 1 if path != str(folder) else most
        # by default a file a week older than the newest one is skipped without a word
        reader = reader.option("maxFilesPerTrigger", str(most)).option("maxFileAge", "36500d")
    return reader.options(**LOCAL_FILES), path


def local_address(folder: Path) -> str:
    """Return Hadoop's address of a folder; see :meth:`Place.address`."""
    return f"file:{folder}"


class FolderPlace(Place):
    """A folder of files."""

    whole = "write files under a hidden name, and rename them when they are whole"

    def __init__(self, source: Source, folder: Path) -> None:
        self.folder = folder
        self._source = source
        self._pattern = source.options.get("pattern", "*")
        self._recursive = source.options.get("recursive", "false").lower() == "true"

    @property
    def address(self) -> str:
        """See :meth:`Place.address`."""
        return local_address(self.folder)

    def listed(self) -> Iterator[LedgerEntry]:
        """See :meth:`Place.listed`."""
        folders: list[tuple[str, tuple[tuple[int, int], ...]]] = [("", ())]
        while folders:
            below, around = folders.pop()
            try:
                here = os.stat(self._path(below))
                found = list(os.scandir(self._path(below)))
            except OSError as error:
                if not below or error.errno not in (*_OF_THE_ENTRY, errno.ENOENT):
                    raise self._no_folder(below, error) from error
                if error.errno != errno.ENOENT:  # otherwise it was taken away meanwhile
                    yield _faulty(below[:-1], str(error.strerror))
                continue
            within = (*around, (here.st_dev, here.st_ino))
            if within[-1] in around:
                yield _faulty(below[:-1], "the folder is a link to one that it is in")
                continue
            for item in found:
                if is_hidden(item.name):
                    continue
                file, is_folder = f"{below}{item.name}", _is_folder(item)
                if not (self._recursive if is_folder else fnmatchcase(item.name, self._pattern)):
                    continue
                if not _is_text(file):
                    yield _faulty(_UNNAMED + _shown(file), "the name is not UTF-8")
                elif is_folder:
                    folders.append((f"{file}/", within))
                elif entry := self.status(file):
                    yield entry

    def status(self, file: str) -> LedgerEntry | None:
        """See :meth:`Place.status`."""
        if file.startswith(_UNNAMED):
            return None
        try:
            found = os.stat(self._path(file))
        except (FileNotFoundError, NotADirectoryError):
            if os.path.islink(self._path(file)):
                return _faulty(file, "a link to a file that does not exist")
            return None
        except OSError as error:
            return _faulty(file, self._why_unreadable(file, error))
        if stat.S_ISREG(found.st_mode):
            return LedgerEntry(file, found.st_size, found.st_mtime_ns // 1000)
        return _faulty(file, next(kind for is_kind, kind in _KINDS if is_kind(found.st_mode)))

    def now(self, entry: LedgerEntry) -> LedgerEntry | None:
        """See :meth:`Place.now`; what a listing finds fault with is not looked at again."""
        return entry if entry.fault and not entry.modified else self.status(entry.file)

    def content(self, file: str) -> IO[bytes]:
        """See :meth:`Place.content`."""
        return open(self._path(file), "rb")  # noqa: SIM115 - the caller closes it

    def check_readable(self, entry: LedgerEntry) -> None:
        """See :meth:`Place.check_readable`."""
        try:
            with self.content(entry.file) as file:
                file.read(1)
        except OSError as error:
            raise FileFault(
                f"unreadable file: {self._why_unreadable(entry.file, error)}"
            ) from error

    def _path(self, file: str) -> str:
        return f"{self.folder}/{file}"

    def _why_unreadable(self, file: str, error: OSError) -> str:
        """Return what is wrong with a file; a disk or network that fails raises an error."""
        if error.errno in _OF_THE_ENTRY:
            return str(error.strerror)
        raise ServiceError(
            "FILE_NOT_READABLE",
            f'file {file} of "{self._source.name}" cannot be read: {error.strerror}',
            hint="check the disk or the network of the folder; Headwater tries again",
        ) from error

    def _no_folder(self, below: str, error: OSError) -> ServiceError:
        return ServiceError(
            "FOLDER_NOT_READABLE",
            f'folder "{self.folder / below}" of "{self._source.name}" cannot be read: '
            f"{error.strerror}",
            hint="create it, or change the option path",
            span=self._source.span,
        )


def _faulty(file: str, why: str) -> LedgerEntry:
    return LedgerEntry(file, 0, 0, f"unreadable file: {why}")


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:  # a link that cannot be followed
        return False


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    """Return a name that is not UTF-8 as text, another one for every name."""
    plain = os.fsencode(name).replace(b"\\", b"\\\\")
    return plain.decode(errors="backslashreplace")
