"""What lazy modules share."""

from whygrad.nn.lazy import LazyModuleMixin

__all__ = ["LazyModuleMixin"]
