"""L-BFGS: Newton's method with the curvature guessed from the last few steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.optim.base.options import checked, given
from whygrad.optim.line_search import Point, strong_wolfe
from whygrad.optim.optimizer import Optimizer, Parameters
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = ["LBFGS"]

State = dict[str, Any]


class LBFGS(Optimizer):
    """One ``step(closure)`` makes up to ``max_iter`` iterations: d = −H·g;  θ ← θ + t·d.

    H, the inverse of the curvature, is represented by the last ``history_size`` changes of θ and of
    g.  t is ``lr``, or found by a line search with ``line_search_fn="strong_wolfe"``, and less in
    the very first iteration.  The steps end early after ``max_eval`` evaluations of the closure,
    when no gradient is above ``tolerance_grad``, or when θ or the loss changes by less than
    ``tolerance_change``.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        options = checked(self, given(locals()))
        if line_search_fn not in (None, "strong_wolfe"):
            raise self._refusal(
                RuntimeError,
                f"only 'strong_wolfe' is supported as line_search_fn, not {line_search_fn!r}",
                "pass 'strong_wolfe', or None for steps of a fixed length",
            )
        super().__init__(params, options)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if self.param_groups:
            raise self._refusal(
                ValueError,
                "LBFGS doesn't support per-parameter options (parameter groups)",
                "pass all parameters as one list",
            )
        super().add_param_group(param_group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise for a while; ``closure`` computes the loss and its gradients and returns it."""
        if closure is None:
            raise fail(
                TypeError,
                call="LBFGS.step()",
                cause="missing 1 required positional argument: 'closure'. LBFGS computes the loss "
                "several times per step",
                fix="pass a function that calls zero_grad(), computes the loss, calls backward() "
                "and returns the loss",
            )
        params = self.param_groups[0]["params"]
        strange = next((each for each in params if not each.dtype.is_floating_point), None)
        if strange is not None:
            raise fail(
                RuntimeError,
                call=f"LBFGS.step() on {describe(strange)}",
                cause="only parameters of floating point dtype are optimized",
                fix="use Adam, or keep a complex parameter as two real ones: view_as_real(z)",
            )
        with no_grad():
            return self._minimise(closure)

    def _minimise(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        state = self.state[group["params"][0]]  # of all parameters together, as PyTorch keeps it
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = self._evaluate(closure)
        loss, grad = float(first_loss), self._flat_grad()
        state["func_evals"] += 1
        evaluations = 1
        if float(grad.abs().max()) <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            length = float(group["lr"])
            if state["n_iter"] == 1:
                length *= 1.0 / max(1.0, float(grad.abs().sum()))
            state.update(d=direction, t=length, prev_flat_grad=grad.clone(), prev_loss=loss)
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            tried = 0
            if group["line_search_fn"] is not None:
                here = Point(0.0, loss, grad, slope)
                found, tried = self._search(closure, here, direction, length, evaluations)
                self._move(found.length, direction)
                length, loss, grad = found.length, found.loss, found.grad
                state["t"] = length
            else:
                self._move(length, direction)
                if not last:
                    loss, grad = float(self._evaluate(closure)), self._flat_grad()
                    tried = 1
            evaluations += tried
            state["func_evals"] += tried
            if (
                last
                or evaluations >= group["max_eval"]
                or float(grad.abs().max()) <= group["tolerance_grad"]
                or float(direction.abs().max()) * abs(length) <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, state: State, grad: Tensor, history_size: int) -> Tensor:
        """−H·grad, by the two loops over what is remembered, newest first, then oldest first."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return grad.neg()
        changes, moves, weights = state["old_dirs"], state["old_stps"], state["ro"]
        change = grad - state["prev_flat_grad"]
        move = state["d"] * float(state["t"])
        curvature = float(change.dot(move))
        if curvature > 1e-10:
            if len(changes) == history_size:
                for remembered in (changes, moves, weights):
                    del remembered[0]
            changes.append(change)
            moves.append(move)
            weights.append(1 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        direction = grad.neg()
        parts = []
        for change, move, weight in zip(reversed(changes), reversed(moves), reversed(weights)):
            parts.append(float(move.dot(direction)) * float(weight))
            direction.add_(change, alpha=-parts[-1])
        direction.mul_(float(state["H_diag"]))
        for change, move, weight, part in zip(changes, moves, weights, reversed(parts)):
            back = float(change.dot(direction)) * float(weight)
            direction.add_(move, alpha=part - back)
        return direction

    def _search(
        self,
        closure: Callable[[], Any],
        here: Point,
        direction: Tensor,
        length: float,
        evaluations: int,
    ) -> tuple[Point, int]:
        group = self.param_groups[0]
        kept = [param.clone() for param in group["params"]]

        def evaluate(length: float) -> Point:
            self._move(length, direction)
            try:
                loss, grad = float(self._evaluate(closure)), self._flat_grad()
            finally:
                for param, before in zip(group["params"], kept):
                    param.copy_(before)
            return Point(length, loss, grad, float(grad.dot(direction)))

        reach = float(direction.abs().max())
        return strong_wolfe(evaluate, here, length, reach, group["max_eval"] - evaluations)

    def _flat_grad(self) -> Tensor:
        """All gradients in one row; a parameter without one counts as not moving the loss."""
        rows = []
        for param in self.param_groups[0]["params"]:
            gradient = param._grad
            if gradient is None:
                rows.append(functions["zeros"](param.numel(), dtype=param.dtype))
            else:
                dense = gradient.to_dense() if gradient.is_sparse else gradient
                rows.append(dense.detach().reshape(-1))
        return functions["cat"](rows)

    def _move(self, length: float, direction: Tensor) -> None:
        """θ ← θ + length·direction"""
        start = 0
        for param in self.param_groups[0]["params"]:
            end = start + param.numel()
            param.add_(direction[start:end].reshape(param.shape), alpha=length)
            start = end
