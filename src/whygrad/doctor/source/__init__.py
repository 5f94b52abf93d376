"""The text of the watched program: which of its lines runs, and what stands there."""
