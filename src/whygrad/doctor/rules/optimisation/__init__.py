"""How it is trained: the rate, its schedule, clipping and regularization."""
