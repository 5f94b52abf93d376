"""What the user's functions may return, and what is said if it is something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.custom.signature import place_of
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, devices, dtypes, keys

if TYPE_CHECKING:
    from whygrad.autograd.custom.signature import Signature
    from whygrad.source import Where

__all__ = ["Kind", "gradients", "tangents"]


class Kind(NamedTuple):
    """Shape, dtype and device of a tensor."""

    shape: tuple[int, ...]
    bits: int

    @classmethod
    def of(cls, tensor: Tensor) -> Kind:
        return cls(tensor._array.shape, tensor._keys & (keys.DTYPES | keys.DEVICES))

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.by_key[self.bits & keys.DTYPES]

    @property
    def device(self) -> devices.Device:
        bit = self.bits & keys.DEVICES
        return next(each for each in devices.devices.values() if each.key == bit)


def gradients(
    signature: Signature,
    names: Sequence[str],
    wanted: Sequence[Kind | None],
    needed: Sequence[bool],
    returned: Any,
    where: Where,
) -> list[Tensor | None]:
    """What ``backward`` returned: one gradient, or None, for each argument of ``forward``."""
    found = list(returned) if isinstance(returned, tuple) else [returned]
    while len(found) > len(wanted) and found[-1] is None:
        found.pop()

    def refuse(cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{signature.name}Backward, recorded at {where}",
            cause=cause,
            fix=fix,
            where=place_of(signature.backward),
        )

    if len(found) != len(wanted):
        raise refuse(
            f"function {signature.name}Backward returned an incorrect number of gradients "
            f"(expected {len(wanted)}, got {len(found)}): forward takes ({', '.join(names)})",
            "return one gradient for each argument of forward, in the same order; None for those "
            "that have none",
        )
    for place, (gradient, kind, name) in enumerate(zip(found, wanted, names, strict=True)):
        if gradient is None:
            continue
        if kind is None:
            raise refuse(
                f"function {signature.name}Backward returned a gradient different than None at "
                f"position {place + 1}, but the corresponding forward input '{name}' was not a "
                f"Variable: it got {describe(gradient)} for something that is no tensor",
                f"return None in the place of '{name}'",
            )
        if not isinstance(gradient, Tensor):
            raise refuse(
                f"expected Variable or None (got {type(gradient).__name__}) as gradient of "
                f"'{name}'",
                "return a tensor; several gradients are returned as a tuple, not as a list"
                if isinstance(gradient, list)
                else "return a tensor, or None",
            )
        if not needed[place]:
            found[place] = None
        elif not _spreads_to(kind.shape, gradient._array.shape):
            raise refuse(
                f"Function {signature.name}Backward returned an invalid gradient at index {place} "
                f"- got {list(gradient.shape)} but expected shape compatible with "
                f"{list(kind.shape)}, the shape of '{name}'",
                f"return one number per element of '{name}'; broadcasting is undone for you, so a "
                "larger shape that it broadcasts to is fine as well",
            )
        elif (gradient._keys ^ kind.bits) & keys.DTYPES:
            raise refuse(
                f"Function {signature.name}Backward returned an invalid gradient at index {place} "
                f"- got {gradient.dtype.name} but expected type {kind.dtype.name}, the dtype of "
                f"'{name}'",
                f"convert it where it is made: gradient.to(whygrad.{kind.dtype.name})",
            )
        elif (gradient._keys ^ kind.bits) & keys.DEVICES:
            raise refuse(
                f"Function {signature.name}Backward returned an invalid gradient at index {place} "
                f"- expected device {kind.device} but got {gradient.device}, and '{name}' is on "
                f"{kind.device}",
                f"move it: gradient.to('{kind.device}')",
            )
    return found


def _spreads_to(shape: tuple[int, ...], larger: tuple[int, ...]) -> bool:
    """Whether ``shape`` broadcasts to ``larger``."""
    if len(shape) > len(larger):
        return False
    return all(
        mine in (1, theirs) for mine, theirs in zip(reversed(shape), reversed(larger), strict=False)
    )


def tangents(
    signature: Signature, outputs: Sequence[Any], fixed: set[int], returned: Any, where: Where
) -> list[Tensor | None]:
    """What ``jvp`` returned: one tangent, or None, for each output; ``fixed`` ones have none."""
    found = list(returned) if isinstance(returned, tuple) else [returned]

    def refuse(cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{signature.name}.jvp, for {signature.name}.apply at {where}",
            cause=cause,
            fix=fix,
            where=place_of(signature.jvp),
        )

    if len(found) != len(outputs):
        raise refuse(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(found)})",
            "return one tangent for each output of forward, in the same order; None for outputs "
            "that have none",
        )
    for place, (tangent, output) in enumerate(zip(found, outputs, strict=True)):
        if tangent is None:
            continue
        if not isinstance(output, Tensor):
            found[place] = None
            continue
        if not isinstance(tangent, Tensor):
            raise refuse(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output {place}",
                "return a tensor, or None",
            )
        if place in fixed:
            raise refuse(
                f"Function's jvp returned a gradient at position {place}, but the corresponding "
                "forward output is not a differentiable Tensor",
                "return None at that position instead",
            )
        if tangent.shape != output.shape:
            raise refuse(
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor: output {place} is of size {list(output.shape)} while the given "
                f"forward gradient is of size {list(tangent.shape)}",
                "return a tangent in the shape of the output",
            )
        if tangent.dtype is not output.dtype:
            raise refuse(
                f"the tangent of output {place} is {tangent.dtype.name}, but the output is "
                f"{output.dtype.name}",
                f"convert it where it is made: tangent.to(whygrad.{output.dtype.name})",
            )
    return found
