"""The outside world → landed tables and decoded streams: connectors, decoding, quarantine."""
