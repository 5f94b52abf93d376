"""Help with tests: ``assert_close`` and ``make_tensor``."""

from whygrad.testing.comparison import assert_allclose, assert_close
from whygrad.testing.creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
