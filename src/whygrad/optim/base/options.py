"""What the options of optimizers may be: one table for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.tensor import Tensor

__all__ = ["checked", "given"]


def _not_negative(value: Any) -> bool:
    return bool(value >= 0)


def _fraction(value: Any) -> bool:
    return bool(0 <= value < 1)


# By option: what must hold, what PyTorch calls the mistake, and what to do about it.
_LIMITS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "lr": (_not_negative, "Invalid learning rate: {}", "give a learning rate of 0 or more"),
    "eps": (_not_negative, "Invalid epsilon value: {}", "give a small number such as 1e-8"),
    "alpha": (_not_negative, "Invalid alpha value: {}", "give a number such as 0.99"),
    "beta2_decay": (lambda decay: decay <= 0, "Invalid beta2_decay value: {}", "give 0 or less"),
    "d": (lambda d: d >= 1, "Invalid clipping threshold d: {}", "give a number of 1 or more"),
    "rho": (lambda rho: 0 <= rho <= 1, "Invalid rho value: {}", "give a number from 0 to 1"),
} | {
    name: (_not_negative, f"Invalid {name} value: {{}}", "give a number of 0 or more")
    for name in (
        "initial_accumulator_value", "lr_decay", "momentum", "momentum_decay", "weight_decay",
    )
}  # fmt: skip


def given(arguments: dict[str, Any], **before: str) -> dict[str, Any]:
    """The options among the ``locals()`` of an ``__init__``, whose signature names each once.

    PyTorch saves some in another order than it takes them: ``maximize="foreach"`` puts one before
    the other.
    """
    names = [name for name in arguments if name not in ("self", "params", "__class__")]
    for name, other in before.items():
        names.remove(name)
        names.insert(names.index(other), name)
    return {name: arguments[name] for name in names}


def checked(optimizer: object, options: dict[str, Any], but: str = "") -> dict[str, Any]:
    """``options`` as the defaults of ``optimizer``, if every one ``but`` this makes sense."""
    name = type(optimizer).__name__

    def refuse(call: str, cause: str, fix: str, kind: type[Exception] = ValueError) -> Exception:
        return fail(kind, call=f"{name}({call})", cause=cause, fix=fix)

    for option, value in options.items():
        call = f"{option}={describe(value)}"
        if option == "lr" and isinstance(value, Tensor) and value.numel() != 1:
            raise refuse(
                call, "Tensor lr must be 1-element", "groups of parameters may have an lr each"
            )
        if option == "betas":
            for index, beta in enumerate(value):
                if not _fraction(beta):
                    raise refuse(
                        call,
                        f"Invalid beta parameter at index {index}: {beta}",
                        "give numbers from 0 up to, but not including, 1: (0.9, 0.999)",
                    )
        elif option in _LIMITS and option != but:
            holds, mistake, fix = _LIMITS[option]
            if not holds(value):
                raise refuse(call, mistake.format(value), fix)
    if options.get("fused") and options.get("foreach"):
        raise refuse(
            "fused=True, foreach=True",
            "`fused` and `foreach` cannot be `True` together",
            "leave both out: they choose between PyTorch's implementations and change nothing here",
            RuntimeError,
        )
    if options.get("differentiable"):
        raise refuse(
            "differentiable=True",
            "a step writes into the parameters and is not recorded, so no gradient flows through "
            "it",
            "to differentiate through an update compute p - lr * g with grad(create_graph=True) "
            "and call the model with func.functional_call",
        )
    return options
