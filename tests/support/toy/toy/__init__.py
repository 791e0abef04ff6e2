"""A package that adds a connector, a sink and an encoding to Headwater: an example, and a test."""
