"""Forward mode and batching: the layers that ``whygrad.func`` is built on."""
