"""Signatures of messages by the convention of Standard Webhooks.

In: a secret, a message and a time. Out: the headers by which the receiver knows who sent it, when,
and whether it has it already. See "Standard Webhooks", version 1.0.0: the signature is HMAC-SHA256
of ``id.timestamp.body``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

_PREFIX = "whsec_"
_LENGTHS = range(16, 65)


def signing_key(secret: str) -> bytes:
    """Return the key that a secret ``whsec_…`` stands for.

    Raises:
        ValueError: it is not such a secret.
    """
    text = secret.strip()
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not text.startswith(_PREFIX) or len(key) not in _LENGTHS:
        raise ValueError("not whsec_ and 16 to 64 bytes in base64")
    return key


def signed_headers(
    key: bytes | None, message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """Return the headers that identify a message, signed if there is a key.

    Args:
        key: of :func:`signing_key`.
        message_id: the same each time that the message is sent.
        timestamp: when it is sent this time, seconds since 1970 UTC.
        body: the body as it is sent.
    """
    headers = {
        "Idempotency-Key": message_id,
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
    }
    if key is not None:
        signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{base64.b64encode(digest).decode()}"
    return headers
