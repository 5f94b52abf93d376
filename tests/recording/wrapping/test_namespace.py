"""Nothing of the wrappers is left in the library when a watch is over."""

from __future__ import annotations

import whygrad
from whygrad import nn, ops
from whygrad.doctor import watch


def test_ops_that_are_published_while_watched_are_the_methods() -> None:
    with watch(nn.Linear(2, 1)):
        ops._publish()
    for name in ops._INPLACE:
        assert ops.functions[name] is getattr(whygrad.Tensor, name)
