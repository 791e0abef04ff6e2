"""Programs that come as one archive, unpacked beside it.

In: an archive in the cache of jars. Out: the folder of what is in it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import ServiceError


def unpacked(archive: Path, parts: Sequence[str] = ()) -> Path:
    """Return the folder of an archive's content; it is unpacked by the first caller.

    Args:
        archive: a file that ends with ``.tar.gz``.
        parts: folders of the archive's own folder that are needed; all by default.

    Raises:
        ServiceError: ``JAR_CACHE`` if it cannot be unpacked.
    """
    folder = archive.with_name(archive.name.removesuffix(".tar.gz"))
    if not _is_whole(folder, parts):
        sys.stderr.write(f"unpacking {archive.name}\n")
        try:
            _unpack(archive, folder, parts)
        except (OSError, EOFError, tarfile.TarError) as error:
            hint = "free space there, or name another folder in HEADWATER_JARS"
            message = f"cannot unpack {archive}: {error}"
            raise ServiceError("JAR_CACHE", message, hint=hint) from error
    return folder


def _unpack(archive: Path, folder: Path, parts: Sequence[str]) -> None:
    """Unpack beside the place, then rename: a half-unpacked folder never has the name."""
    draft = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder.parent))
    try:
        with tarfile.open(archive) as tar:
            # all of it: its files may be links to each other, and seeking in it takes minutes
            # Python before 3.11.4 has no filters; the archive was checked by its hash.
            tar.extraction_filter = getattr(tarfile, "data_filter", lambda one, _: one)
            tar.extractall(draft / "all")
        if not _is_whole(folder, parts):
            if folder.exists():
                os.rename(folder, draft / "old")
            os.rename(_only(parts, draft) if parts else draft / "all", folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _is_whole(folder: Path, parts: Sequence[str]) -> bool:
    """Whether it was unpacked, with all that is needed now."""
    return folder.exists() and all(any(folder.glob(f"*/{part}")) for part in parts)


def _only(parts: Sequence[str], draft: Path) -> Path:
    (home,) = (draft / "all").iterdir()
    for part in parts:
        kept = draft / "parts" / home.name / part
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.rename(home / part, kept)
    return draft / "parts"
