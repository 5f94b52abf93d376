"""What the program makes of its model's answers outside of any engine: see :mod:`.lookout`."""
