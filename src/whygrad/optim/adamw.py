"""AdamW under the module name that PyTorch has for it."""

from whygrad.optim.adam import AdamW

__all__ = ["AdamW"]
