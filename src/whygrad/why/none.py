"""Why is this ``.grad`` None?

"No path", "cut here on purpose" and "not computed yet" look the same from outside: None.  The tape
and the lineage of values outside it tell them apart.  :func:`diagnose` reasons from a
:class:`~whygrad.why.connection.Connection` and knows no engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whygrad.tensor.graph.lineage import DEED
from whygrad.why.answer import NOTHING_WRONG, Answer, Section, place
from whygrad.why.connection import TO_LEAVE, Connection, Cut, Departure, Point

__all__ = ["diagnose", "why_none"]


def why_none(x: Any, loss: Any) -> Answer:
    """Why ``x.grad`` is None although ``loss.backward()`` was, or will be, called.

    The answer's ``cause`` is one of ``"unused"``, ``"requires_grad is False"``, ``"detach"``,
    ``"no_grad"``, ``"inference_mode"``, ``"numpy"``, ``"item"``, ``"data"``, ``"copied"``,
    ``"create_graph"``, ``"shared"``, ``"integer"``, ``"boolean"``, ``"not differentiable"``,
    ``"sampled"``, ``"not retained"``, ``"created after"``, ``"replaced"``, ``"not computed"`` or
    ``"nothing wrong"``.
    """
    from whygrad.why.sources.connection import connection

    return diagnose(connection(x, loss))


def diagnose(found: Connection) -> Answer:
    """The one cause that explains the missing gradient."""
    x, loss = found.x, found.loss
    question = f"why_none({x.name}, {loss.name})"
    for verdict in (_healthy, _replaced, _constant, _connected, _too_young, _cut, _departed):
        answer = verdict(found, question)
        if answer is not None:
            return answer
    return _unused(found, question)


def _healthy(found: Connection, question: str) -> Answer | None:
    x = found.x
    if not (x.has_gradient and found.connected):
        return None
    norm = "" if x.norm is None else f" with norm {x.norm:.4g}"
    return Answer(
        question,
        NOTHING_WRONG,
        f"nothing wrong: {x.name} has a gradient{norm}, and {found.loss.name} reaches it",
    )


def _replaced(found: Connection, question: str) -> Answer | None:
    x, former = found.x, found.replaced
    if former is None or x.retains_grad:
        return None
    since = "" if former.where is None else f", since {former.where}"
    return Answer(
        question,
        "replaced",
        f"{x.name} is not the leaf it was: this line computed a new tensor of the same name",
        x.where,
        fix=f"update the leaf in place: with no_grad(): {x.name} -= step, or use an optimizer",
        sections=(Section("the leaf that was replaced", (f"{former.name}{since}",)),),
    )


def _constant(found: Connection, question: str) -> Answer | None:
    x = found.x
    if x.requires_grad:
        return None
    if found.own_cut is not None:
        return _of_cut(found, found.own_cut, question, subject=f"{x.name} is a constant: it")
    if not x.is_floating:
        return Answer(
            question,
            "requires_grad is False",
            f"{x.name} is {x.described}: only floating-point tensors can have gradients",
            fix=f"compute with {x.name}.float() and ask for its gradient",
        )
    return Answer(
        question,
        "requires_grad is False",
        f"{x.name} does not require grad: it counts as a constant, and ops record nothing for it",
        fix=f"call {x.name}.requires_grad_() before the loss is computed",
    )


def _connected(found: Connection, question: str) -> Answer | None:
    x, loss = found.x, found.loss
    if not found.connected:
        return None
    if not x.is_leaf and not x.retains_grad:
        return Answer(
            question,
            "not retained",
            f"{x.name} was computed from other tensors, and backward() keeps gradients of leaves "
            "only",
            x.where,
            fix=f"call {x.name}.retain_grad() before backward(), or ask for it: "
            f"autograd.grad({loss.name}, {x.name})",
        )
    own = ""
    if found.own_rules:
        own = f", or the backward of {' or '.join(found.own_rules)} returned None for it"
    if found.walked_at is None and not found.walked:
        return Answer(
            question,
            "not computed",
            f"{loss.name} reaches {x.name}, but {x.name}.grad is None: backward() has not run, or "
            f"the gradient was cleared since (zero_grad()){own}",
            loss.where,
            fix=f"call {loss.name}.backward(), and read .grad before zero_grad()",
        )
    late = "" if x.is_leaf else "retain_grad() came after that, "
    return Answer(
        question,
        "not computed",
        f"{loss.name} reaches {x.name} and its graph was walked, but .grad is None: {late}it was "
        "cleared since (zero_grad()), or that call was grad() or had inputs=, which fill no other "
        f".grad{own}",
        found.walked_at,
        fix="read .grad before zero_grad(), or run the forward and backward() again",
    )


def _too_young(found: Connection, question: str) -> Answer | None:
    x, loss = found.x, found.loss
    if not found.x_is_younger:
        return None
    what = "requires grad since" if x.is_leaf else "was computed at"
    made = "" if loss.where is None else f", which was computed at {loss.where}"
    return Answer(
        question,
        "created after",
        f"{x.name} {what} this line, later than {loss.name}{made}",
        x.where,
        fix=f"compute {loss.name} again, after this line",
    )


# What chooses a value may do so beside the way of the gradient; what copies it may not.
_CHOICES = ("boolean", "integer")


def _cut(found: Connection, question: str) -> Answer | None:
    if not found.cuts:
        return None
    main, *others = sorted(found.cuts, key=lambda each: each.kind in _CHOICES)
    return _of_cut(found, main, question, f"the value of {found.x.name}", others)


def _of_cut(
    found: Connection, cut: Cut, question: str, subject: str, others: Sequence[Cut] = ()
) -> Answer:
    kind, where = cut.kind, cut.where
    for point in cut.outside[: cut.unbroken]:
        if point.op == "numpy" and kind in TO_LEAVE:
            kind, where = "numpy", point.where
    doubt = "" if cut.certain else "perhaps "
    sections = [
        _path(f"from {found.x.name}, as far as the graph goes", cut.way_out),
        _path("outside the graph", cut.outside),
        _path(f"back from {found.loss.name}, as far as the graph goes", cut.way_back),
    ]
    if not cut.certain:
        sections.append(Section("what is not known", (_DOUBT.format(x=found.x.name),)))
    if others:
        lines = [f"{DEED[each.kind]} at {each.where}" for each in others]
        sections.append(Section("cut off elsewhere as well", tuple(lines)))
    return Answer(
        question,
        kind,
        f"{doubt}{subject} {_HOW[kind]}",
        where,
        fix=_FIX[kind],
        sections=tuple(each for each in sections if each is not None),
        evidence=_evidence(cut),
    )


_DOUBT = "whether {x} was in the graph that was cut off: it is gone, and was a large one"

_HOW = {
    "boolean": "became True or False, which has no derivative",
    "copied": "was copied, which takes the numbers and leaves the graph behind",
    "create_graph": "went into grad() without create_graph=True, which returns constants",
    "data": "went through .data, which leaves the graph behind",
    "detach": "was cut off by detach()",
    "inference_mode": "was computed inside inference_mode(), where nothing is recorded",
    "integer": "became an integer, which has no derivative",
    "item": "became a Python number, which has no history",
    "no_grad": "was computed where nothing is recorded, as inside no_grad()",
    "not differentiable": "went through an op that has no derivative",
    "numpy": "went through NumPy, which records nothing",
    "sampled": "only set the odds of a random draw, which has no derivative",
    "shared": "is in the memory of another leaf, as nn.Parameter(x) is, which has no history",
}

_FIX = {
    "boolean": "use a smooth stand-in (sigmoid, softmax), or where() with differentiable branches",
    "copied": "use the tensor itself; join tensors with stack() or cat()",
    "create_graph": "pass create_graph=True to grad()",
    "data": "use the tensor itself instead of its .data",
    "detach": "leave detach() out if the gradient is wanted here",
    "inference_mode": "compute it outside inference_mode()",
    "integer": "stay in floating point; for a choice among values use softmax or gather()",
    "item": "use the tensor itself instead of item() or float()",
    "no_grad": "compute it outside no_grad()",
    "not differentiable": "use an op with a derivative, or write an autograd.Function",
    "numpy": "use the functions of tensors instead of NumPy's, or write an autograd.Function",
    "sampled": "draw the noise first and compute with it: mean + std * randn_like(std)",
    "shared": "use the tensor itself; a leaf that shares its memory gets a gradient of its own",
}


def _path(title: str, points: Sequence[Point], most: int = 12) -> Section | None:
    if not points:
        return None
    lines = [str(each) for each in points]
    if len(lines) > most:
        half = most // 2
        lines = [*lines[:half], f"… {len(lines) - most} more …", *lines[-half:]]
    return Section(title, tuple(lines))


def _evidence(cut: Cut) -> dict[str, Any]:
    def plain(points: Sequence[Point]) -> list[dict[str, Any]]:
        return [{"op": each.op, "where": place(each.where)} for each in points]

    return {
        "certain": cut.certain,
        "way_out": plain(cut.way_out),
        "outside": plain(cut.outside),
        "way_back": plain(cut.way_back),
    }


def _departed(found: Connection, question: str) -> Answer | None:
    """A number that went out, and a line of the loss that computes with what became of it."""
    for each in found.departures:
        if each.used_at is not None:
            sections = [
                _path(f"from {found.x.name}, as far as the graph goes", each.way_out),
                Section("used again, as the source code shows", (str(each.used_at),)),
            ]
            return Answer(
                question,
                each.kind,
                f"the value of {found.x.name} {_HOW[each.kind]}",
                each.where,
                fix=_FIX[each.kind],
                sections=tuple(section for section in sections if section is not None),
            )
    return None


def _unused(found: Connection, question: str) -> Answer:
    x, loss = found.x, found.loss
    if found.recorded is False:
        return Answer(
            question,
            "no path",
            f"no gradient of {loss.name} reaches {x.name}: it was not used, or cut off on the way; "
            "which one is not known, because the computation was not recorded",
            fix="compute the loss inside `with whygrad.torch.record():` and ask again",
            sections=tuple(_around(found)),
            evidence={"leaves": list(found.loss_leaves)},
        )
    why = f"no recorded op leads from {x.name} to {loss.name}"
    if found.recorded:
        why = f"in what was recorded, no op leads from {x.name} to {loss.name}"
    if not loss.requires_grad:
        why = f"{loss.name} has no history, and {why}"
    if found.forgotten:
        why += "; what became of values outside the graph is remembered in part only"
    elif found.departures:
        why += f"; numbers computed from {x.name} were handed to Python, see the report"
    return Answer(
        question,
        "unused",
        why,
        loss.where,
        fix=f"use {x.name} in the computation of {loss.name}, or leave it out of the optimizer",
        sections=tuple(_around(found)),
        evidence={"leaves": list(found.loss_leaves)},
    )


def _around(found: Connection) -> Iterator[Section]:
    if found.loss_leaves:
        yield Section(f"what {found.loss.name} depends on", tuple(found.loss_leaves))
    if found.departures:
        yield Section(
            f"where numbers computed from {found.x.name} were read; a gradient would stop there",
            tuple(_departure(each) for each in found.departures),
        )
    if found.x.has_gradient:
        yield Section(f"the .grad that {found.x.name} has", ("does not come from this loss",))
    elif found.x.is_leaf and found.x.where is not None:
        since = (str(found.x.where), "what was computed from it before counts as a constant")
        yield Section(f"{found.x.name} requires grad since", since)


def _departure(each: Departure) -> str:
    return f"{each.op}()" if each.where is None else f"{each.op + '()':<12} {each.where}"
