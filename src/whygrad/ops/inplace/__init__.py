"""Writing to a tensor that is already there: its numbers, its shape, its memory, random numbers."""
