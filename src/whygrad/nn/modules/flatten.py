"""Dimensions joined and split."""

from whygrad.nn.shape import Flatten, Unflatten

__all__ = ["Flatten", "Unflatten"]
