"""The shell of ``headwater sql``: statements one after the other, typed or from a pipe."""
