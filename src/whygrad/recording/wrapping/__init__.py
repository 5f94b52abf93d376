"""What stands between a program and an engine while it is watched, and how it stays unnoticed."""
