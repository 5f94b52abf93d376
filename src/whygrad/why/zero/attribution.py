"""Why is each zero of a gradient zero?  Events are handed down edge by edge.

A zero that an op was given keeps its event; a zero that the op made gets a new one.  Where elements
of input and output stand opposite each other, that is seen element by element.  Otherwise the rule
is asked: it is linear in what comes in, so its answer to a probe tells which zeros are its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.why.zero.edges import Arrival, Blame, Event, Reason, Term, WalkedEdge, probe_like

__all__ = ["add_up", "beyond", "closed", "seeded", "smallest", "terms_at_largest"]

_MOST = 64  # events that are told apart at one place


def seeded(seed: Any) -> Blame:
    """The zeros that the walk starts with."""
    zero = np.asarray(seed == 0)
    return {Event("seed", None, zero, 0): zero} if zero.any() else {}


def add_up(arrivals: list[Arrival]) -> tuple[Any, Blame]:
    """Contributions added up, and why their sum is zero where it is."""
    if not arrivals:
        return None, {}
    if len(arrivals) == 1:
        return arrivals[0].contribution, arrivals[0].blame
    total = arrivals[0].contribution
    for each in arrivals[1:]:
        total = total + each.contribution
    zero = np.asarray(total == 0)
    if not zero.any():
        return total, {}
    blame: Blame = {}
    for each in arrivals:
        for event, mask in each.blame.items():
            blame[event] = blame[event] | mask if event in blame else mask
    cancelled = zero & np.logical_or.reduce([each.contribution != 0 for each in arrivals])
    blame = _limited(blame, zero & ~cancelled)
    if cancelled.any():
        found = terms_at_largest(arrivals, cancelled)
        event = Event("cancelled", None, cancelled, int(cancelled.sum()), found)
        blame[event] = cancelled
    return total, blame


def terms_at_largest(arrivals: list[Arrival], among: Any) -> list[Term]:
    """The contributions at the element where they are largest."""
    sizes = sum(np.abs(each.contribution) for each in arrivals) * among
    if not np.size(sizes):
        return []
    place = np.unravel_index(int(np.argmax(sizes)), np.shape(sizes))
    terms = [
        Term(each.op, each.where, float(np.real(each.contribution[place])))
        for each in reversed(arrivals)  # oldest first, as the user wrote them
    ]
    return sorted((each for each in terms if each.value), key=lambda each: -abs(each.value))


def _limited(blame: Blame, zero: Any) -> Blame:
    """Only for elements that are zero, and not too many events: small ones become one."""
    shares = {event: mask & zero for event, mask in blame.items()}
    present = {event: mask for event, mask in shares.items() if mask.any()}
    if len(present) <= _MOST:
        return present
    sizes = {
        event: 0 if event.reason == "several" else int(np.count_nonzero(mask))
        for event, mask in present.items()
    }
    ranked = sorted(present, key=lambda event: -sizes[event])
    limited = {event: present[event] for event in ranked[:_MOST]}
    rest = np.logical_or.reduce([present[event] for event in ranked[_MOST:]])
    killed = sum(event.killed for event in ranked[_MOST:])
    return {**limited, Event("several", None, rest, killed): rest}


def beyond(edge: WalkedEdge, before: list[Blame]) -> Blame:
    """Why the contribution of an edge is zero where it is."""
    dead = np.asarray(edge.contribution == 0)
    if not dead.any():
        return {}
    if not any(np.size(each) for each in edge.incoming if each is not None):
        return {Event("empty", edge, dead, 0): dead}
    if len(edge.incoming) == 1:
        opposite = edge.pull_opposite(edge.incoming[0])
        if opposite is not None:
            return _element_by_element(edge, dead, opposite, before[0])
    return _by_probing(edge, dead, before)


def _element_by_element(edge: WalkedEdge, dead: Any, opposite: Any, before: Blame) -> Blame:
    incoming = edge.incoming[0]
    if dead.shape == incoming.shape and np.array_equal(dead, incoming == 0):
        return before  # the zeros are the ones that came in
    stopped = np.broadcast_to(opposite == 0, incoming.shape)
    killed = stopped & (incoming != 0)
    blame = dict(before)
    if killed.any():
        slopes = np.broadcast_to(edge.pull_opposite(probe_like(incoming)), incoming.shape)
        too_small = killed & (slopes != 0)  # there is a slope, yet the product came out as 0
        if too_small.any():
            event = Event("underflow", edge, too_small, int(too_small.sum()))
            blame[event] = too_small
        killed = killed & ~too_small
        if killed.any():
            event = Event("derivative", edge, slopes == 0, int(killed.sum()))
            blame[event] = killed
    blame = _limited({event: _folded(mask, dead.shape) for event, mask in blame.items()}, dead)
    lost = dead & _folded(~stopped, dead.shape)  # something came through, and its sum is 0
    if lost.any():
        _add_lost(blame, edge, lost)
    return blame


def _folded(mask: Any, shape: tuple[int, ...]) -> Any:
    """Whether any copy of an element that was broadcast is in ``mask``."""
    extra = mask.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis for axis, size in enumerate(shape) if size == 1 != mask.shape[extra + axis]
    )
    return mask.any(axis=axes, keepdims=True).reshape(shape) if axes else mask


def _by_probing(edge: WalkedEdge, dead: Any, before: list[Blame]) -> Blame:
    """Ask the rule: for gradients everywhere, only where there were some, only where one died."""
    incoming = [None if each is None else np.asarray(each) for each in edge.incoming]
    weights = [None if each is None else probe_like(each) for each in incoming]
    alive = [None if each is None else each != 0 for each in incoming]
    anywhere = any(each is not None and each.any() for each in alive)
    answer = edge.pull(weights)
    blame: Blame = {}
    if answer is None:  # all that is known is what went in and what came out
        if dead.all() and anywhere:
            return {Event("derivative", edge, dead, int(dead.sum())): dead}
        return _limited({event: dead for each in before for event in each}, dead)
    closed = dead & (answer == 0)
    open_to_some = dead & (edge.pull(_only(weights, alive)) != 0)
    reached = edge.reach(_only(weights, alive))
    if reached is not None:  # a factor of 0 counts where a gradient met it
        closed = dead & ~open_to_some & ((reached != 0) | (edge.reach(weights) == 0))
    if closed.any():
        killed = int(closed.sum()) if anywhere else 0
        blame[Event("derivative", edge, closed, killed)] = closed
    if open_to_some.any():
        _add_lost(blame, edge, open_to_some)
    inherited: Blame = {}
    ask = edge.pull if reached is None else edge.reach
    for event in dict.fromkeys(event for each in before for event in each):
        masks = [each.get(event, False) for each in before]
        inherited[event] = dead if not anywhere else np.asarray(ask(_only(weights, masks)) != 0)
    blame.update(_limited(inherited, dead & ~open_to_some))
    return blame


def _only(weights: list[Any], masks: list[Any]) -> list[Any]:
    return [
        None if each is None else np.asarray(each * mask, each.dtype)
        for each, mask in zip(weights, masks, strict=True)
    ]


def _add_lost(blame: Blame, edge: WalkedEdge, lost: Any) -> None:
    """Something went through the op and its sum is 0: too small for the dtype, or cancelled."""
    wide = edge.wide()
    dtype = edge.contribution.dtype
    small = np.zeros(lost.shape, bool)
    if wide is not None:
        size = np.abs(wide)
        small = lost & (size > 0) & (size <= smallest(dtype))
    reasons: tuple[tuple[Reason, Any], ...] = (("underflow", small), ("cancelled", lost & ~small))
    for reason, mask in reasons:
        if mask.any():
            blame[Event(reason, edge, mask, int(mask.sum()))] = mask


def smallest(dtype: Any) -> float:
    """The smallest positive number of a dtype."""
    if dtype.name == "bfloat16":
        return 2.0**-133
    return float(np.finfo(dtype).smallest_subnormal) if dtype.kind in "fc" else 0.0


def closed(edge: WalkedEdge) -> list[Event]:
    """Whether an op that got only zeros would have let nothing through anyway."""
    weights = [None if each is None else probe_like(each) for each in edge.incoming]
    answer = edge.pull_opposite(weights[0]) if len(weights) == 1 else None
    if answer is None:
        answer = edge.pull(weights)
    shut = answer is not None and np.size(answer) > 0 and not np.any(answer)
    return [Event("derivative", edge, np.ones(np.shape(answer), bool), 0)] if shut else []
