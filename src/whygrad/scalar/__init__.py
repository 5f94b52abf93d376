"""Reverse mode on one page, and what belongs to it.

:mod:`~whygrad.scalar.value` is the page.  :mod:`~whygrad.scalar.numbers` has the arithmetic of
floats under it, :mod:`~whygrad.scalar.nn` networks of Values, and :mod:`~whygrad.scalar.check` the
comparison with finite differences.
"""

from whygrad.scalar.value import Value

__all__ = ["Value"]
