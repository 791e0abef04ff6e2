"""Options of Kafka clients that several systems pass on, by their names in Kafka."""

from __future__ import annotations

from headwater.importing.contract import NO_MEANING, Option, Options

SECURITY: Options = {
    "security.protocol": Option(
        "security_protocol",
        {
            "plaintext": "plaintext",
            "ssl": "ssl",
            "sasl_plaintext": "sasl_plaintext",
            "sasl_ssl": "sasl_ssl",
        },
    ),
    "sasl.mechanism": Option(
        "sasl_mechanism",
        {"plain": "plain", "scram-sha-256": "scram-sha-256", "scram-sha-512": "scram-sha-512"},
    ),
    "sasl.username": "sasl_username",
    "sasl.password": Option("sasl_password", secret=True),
    "sasl.jaas.config": Option("sasl_password", secret=True),
    "ssl.ca.location": "ssl_ca",
    "ssl.truststore.location": Option(
        note="ssl_ca takes the authorities' certificates as a PEM file"
    ),
    "ssl.truststore.*": NO_MEANING,
    "ssl.keystore.location": Option(note="ssl_keystore takes key and certificates as a PEM file"),
    "ssl.keystore.*": NO_MEANING,
    "ssl.key.password": Option("ssl_key_password", secret=True),
    "ssl.endpoint.identification.algorithm": NO_MEANING,
}
"""Without a prefix, which differs from system to system."""
