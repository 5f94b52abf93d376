"""Missing, vanished and broken gradients as people meet them: programs, and the right answers."""
