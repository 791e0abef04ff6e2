"""Streams of a Redis server."""
