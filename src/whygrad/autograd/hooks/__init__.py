"""Functions of the user that see gradients on their way."""
