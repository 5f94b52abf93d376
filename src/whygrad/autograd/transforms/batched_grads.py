"""``grad(is_grads_batched=True)``: one walk for a whole batch of cotangents.

That is ``vmap`` over the pull-back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whygrad.autograd.transforms.vmap import vmap
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor

__all__ = ["grad_of_batch"]


def grad_of_batch(
    grad: Callable[..., tuple[Tensor | None, ...]],
    roots: Sequence[Tensor],
    wanted: Sequence[Tensor],
    cotangents: Sequence[Any],
    options: dict[str, Any],
) -> tuple[Tensor | None, ...]:
    """The gradients for each cotangent along dimension 0, stacked; None stays None."""
    for root, each in zip(roots, cotangents, strict=False):
        if not isinstance(each, Tensor) or tuple(each.shape[1:]) != tuple(root.shape):
            raise fail(
                RuntimeError,
                call=f"grad(…, grad_outputs={describe(each)}, is_grads_batched=True)",
                cause="If `is_grads_batched=True`, we interpret the first dimension of each "
                "grad_output as the batch dimension; the other dimensions are those of the "
                f"output, {tuple(root.shape)}",
                fix=f"pass a tensor of shape (batch, *{tuple(root.shape)}) for this output",
            )
    missing: list[bool] = []

    def pull(*one: Tensor) -> tuple[Tensor, ...]:
        found = grad(roots, wanted, one, **options)
        missing[:] = [each is None for each in found]
        return tuple(each for each in found if each is not None)

    batches = iter(vmap(pull)(*cotangents))
    return tuple(None if absent else next(batches) for absent in missing)
