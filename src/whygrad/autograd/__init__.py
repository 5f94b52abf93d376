"""Recording and the reverse walk."""
