"""Tensors from numbers, arrays, shapes and random generators; other dtypes and devices."""

from whygrad.ops.creation import (
    conversion,
    creation,
    discrete,
    likes,
    literals,
    ranges,
    sampling,
    transfer,
)
