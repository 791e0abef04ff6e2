"""``MATCH_RECOGNIZE`` in FROM: its columns, their types, what is refused."""
