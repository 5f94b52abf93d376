"""What backward keeps: the saved values, who keeps them for it, and what they cost in memory."""
