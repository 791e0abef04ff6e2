"""The object store: objects are there after a SIGKILL, also large ones."""

from __future__ import annotations

import pytest
from pyarrow.fs import S3FileSystem

from jobs.demos.servers.store import ACCESS_KEY, SECRET_KEY, Store

pytestmark = pytest.mark.services


def client(store: Store, secret: str = SECRET_KEY) -> S3FileSystem:
    return S3FileSystem(
        access_key=ACCESS_KEY, secret_key=secret, endpoint_override=store.address,
        region="us-east-1", allow_bucket_creation=True,
    )  # fmt: skip


def test_objects_survive_a_kill(store: Store) -> None:
    large = bytes(range(256)) * 50_000  # 12.8 MB: sent in parts
    files = client(store)
    files.create_dir("lake")
    for name, content in (("lake/a/small", b"x"), ("lake/a/large", large)):
        with files.open_output_stream(name) as sink:
            sink.write(content)
    store.kill()
    store.start()
    with client(store).open_input_stream("lake/a/large") as source:
        assert source.read() == large


def test_a_wrong_key_is_refused(store: Store) -> None:
    with pytest.raises(OSError, match="ACCESS_DENIED|SIGNATURE_DOES_NOT_MATCH|403"):
        client(store, "wrong").create_dir("other")
