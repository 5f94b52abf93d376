"""Optimizers that update one parameter after the other: all but LBFGS.

What they share is here: looking for gradients, refusing what cannot be done before anything has
changed, and numbers that are kept per parameter (``_counters``).  A subclass defines ``_update``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.inplace.writing import check_writable
from whygrad.optim.optimizer import Optimizer
from whygrad.source import Where, caller
from whygrad.tensor import Tensor, dtypes, keys, wrap
from whygrad.tensor.modes import no_grad

__all__ = ["Group", "PerParameter", "State", "advanced", "written"]

Group = dict[str, Any]
State = dict[str, Any]


class PerParameter(Optimizer):
    """The base of optimizers whose step is a loop over the parameters."""

    # numbers kept per parameter, and their start; a string is the option they start from
    _counters: ClassVar[Mapping[str, float | str]] = {"step": 0.0}
    _takes_sparse = False
    _takes_complex = False

    @abstractmethod
    def _update(
        self, group: Group, param: Tensor, gradient: Tensor, name: str, where: Where
    ) -> None:
        """Change ``param`` and its state; ``name`` and ``where`` say who writes."""

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
                self._update(group, param, gradient, name, where)
        return loss

    def _usable(self, param: Tensor, gradient: Tensor, name: str, where: Where) -> Tensor:
        """The gradient to go by; raises if this parameter cannot be updated."""
        if not param.dtype.is_floating_point and not (
            self._takes_complex and param.dtype.is_complex
        ):
            raise fail(
                RuntimeError,
                call=f"{name}() on {describe(param)}",
                cause="only parameters of floating point dtype are optimized",
                fix="pass floating point tensors; SGD, Adam and their like take complex ones, too",
            )
        array = param._array
        if type(array) is np.ndarray and array.flags.writeable and 0 not in array.strides:
            param._storage.prepare_write(name, where)  # the usual case, all that is left to ask
        else:
            check_writable(param, name)
        if not gradient._keys & keys.LAYOUTS:
            return gradient
        return self._from_sparse(param, gradient, name)

    def _from_sparse(self, param: Tensor, gradient: Tensor, name: str) -> Tensor:
        if not self._takes_sparse:
            raise fail(
                RuntimeError,
                call=f"{name}() on {describe(param)}",
                cause=f"{type(self).__name__} does not support sparse gradients",
                fix="use SparseAdam, SGD or Adagrad, or make the layer with sparse=False",
            )
        return gradient.to_dense()

    def _counted(self, group: Group, param: Tensor) -> State:
        """The state of a parameter with its counters."""
        state = self.state[param]
        for name, start in self._counters.items():
            if name not in state:
                number = float(group[start]) if isinstance(start, str) else start
                dtype = np.float64 if dtypes.get_default_dtype() is dtypes.float64 else np.float32
                state[name] = wrap(np.array(number, dtype))
        return state

    def _adopted(self, param: Tensor, value: Any, name: str | None = None) -> Any:
        if name in self._counters:  # kept as they are: their rounding is part of the trajectory
            return value.clone() if isinstance(value, Tensor) else wrap(np.array(value, np.float32))
        return super()._adopted(param, value, name)


def advanced(state: State) -> int:
    """Count one more step of this parameter."""
    counter = state["step"]
    count = counter._array.item() + 1
    counter._array[...] = count
    return count


def written(target: Tensor, value: Tensor, name: str, where: Where) -> None:
    """``value`` into ``target``, as one write by ``name``; memory was prepared before."""
    if type(target._array) is np.ndarray:
        target._array[...] = value._array
    target._storage.bump(name, where)
