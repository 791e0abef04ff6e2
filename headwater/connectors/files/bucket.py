"""Files of a source in an object store: listed and looked at by Arrow, read by Spark.

In: an address as ``s3://bucket/folder``, and how the store is reached. Out: a :class:`Place`.

An object appears whole, and is told apart from a later one of its name by its ETag: times of
objects count seconds. Arrow's client lists (2,000 objects in 0.4 s) and asks about single ones, a
few at a time; Spark's tasks read them through Hadoop's S3A, which takes no object that was replaced
while it is read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from pyarrow.fs import FileSelector, FileType
from pyspark.sql import SparkSession

from headwater.analyze.connectors.files import split_place
from headwater.analyze.definitions import Source
from headwater.config.sections import STORE_OPTIONS
from headwater.connectors.files.place import Place, is_hidden
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ServiceError
from headwater.lake.storage.object_store import ObjectStore

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, S3FileSystem

Result = TypeVar("Result")

_AT_ONCE = 16
_PAUSE, _SHARE = 3.0, 10
"""Cache a listing for 3 s, or ten times its duration if that is longer: requests cost money."""
_BUFFER = 2**16
_NO_NAME = re.compile(r"(^|/)(\.{0,2})(/|$)")
"""In a name of an object: a part that is empty, or that paths take for another folder."""
_STORE_AT_FAULT = re.compile(
    r"(?:org\.apache\.hadoop\.(?:fs\.s3a|net)|software\.amazon\.awssdk|org\.apache\.http|java\.net"
    r"|javax\.net)\.[\w.$]*Exception|AccessDeniedException|InterruptedIOException"
)
"""What Spark's reason has in it when the store did not give an object, or not all of it."""
_CHANGED = re.compile(r"RemoteFileChangedException|PRECONDITION_FAILED|Status Code: 412")


class _Failure(NamedTuple):
    condition: str
    signs: re.Pattern[str]
    message: str
    hint: str


_FAILURES = (
    _Failure(
        "BUCKET_MISSING",
        re.compile(r"NO_SUCH_BUCKET|NoSuchBucket|UnknownStoreException|bucket does not exist"),
        "the bucket does not exist",
        "make it, or correct the option path",
    ),
    _Failure(
        "STORE_REFUSED",
        re.compile(
            r"ACCESS_DENIED|SIGNATURE_DOES_NOT_MATCH|INVALID_ACCESS_KEY_ID|UNRECOGNIZED_CLIENT"
            r"|Status Code: 40[13]|AccessDenied|NoAuthWithAWS|Unable to load credentials"
        ),
        "the object store refuses the keys",
        "check the options access_key and secret_key and the rights; without these options,"
        " [warehouse] in headwater.toml",
    ),
    _Failure(
        "STORE_DOWN",
        re.compile(
            r"NETWORK_CONNECTION|SERVICE_UNAVAILABLE|SLOW_DOWN|INTERNAL_FAILURE|REQUEST_TIMEOUT"
            r"|HTTP status 5\d\d|Status Code: 5\d\d|Exception"
        ),
        "the object store cannot be reached",
        "start it, or correct the option endpoint; without it, [warehouse] in headwater.toml:"
        " nothing that was committed is lost",
    ),
    _Failure("STORE_FAILED", re.compile(""), "the object store fails", "see the store's own log"),
)
"""The first one whose signs are in what Arrow or Spark said counts."""


def store_for(source: Source, warehouse: ObjectStore | None) -> ObjectStore:
    """Return the store that a source is read from.

    All or nothing: keys of the warehouse's store are never sent to another address.

    Args:
        warehouse: the store of the project's tables, None if they are in a folder.
    """
    given = {name: source.options[name] for name in STORE_OPTIONS if name in source.options}
    if not given:
        return warehouse or ObjectStore()
    return ObjectStore(**given)


