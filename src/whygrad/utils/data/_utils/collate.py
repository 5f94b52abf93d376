"""PyTorch's place for making batches of samples."""

from whygrad.data import default_collate, default_convert

__all__ = ["default_collate", "default_convert"]
