"""Tensors from numbers, arrays, shapes and random generators; other dtypes and devices."""

from whygrad.ops.creation import (  # noqa: F401  (each declares its ops)
    conversion,
    creation,
    discrete,
    likes,
    literals,
    ranges,
    sampling,
    transfer,
)
