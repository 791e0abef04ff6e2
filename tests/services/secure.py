"""A Kafka broker that lets in whom it knows only: by a certificate, or by a password over TLS."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import trustme
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from jobs.demos.servers.kafka import Kafka
from jobs.demos.servers.service import CONFIGURATION, HOST
from tests.services.topics import client

USER, PASSWORD = "reader", 'a " and a \\ in it'
"""Of SASL; the password has what a line of JAAS must quote."""
KEY_PASSWORD = "of the key"
"""With which the client's private key is encrypted."""

_LISTENERS = {
    "listeners": "TLS://${env:LISTEN}:${env:TLS_PORT},SASL://${env:LISTEN}:${env:SASL_PORT}",
    "advertised.listeners": f"TLS://{HOST}:${{env:TLS_PORT}},SASL://{HOST}:${{env:SASL_PORT}}",
    "listener.security.protocol.map": "TLS:SSL,SASL:SASL_SSL",
}
"""What its two doors add to the lists of the stack's broker."""
_JAAS = "org.apache.kafka.common.security"
_SECURITY = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": "server.pem",
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "ca.pem",
    "listener.name.tls.ssl.client.auth": "required",
    "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "listener.name.sasl.plain.sasl.jaas.config": f"{_JAAS}.plain.PlainLoginModule required"
    f' user_{USER}="a \\\\" and a \\\\\\\\ in it";',
    **{
        f"listener.name.sasl.scram-sha-{bits}.sasl.jaas.config": f"{_JAAS}.scram.ScramLoginModule"
        " required;"
        for bits in (256, 512)
    },
}


class SecureKafka(Kafka):
    """The stack's broker with two more doors, and certificates in its folder.

    ``ca.pem`` is the authority's, ``client.pem`` what a client proves itself with (its key is
    encrypted with :data:`KEY_PASSWORD`), ``stranger.pem`` an authority that nobody asked.
    """

    port_names = (*Kafka.port_names, "TLS_PORT", "SASL_PORT")

    def prepare(self) -> None:
        """Make the certificates and the configuration, then what every broker needs."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.folder / "ca.pem")
        trustme.CA().cert_pem.write_to_path(self.folder / "stranger.pem")
        _write(authority.issue_cert(HOST), self.folder / "server.pem", None)
        _write(authority.issue_cert("reader@example.org"), self.folder / "client.pem", KEY_PASSWORD)
        lines = (CONFIGURATION / self.files[0]).read_text().splitlines()
        added = [_with(line, _LISTENERS) for line in lines]
        added += [f"{name}={value}" for name, value in _SECURITY.items()]
        self._properties.write_text("\n".join(added) + "\n")
        super().prepare()

    def start(self) -> None:
        """Start it, and tell it the user's password."""
        super().start()
        admin = AdminClient(client(self))
        for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            info = ScramCredentialInfo(kind, 4096)
            told = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
            admin.alter_user_scram_credentials([told])[USER].result()

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def door(self, name: str) -> str:
        """Return the address of ``TLS`` or ``SASL``."""
        return f"{HOST}:{self.ports[f'{name}_PORT']}"


def _write(made: trustme.LeafCert, path: Path, password: str | None) -> None:
    """Write a key as PKCS #8, which is what Kafka reads, and its certificates."""
    how = ["-v1", "PBE-SHA1-3DES", "-passout", f"pass:{password}"] if password else ["-nocrypt"]
    key = subprocess.run(
        ["openssl", "pkcs8", "-topk8", *how],
        input=made.private_key_pem.bytes(), stdout=subprocess.PIPE, check=True,
    ).stdout  # fmt: skip
    path.write_bytes(key + b"".join(each.bytes() for each in made.cert_chain_pems))


def _with(line: str, more: Mapping[str, str]) -> str:
    """A line of the configuration, its list made longer."""
    name = line.split("=", 1)[0]
    return f"{line},{more[name]}" if name in more else line
