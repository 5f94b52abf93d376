"""A run as it goes: its calls, its loop, and the facts about it in :mod:`.record`."""