class BucketPlace(Place):
    """A place in an object store."""

    whole = "write an object once, under a name of its own"

    def __init__(self, source: Source, store: ObjectStore) -> None:
        place = split_place(source.options["path"])
        assert place is not None, "check refuses others"
        self._bucket, folder = place
        self._folder = "/".join(filter(None, (self._bucket, folder)))
        self._source = source
        self._store = store
        self._pattern = source.options.get("pattern", "*")
        self._recursive = source.options.get("recursive", "false").lower() == "true"

    def open(self, spark: SparkSession) -> None:
        """See :meth:`Place.open`."""
        for name, value in self._store.hadoop_settings().items():
            spark.conf.set(name, value)

    def listed(self) -> Iterator[LedgerEntry]:
        """See :meth:`Place.listed`."""
        selector = FileSelector(self._folder, allow_not_found=True, recursive=self._recursive)
        found = self._asked(lambda: self._files.get_file_info(selector))
        if not found:
            self._check_nothing()
        return filter(None, map(self._entry, found))

    def pause(self, took: float) -> float:
        """See :meth:`Place.pause`."""
        return max(_PAUSE, _SHARE * took)

    def now(self, entry: LedgerEntry) -> LedgerEntry | None:
        """See :meth:`Place.now`: a listing does not say the ETag."""
        # of a name that no path can have, nothing can be asked
        return entry if _NO_NAME.search(entry.file) else self.status(entry.file)

    def status(self, file: str) -> LedgerEntry | None:
        """See :meth:`Place.status`."""
        if _NO_NAME.search(file):
            return None
        try:
            found = self._asked(lambda: self._opened(file).metadata())
        except FileNotFoundError:
            return None
        told = {name.lower(): value.decode() for name, value in found.items()}
        modified = datetime.fromisoformat(told["last-modified"])
        seconds = int(modified.timestamp())
        return LedgerEntry(
            file, int(told["content-length"]), seconds * 1_000_000, version=told.get("etag")
        )

    def gone(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """See :meth:`Place.gone`: they were asked about a moment ago, and Spark asks again."""
        return []

    def each(
        self, ask: Callable[[LedgerEntry], Result], entries: Sequence[LedgerEntry]
    ) -> list[Result]:
        """See :meth:`Place.each`."""
        if len(entries) < 2:
            return [ask(entry) for entry in entries]
        with ThreadPoolExecutor(min(_AT_ONCE, len(entries))) as pool:
            return list(pool.map(ask, entries))

    def content(self, file: str) -> IO[bytes]:
        """See :meth:`Place.content`."""
        content = _Content(self._asked(lambda: self._opened(file)), self._failed)
        return cast(IO[bytes], io.BufferedReader(content, _BUFFER))

    def check_reached(self, error: Exception) -> None:
        """See :meth:`Place.check_reached`."""
        said = f"{error}\n{getattr(error, '_stackTrace', None) or ''}"
        if _CHANGED.search(said):
            raise ServiceError(
                "FILE_CHANGED",
                f'a file of "{self._source.name}" was changed while it was read',
                hint=f"Headwater reads it again; {self.whole}",
            ) from error
        if sign := _STORE_AT_FAULT.search(said):
            end = said.find("\n", sign.start())
            raise self._failed(said, said[sign.start() : None if end < 0 else end]) from error

    def check_readable(self, entry: LedgerEntry) -> None:
        """See :meth:`Place.check_readable`."""
        if self.now(entry) is None:
            raise ServiceError(
                "FILE_GONE",
                f'file {entry.file} of "{self._source.name}" was deleted while it was read',
                hint="delete files only after they were landed; the next listing skips this one",
            )

    @property
    def address(self) -> str:
        """See :meth:`Place.address`."""
        return f"{self._store.scheme}://{self._folder}"

    @cached_property
    def _files(self) -> S3FileSystem:
        return self._store.files()

    def _entry(self, found: FileInfo) -> LedgerEntry | None:
        """The file that an entry of a listing is; None if it is not to be read."""
        name = found.path.removeprefix(f"{self._folder}/")
        folders, _, last = name.rpartition("/")
        if found.type != FileType.File or not fnmatchcase(last, self._pattern):
            return None
        if is_hidden(last) or any(map(is_hidden, filter(_is_named, folders.split("/")))):
            return None
        fault = "its name has a part that is empty, '.' or '..'" if _NO_NAME.search(name) else None
        return LedgerEntry(name, found.size, found.mtime_ns // 10**9 * 10**6, fault)

    def _opened(self, file: str) -> NativeFile:
        return self._files.open_input_file(f"{self._folder}/{file}")

    def _check_nothing(self) -> None:
        """Tell an empty folder, which nobody has to make, from a place that cannot be one."""
        # Arrow lists both without an error.
        asked = [self._bucket, self._folder]
        try:
            bucket, folder = self._asked(lambda: self._files.get_file_info(asked))
        except ServiceError as error:
            if error.condition == "STORE_REFUSED":  # it may be listed, and no more is needed
                return
            raise
        if bucket.type == FileType.NotFound:
            raise self._failed("bucket does not exist", f"s3://{self._bucket}")
        if folder.type == FileType.File:
            raise ServiceError(
                "FOLDER_NOT_READABLE",
                f'path of "{self._source.name}" is an object, not a folder: s3://{self._folder}',
                hint="write the folder that it is in, and the option pattern",
                span=self._source.span,
            )

    def _asked(self, ask: Callable[[], Result]) -> Result:
        """Return what the store answers; FileNotFoundError passes, the rest becomes ours."""
        try:
            return ask()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise self._failed(str(error), str(error)) from error

    def _failed(self, said: str, detail: str) -> ServiceError:
        """The error of a store that did not answer, or not as it should."""
        known = next(each for each in _FAILURES if each.signs.search(said))
        first = detail.splitlines()[0][:200] if detail else ""
        where = f'of "{self._source.name}" (s3://{self._folder})'
        return ServiceError(
            known.condition,
            f"{known.message} {where}: {first}",
            hint=known.hint,
            span=self._source.span,
        )


class _Content(io.RawIOBase):
    """An object's bytes; what goes wrong is told as of the store, not as of a damaged file."""

    def __init__(self, file: NativeFile, failed: Callable[[str, str], ServiceError]) -> None:
        self._file, self._failed = file, failed

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._try(lambda: self._file.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._try(self._file.tell))

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer
        found = self._try(lambda: self._file.read(len(buffer)))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _try(self, ask: Callable[[], Result]) -> Result:
        try:
            return ask()
        except OSError as error:
            raise self._failed(str(error), str(error)) from error


def _is_named(part: str) -> bool:
    return part not in ("", ".", "..")
