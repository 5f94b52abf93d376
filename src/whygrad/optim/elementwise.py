"""Optimizers that treat every element alike: all but LBFGS.

Such an optimizer is a formula.  A subclass names the state it keeps per element (``_buffers``) and
per parameter (``_counters``) and gives the formula as a rule (``_rule``); everything else (looking
for gradients, refusing what cannot be done before anything has changed, memory, versions) is here
and the same for all of them.

The rule runs on the arrays behind the tensors: a step makes no tensors and records nothing.  Each
write is noted in the storage under the name of the step and the user's line, so a graph that still
needs the old value of a parameter says who overwrote it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from whygrad import dtypes, keys
from whygrad.autograd.modes import no_grad
from whygrad.autograd.source import Where, caller
from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.ops.inplace import check_writable
from whygrad.optim.arithmetic import Rule, arrays, tensors
from whygrad.optim.optimizer import Optimizer
from whygrad.tensor import Tensor, wrap

__all__ = ["Elementwise", "Group", "State", "advanced", "towards"]

Group = dict[str, Any]
State = dict[str, Any]

_PLAIN = (np.dtype(np.float32), np.dtype(np.float64))


class Elementwise(Optimizer):
    """The base of optimizers given by one formula per element."""

    _counters: ClassVar[Mapping[str, float]] = {
        "step": 0.0
    }  # numbers kept per parameter, and their start
    _takes_sparse = False

    def _buffers(self, group: Group) -> dict[str, float]:
        """State with the shape of the parameter, and the value it starts with."""
        return {}

    @abstractmethod
    def _rule(self, group: Group, state: State) -> Rule:
        """The update of one parameter in this step: ``rule(xp, param, grad, *buffers)``."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient, in place.

        ``closure`` computes the loss and its gradients once more and returns the loss.
        """
        loss = self._evaluate(closure)
        name = f"{type(self).__name__}.step"
        where = caller()
        with no_grad():
            work = [
                (group, param, self._usable(param, param._grad, name, where))
                for group in self.param_groups
                for param in group["params"]
                if param._grad is not None
            ]
            for group, param, gradient in work:
                state = self._state_of(group, param)
                rule = self._rule(group, state)
                buffers = self._filled(group, param, state)
                for buffer in buffers:
                    buffer._storage.prepare_write(name, where)
                operands = [param, gradient, *buffers]
                payloads = [each._array for each in operands]
                if _are_plain(payloads):
                    arrays.run(rule, payloads)
                else:
                    tensors.run(rule, operands)
                for written in (param, *state.values()):
                    if isinstance(written, Tensor):
                        written._storage.bump(name, where)
        return loss

    def _usable(self, param: Tensor, gradient: Tensor, name: str, where: Where) -> Tensor:
        """The gradient to go by; raises if this parameter cannot be updated."""
        if not param.dtype.is_floating_point:
            raise fail(
                RuntimeError,
                call=f"{name}() on {describe(param)}",
                cause="only parameters of floating point dtype are optimized",
                fix="pass floating point tensors; a complex one can be kept as two real ones",
                where=where,
            )
        array = param._array
        if type(array) is np.ndarray and array.flags.writeable and 0 not in array.strides:
            param._storage.prepare_write(name, where)  # the usual case, all that is left to ask
        else:
            check_writable(param, name)
        if not gradient._keys & keys.LAYOUTS:
            return gradient
        if not self._takes_sparse:
            raise fail(
                RuntimeError,
                call=f"{name}() on {describe(param)}",
                cause=f"{type(self).__name__} does not support sparse gradients",
                fix="use SGD or Adagrad, or make the layer with sparse=False",
                where=where,
            )
        return gradient.to_dense()

    def _state_of(self, group: Group, param: Tensor) -> State:
        state = self.state[param] if self._counters or self._buffers(group) else {}
        for name, start in self._counters.items():
            if name not in state:
                dtype = np.float64 if dtypes.get_default_dtype() is dtypes.float64 else np.float32
                state[name] = wrap(np.array(start, dtype))
        return state

    def _filled(self, group: Group, param: Tensor, state: State) -> list[Tensor]:
        buffers = []
        for name, start in self._buffers(group).items():
            if state.get(name) is None:
                state[name] = _full_like(param, start)
            buffers.append(state[name])
        return buffers

    def _adopted(self, param: Tensor, value: Any, name: str | None = None) -> Any:
        if name in self._counters:  # kept as they are: their rounding is part of the trajectory
            return value.clone() if isinstance(value, Tensor) else wrap(np.array(value, np.float32))
        adopted = super()._adopted(param, value, name)
        if isinstance(adopted, Tensor) and adopted.shape != param.shape:
            raise self._shape_mismatch(param, str(name), value)
        return adopted


def advanced(state: State) -> int:
    """Count one more step of this parameter."""
    counter = state["step"]
    count = counter._array.item() + 1
    counter._array[...] = count
    return count


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
        return wrap(np.full_like(param._array, value))
    return functions["full_like"](param.detach(), value)


def _are_plain(payloads: list[Any]) -> bool:
    """Whether NumPy can compute on these as they are."""
    dtype = payloads[0].dtype
    return dtype in _PLAIN and all(
        type(each) is np.ndarray and each.dtype == dtype for each in payloads
    )
