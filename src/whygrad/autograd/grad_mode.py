"""The switches of recording, where PyTorch's programs look for them."""

from __future__ import annotations

from contextlib import ContextDecorator

from whygrad.tensor.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class set_multithreading_enabled(ContextDecorator):
    """Whether backward may use several threads; one thread walks the graph here either way.

    As function, ``with`` block and decorator, as in PyTorch, so that programs run as they are.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class enforce_grad_layout_policy(ContextDecorator):
    """Whether ``.grad`` must have the strides of its tensor; here it has them either way.

    PyTorch may leave other strides when this is off, but need not.
    """

    def __init__(self, enable: bool = True) -> None:
        self.mode = enable

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass
