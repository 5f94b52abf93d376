"""Channels turned into pixels."""

from whygrad.nn.shape import PixelShuffle, PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]
