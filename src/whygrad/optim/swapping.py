"""An optimizer's parameters and state, exchanged for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from whygrad.errors import fail
from whygrad.optim.optimizer import Optimizer
from whygrad.tensor import Tensor

__all__ = ["swap_in_optimizer_params_and_state"]


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer,
    swapin_parameters: Mapping[str, Tensor],
    swapin_optim_state: Mapping[str, Any],
) -> Iterator[None]:
    """Inside, ``optimizer`` has these parameters, in the order of its own, and this state.

    ``swapin_optim_state`` is what ``optimizer.state_dict()`` returns.  ``step()`` writes into the
    tensors that were given; what it adds to the state is dropped on exit.
    """
    state, groups = _checked(optimizer, swapin_parameters, swapin_optim_state)
    before = optimizer.state
    options = [dict(group) for group in optimizer.param_groups]
    params = iter(swapin_parameters.values())
    try:
        exchanged: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        for group, given in zip(optimizer.param_groups, groups, strict=True):
            members = [next(params) for _ in given["params"]]
            group.update(given, params=members)
            for param, number in zip(members, given["params"], strict=True):
                exchanged[param] = dict(state.get(number, {}))
        optimizer.state = exchanged
        yield
    finally:
        optimizer.state = before
        for group, kept in zip(optimizer.param_groups, options, strict=True):
            group.clear()
            group.update(kept)


def _checked(
    optimizer: Optimizer, parameters: Mapping[str, Tensor], saved: Mapping[str, Any]
) -> tuple[dict[Any, Any], list[dict[str, Any]]]:
    def refuse(cause: str) -> Exception:
        return fail(
            RuntimeError,
            call=f"swap_in_optimizer_params_and_state({type(optimizer).__name__}, …)",
            cause=cause,
            fix="pass the parameters in the optimizer's order and an optimizer.state_dict() of one "
            "that has made a step",
        )

    if not optimizer.state:
        raise refuse("the state of the optimizer is empty: it has made no step yet")
    state, groups = saved.get("state"), saved.get("param_groups")
    if not isinstance(state, dict) or not isinstance(groups, list):
        raise refuse("the state has no dict 'state' and list 'param_groups'")
    if len(groups) != len(optimizer.param_groups):
        raise refuse(f"there are {len(optimizer.param_groups)} parameter groups, not {len(groups)}")
    for number, (group, given) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        if set(given) != set(group) or len(given["params"]) != len(group["params"]):
            raise refuse(f"parameter group {number} has other options or another number of members")
    numbers = [number for given in groups for number in given["params"]]
    if len(numbers) > len(parameters):
        raise refuse(f"{len(parameters)} parameters were given for {len(numbers)}")
    strange = [key for key in state if key not in numbers]
    if strange:
        raise refuse(f"the state has entries for {strange}, which no group has")
    return state, groups
