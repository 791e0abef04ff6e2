"""An object store with S3's interface: how it is reached, by Arrow and by Hadoop.

In: address, region and keys. Out: Arrow's file system, and the settings of Hadoop's. Knows neither
tables nor Spark.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from headwater.config.secrets import Secret

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

REGION = "us-east-1"
_S3A = "org.apache.hadoop.fs.s3a"
_PROVIDERS = {
    True: f"{_S3A}.SimpleAWSCredentialsProvider",
    False: "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
}
"""Who says who asks: the keys that were given, or else what AWS's own tools find."""
_PATIENCE = {
    # by default a store that is down is waited for for minutes; whoever reads tries again anyway
    "fs.s3a.attempts.maximum": "3",
    "fs.s3a.retry.limit": "3",
    "fs.s3a.connection.establish.timeout": "5s",
    # otherwise each request names the user and the job in a header, for the store's log
    "fs.s3a.audit.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A store.

    Attributes:
        endpoint: its address; None for AWS.
        region: its region.
        access_key: who asks, perhaps a reference to a secret; None for what the environment, the
            files and the machine's role say.
        secret_key: how who asks proves it, a reference to a secret.
    """

    endpoint: str | None = None
    region: str = REGION
    access_key: str | None = None
    secret_key: str | None = None

    def keys(self) -> tuple[str | None, str | None]:
        """Return access key and secret key, read now.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        return _revealed(self.access_key), _revealed(self.secret_key)

    def files(self) -> S3FileSystem:
        """Return the store as Arrow reads and writes it; nothing is asked yet.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        from pyarrow.fs import S3FileSystem

        access_key, secret_key = self.keys()
        return S3FileSystem(
            access_key=access_key,
            secret_key=secret_key,
            endpoint_override=self.endpoint,
            region=self.region,
        )

    @property
    def scheme(self) -> str:
        """The scheme of the addresses that Hadoop reads from this store and no other.

        Hadoop keeps one client for a scheme and a bucket. Under a scheme of its own a bucket of one
        name can be read from two stores, or by two users.
        """
        told = json.dumps(astuple(self))  # references to secrets, not the secrets
        return f"s3a-{hashlib.sha256(told.encode()).hexdigest()[:8]}"

    def hadoop_settings(self) -> dict[str, str]:
        """Return how Hadoop reads the addresses of :attr:`scheme`; they may hold secrets.

        Raises:
            ConfigError: ``SECRET_MISSING``.
        """
        access_key, secret_key = self.keys()
        settings = {
            f"fs.{self.scheme}.impl": f"{_S3A}.S3AFileSystem",
            "fs.s3a.endpoint.region": self.region,
            "fs.s3a.aws.credentials.provider": _PROVIDERS[access_key is not None],
            **_PATIENCE,
        }
        if self.endpoint:
            settings |= {"fs.s3a.endpoint": self.endpoint, "fs.s3a.path.style.access": "true"}
        keys = {"fs.s3a.access.key": access_key, "fs.s3a.secret.key": secret_key}
        return settings | {name: key for name, key in keys.items() if key}


def _revealed(template: str | None) -> str | None:
    return Secret(template).reveal() if template else None
