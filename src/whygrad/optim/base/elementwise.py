"""Optimizers that treat every element alike: most of them.

Such an optimizer is a formula.  A subclass names the state it keeps per element (``_buffers``) and
gives the formula as a rule (``_rule``); memory and versions are here and the same for all of them.

The rule runs on the arrays behind the tensors: a step makes no tensors and records nothing.  Each
write is noted in the storage under the name of the step and the user's line, so a graph that still
needs the old value of a parameter says who overwrote it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from whygrad.ops import functions
from whygrad.optim.base.arithmetic import Rule, arrays, tensors
from whygrad.optim.base.parameterwise import Group, PerParameter, State, advanced
from whygrad.source import Where
from whygrad.tensor import Tensor, wrap

__all__ = ["Elementwise", "Group", "State", "advanced", "towards"]

_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))
_COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))


class Elementwise(PerParameter):
    """The base of optimizers given by one formula per element.

    A complex number is two elements: the formula is for real numbers, as PyTorch's are.
    """

    _takes_complex = True

    def _buffers(self, group: Group) -> dict[str, float]:
        """State with the shape of the parameter, and the value it starts with."""
        return {}

    @abstractmethod
    def _rule(self, group: Group, state: State) -> Rule:
        """The update of one parameter in this step: ``rule(xp, param, grad, *buffers)``."""

    def _update(
        self, group: Group, param: Tensor, gradient: Tensor, name: str, where: Where
    ) -> None:
        state = self._state_of(group, param)
        rule = self._rule(group, state)
        buffers = self._filled(group, param, state)
        for buffer in buffers:
            buffer._storage.prepare_write(name, where)
        operands = [param, gradient, *buffers]
        payloads = [each._array for each in operands]
        if _are_plain(payloads, _PLAIN):
            arrays.run(rule, payloads)
        elif _are_plain(payloads, _COMPLEX):
            arrays.run(rule, [_parts(each) for each in payloads])
        else:
            tensors.run(rule, operands)
        for written in (param, *state.values()):
            if isinstance(written, Tensor):
                written._storage.bump(name, where)

    def _state_of(self, group: Group, param: Tensor) -> State:
        if not self._counters and not self._buffers(group):
            return {}
        return self._counted(group, param)

    def _filled(self, group: Group, param: Tensor, state: State) -> list[Tensor]:
        buffers = []
        for name, start in self._buffers(group).items():
            if state.get(name) is None:
                state[name] = _full_like(param, start)
            buffers.append(state[name])
        return buffers

    def _adopted(self, param: Tensor, value: Any, name: str | None = None) -> Any:
        adopted = super()._adopted(param, value, name)
        if name in self._counters:
            return adopted
        if isinstance(adopted, Tensor) and adopted.shape != param.shape:
            raise self._shape_mismatch(param, str(name), value)
        return adopted


def towards(xp: Any, group: Group, param: Any, grad: Any) -> Any:
    """The gradient of what is to become small: the objective, or its negative with ``maximize``,
    and ½·weight_decay·param² unless the decay is decoupled from the gradient.
    """
    if group["maximize"]:
        grad = xp.neg(grad)
    decay = group["weight_decay"]
    if decay and not group.get("decoupled_weight_decay", False):
        grad = xp.add(grad, param, alpha=float(decay))
    return grad


def _full_like(param: Tensor, value: float) -> Tensor:
    if type(param._array) is np.ndarray:
        array = np.full_like(param._array, value)
        if array.dtype.kind == "c":
            _parts(array)[...] = value
        return wrap(array)
    return functions["full_like"](param.detach(), value)


def _parts(array: Any) -> Any:
    """Real and imaginary parts side by side, same memory."""
    return array[..., None].view(array.real.dtype)


def _are_plain(payloads: list[Any], known: tuple[Any, ...]) -> bool:
    """Whether NumPy can compute on these as they are."""
    dtype = payloads[0].dtype
    return dtype in known and all(
        type(each) is np.ndarray and each.dtype == dtype for each in payloads
    )
