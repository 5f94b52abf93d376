"""What programs written for ``torch.func`` call besides the transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from whygrad.errors import fail
from whygrad.tensor import Tensor, alias, keys, modes

if TYPE_CHECKING:
    from whygrad.nn.modules.module import Module

    Kind = TypeVar("Kind", bound=Module)

__all__ = ["debug_unwrap", "functionalize", "replace_all_batch_norm_modules_"]


def functionalize(
    func: Callable[..., Any],
    *,
    remove: Literal["mutations", "mutations_and_views"] = "mutations",
) -> Callable[..., Any]:
    """A function that does what ``func`` does.

    PyTorch's compilers want programs without writes and views; the result is the same by
    definition, and nothing here asks for another program.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise fail(
            RuntimeError,
            call=f"functionalize(func, remove={remove!r})",
            cause="Valid options are: remove='mutations' and remove='mutations_and_views'",
            fix="choose one of them",
        )

    @functools.wraps(func)
    def same(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return same


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What a tensor is outside of the transform in which one meets it, to look at it.

    Of a sample inside ``vmap``, the whole batch; ``recurse`` takes off all levels, not only one.
    """
    while tensor._keys & keys.BATCHED:
        tensor = tensor._array.tensor
        if not recurse:
            return tensor
    inside = modes.state.run is not None and tensor._node is not None
    return alias(tensor) if inside else tensor


def replace_all_batch_norm_modules_(root: Kind) -> Kind:
    """Let every batch norm in ``root`` use the statistics of the batch only, and keep none.

    Running statistics cannot follow the samples of ``vmap``.
    """
    for module in root.modules():
        forget = getattr(module, "_forget_statistics", None)
        if forget is not None:
            forget()
    return root
