"""How an explanation looks: as text, in a notebook, as plain data."""
