"""How the text of a program prepares its data: what is moved, cut off, fitted, cut into windows."""
