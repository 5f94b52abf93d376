"""Neural networks."""

from whygrad.nn import functional

__all__ = ["functional"]
