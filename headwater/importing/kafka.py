"""Options of Kafka clients that several systems pass on, by their names in Kafka."""

from __future__ import annotations

from headwater.importing.contract import NO_MEANING, OptionMapping, Options

SECURITY: Options = {
    "security.protocol": OptionMapping(
        "security_protocol",
        {
            "plaintext": "plaintext",
            "ssl": "ssl",
            "sasl_plaintext": "sasl_plaintext",
            "sasl_ssl": "sasl_ssl",
        },
    ),
    "sasl.mechanism": OptionMapping(
        "sasl_mechanism",
        {"plain": "plain", "scram-sha-256": "scram-sha-256", "scram-sha-512": "scram-sha-512"},
    ),
    "sasl.username": "sasl_username",
    "sasl.password": OptionMapping("sasl_password", secret=True),
    "sasl.jaas.config": OptionMapping("sasl_password", secret=True),
    "ssl.ca.location": "ssl_ca",
    "ssl.truststore.location": OptionMapping(
        note="ssl_ca takes the authorities' certificates as a PEM file"
    ),
    "ssl.truststore.*": NO_MEANING,
    "ssl.keystore.location": OptionMapping(
        note="ssl_keystore takes key and certificates as a PEM file"
    ),
    "ssl.keystore.*": NO_MEANING,
    "ssl.key.password": OptionMapping("ssl_key_password", secret=True),
    "ssl.endpoint.identification.algorithm": NO_MEANING,
}
"""Without a prefix, which differs from system to system."""
