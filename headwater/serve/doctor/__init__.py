"""``headwater doctor``: what is wrong with tables and checkpoints, and what is safe to do."""
