"""Parameters that no gradient reaches: they are not used, or the way to the loss is cut.

Both look the same from outside: ``.grad`` is None and the value never changes.  Which of them it
is, is read off the graph of the first passes (``why_none``) and off the calls of the step.  What no
optimizer was given is no concern here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.unused import has_a_line, is_handed_out, is_used_in_another
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.cuts import CUTS, connected, way_out
from whygrad.doctor.rules.half_cut import half_cut
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import listed
from whygrad.doctor.source.lines import assigned, switched_off, turned_off
from whygrad.doctor.source.statements import given_back_to
from whygrad.ops.families import COMPARISONS, DETACHES, LEAVING, LINEAR, MUL, POSITIONS, STEPS
from whygrad.recording.calls import RecordedCall, members
from whygrad.recording.record import Course, Parameter, Snapshot
from whygrad.source import Where

__all__ = ["NO_HISTORY", "groups"]

_UNCONNECTED = ("unused", "no path")
_NO_GRAD = ("no_grad", "inference_mode")
_FLAT = COMPARISONS | POSITIONS | STEPS | DETACHES
NO_HISTORY = "does not require grad"  # what both engines say of a loss without a graph


@rule(
    thresholds={
        "updates": (4, "without a gradient: a part may not have had its turn yet"),
        "without": (0.7, "of what ignoring the input costs: below it, a part that is left aside …"),
        "well without": (
            0.3,
            "… and below this, one that is computed, or of which nothing is said, is not missed",
        ),
    },
    cleared=lambda case: _all_reached(case),
)
def disconnected_parameter(case: Case) -> Iterator[Finding]:
    """Parameters that the loss does not depend on.

    The optimizer holds parameters that take no part in computing the loss. They keep their
    initial values for ever: the layer they belong to does nothing, and what it was meant to
    learn is not learned.

    Measured: Parameters of an optimizer whose gradient was None at every update, and from
    which, in the graph of the first passes, no path leads to the loss. Not so a part that the
    program calls on another line, or is handed and drops, where the run has learned without it.
    Fix: Use the layer in forward(), or remove it.
    Guardrail: assert all(p.grad is not None for p in model.parameters() if p.requires_grad)
    """
    starved = [
        each
        for each in _starved(case, case.limit("updates"))
        if each.none_because is not None
        and each.none_because.cause in _UNCONNECTED
        and _cut(case, each) is None
    ]
    starved = [] if _chooses_parts(case) else [each for each in starved if _misses(case, each)]
    if not starved:
        return
    names = list(groups(case, starved))
    where, called = _assignment(case, starved[0]), _last_use(case, starved)
    dropped = None if called is None else given_back_to(called)
    hint = "look for a variable that is computed and never used, or for another layer called in "
    hint += "its place"
    if called is not None and dropped is not None:
        hint = f"line {dropped.line} calls {called.code.co_name}(), and what that returns is lost"
    amount = sum(each.tensor.numel() for each in starved)
    yield disconnected_parameter.finding(
        f"{len(starved)} parameters ({amount} values) of {listed(names)} had no gradient at "
        f"any of {_updates(case, starved[0])} updates",
        "no path in the graph leads from them to the loss"
        + (": their output is computed and dropped" if called else ", and nothing uses them"),
        where=where,
        proof=Proof.RECORDED,
        parameters=[each.name for each in starved],
        places=[("last used here", called), ("what comes back here is not used", dropped)],
        data={"left over": called is None and not _has_a_stand_in(case, starved)},
        fix=f"Use {listed(names)} in the computation of the loss: {hint}. If it is not needed, "
        "remove it.",
    )


@rule(
    severity=3,
    thresholds={
        "updates": (1, "without a gradient: the cut itself was seen"),
        "own updates": (4, "without one, where another loss has some: it may wait for its turn"),
        "time steps": (3, "before the one that learns: one or two may be a warm-up"),
    },
    cleared=lambda case: _all_reached(case),
)
def detached_graph(case: Case) -> Iterator[Finding]:
    """The graph is cut between parameters and loss.

    Values computed from parameters reach the loss, but on the way they leave the graph: through
    detach(), no_grad(), NumPy, a Python number or a new tensor made from them. The loss looks
    right and no gradient gets back past that line, so what lies before it does not learn.

    Measured: Parameters of an optimizer that got no gradient, or none at its own updates, and the
    op on the way from them to the loss whose result has no history. Or: a derivative of what is
    trained, in the formula of the loss, that was taken without create_graph; a recurrence over
    inputs of which only the last step learns; an encoder that the reconstruction does not reach; a
    term about what was drawn whose gradient ends in a model that is not updated by it.
    Fix: Compute with the tensor itself, inside the graph.
    Guardrail: assert all(p.grad is not None for p in model.parameters() if p.requires_grad)
    """
    by_line: dict[tuple[str, Any], list[tuple[Parameter, str, Where | None]]] = {}
    for each in _starved(case, case.limit("updates")):
        cut = _cut(case, each)
        if cut is not None:
            kind, where = cut
            by_line.setdefault((kind, where and where.line), []).append((each, kind, where))
    if not by_line:
        yield from _no_longer_recorded(case)
        yield from _constant_derivative(case)
        yield from (detached_graph.finding(*told, **facts) for told, facts in half_cut(case))
        return
    lost = max(by_line.values(), key=len)
    _, kind, where = lost[0]
    numbers = all(each.tensor.numel() == 1 for group in by_line.values() for each, *_ in group)
    names = list(groups(case, [each for each, *_ in lost]))
    everything = not any(each.reached for each in case.parameters() if each.optimizers)
    yield detached_graph.finding(
        f"what is computed from {listed(names)} is {CUTS[kind][0]} before it reaches the loss",
        f"{len(lost)} parameters had no gradient at any of {_updates(case, lost[0][0])} updates"
        + (": none of the optimizer's parameters did" if everything else ""),
        where=where,
        proof=Proof.RECORDED,
        parameters=[each.name for each, *_ in lost],
        fix=_reconnected(case, lost[0][0], kind, where, names),
        places=[
            (f"cut on another way ({CUTS[kind][0]})", where)
            for (_, kind, where), *_ in by_line.values()
            if (kind, where) != (lost[0][1], lost[0][2])
        ],
        remedy=connected(_own_step(case, lost[0][0]), where),
        data={"left over": numbers and kind == "item"},  # a setting that is kept as a parameter
    )


def _reconnected(
    case: Case, parameter: Parameter, kind: str, where: Where | None, names: list[str]
) -> str:
    """What to do about a cut; one that another loss needs has to stay, as in a GAN."""
    own = _own_step(case, parameter)
    others = [each for each in case.courses if each.optimizer.number not in parameter.optimizers]
    if kind != "detach" or not others or own is None or own.loss is None or where is None:
        return way_out(kind, where, names)
    line = own.calls[own.loss.call].where.line if own.loss.call in own.calls else None
    return (
        f"The loss{'' if line is None else f' at line {line}'} is to train {listed(names)}: give "
        f"it what goes into .detach() at line {where.line}, not what comes out. For the loss of "
        "the other optimizer the cut may stay."
    )


def _no_longer_recorded(case: Case) -> Iterator[Finding]:
    """The first passes had a graph, and then one has none: recording was switched off for good."""
    for each in case.run.passes:
        if each.error is None or NO_HISTORY not in str(each.error) or each.number == 0:
            continue
        if not any(parameter.requires_grad for parameter in case.parameters()):
            return
        where = turned_off(each.where.file) or each.where
        yield detached_graph.finding(
            f"{each.number} passes had a graph, the next loss has none: nothing was recorded",
            where=where,
            step=each.number,
            proof=Proof.RAISED,
            places=[("backward() failed here", each.where)],
            fix="Use the context manager, which ends: with torch.no_grad(): … around evaluation.",
        )


def _constant_derivative(case: Case) -> Iterator[Finding]:
    """A derivative of what is trained, in the loss at the first step and at the last, as a number.

    One that changes the input of a model, or its weights, may be meant so, and one that says how
    much a sample counts; one in a formula of the loss asks for its own gradient.
    """
    for course in case.courses:
        trained = {id(each.tensor) for each in course.parameters}
        found = [_in_the_formula(case, each, trained) for each in (course.first, course.last)]
        if found[0] is None or found[1] is None:
            continue
        yield detached_graph.finding(
            "`autograd.grad` is asked without create_graph=True, and what it returns goes into "
            "the loss: as a constant, through which no gradient reaches the parameters",
            where=found[0],
            proof=Proof.RECORDED,
            fix="torch.autograd.grad(…, create_graph=True): then the derivative has a history too.",
        )
        return


def _in_the_formula(case: Case, snapshot: Snapshot | None, trained: set[int]) -> Where | None:
    """Where a derivative without history was taken that the loss is computed from, by no layer."""
    if snapshot is None or snapshot.loss is None:
        return None
    made: dict[int, Where] = {}
    learned: set[int] = set()  # calls that something trained went into
    given: set[Where] = set()  # lines of derivatives that went into layers: changed inputs
    for number, call in snapshot.calls.items():
        before = [source.call for source in call.sources()]
        leaves = list(_leaves_of(call, snapshot.engine.tensor))
        if learned & set(before) or any(id(each) in trained for each in leaves):
            learned.add(number)
        lines = [made[each] for each in before if each in made]
        for each in leaves:
            known = case.run.derivatives.get(id(each))
            if known is not None and known.tensor() is each and known.leaves & trained:
                lines.append(known.where)
        if call.op == "grad" and number in learned and not call.kwargs.get("create_graph"):
            lines.append(call.where)
        others = learned.intersection(before) - made.keys()
        if call.op in MUL and others:
            continue  # a weight of what is learned: how much a sample counts is no formula
        if lines and call.op not in LINEAR:
            made[number] = lines[0]
        elif call.op in LINEAR:
            given.update(lines)
    found = made.get(snapshot.loss.call)
    return None if found in given else found


# --- who is starved -------------------------------------------------------------------------------


def _starved(case: Case, updates: float) -> list[Parameter]:
    """Parameters an optimizer is to train that required grad and never had one."""
    run = case.run
    trained = [each for each in run.courses if len(each.steps) >= updates]
    hopeless = any(NO_HISTORY in str(each.error) for each in run.passes if each.error)
    numbers = {each.optimizer.number for each in (run.courses if hopeless else trained)}
    fed = {name for course in run.courses for name in _fed(course)}
    return [
        each
        for each in case.parameters()
        if (numbers & set(each.optimizers) or (hopeless and not run.courses))
        and each.requires_grad
        and not each.reached
        and not each.changed
        and each.name not in fed
    ]


def _fed(course: Course) -> set[str]:
    """The parameters that had a gradient at some update."""
    return {
        name for step in course.steps for name, size in step.gradients.items() if size is not None
    }


def _chooses_parts(case: Case) -> bool:
    """Whether the program trains other parts at other steps: one may not have had its turn."""
    for course in case.courses:
        missed = {
            name for step in course.steps for name, size in step.gradients.items() if size is None
        }
        if missed & _fed(course):
            return True
    return False


def _misses(case: Case, parameter: Parameter) -> bool:
    """Whether a part that no loss depends on is missed: not so a head that is left aside."""
    if is_used_in_another(case, parameter) or _is_at_the_last_block(case, parameter):
        return False
    snapshot = _first_step(case)
    calls = [] if snapshot is None else _computed_from(snapshot, parameter.tensor)
    aside = is_handed_out(snapshot, calls) if calls else has_a_line(case, parameter)
    if not aside and (calls or _fits_between(case, parameter)):
        return True
    own = [each for each in case.courses if each.optimizer.number in parameter.optimizers]
    part = case.limit("without" if aside and not calls else "well without")
    return any(case.progress(each).broken or unlearned(case, each, part) for each in own)


def _has_a_stand_in(case: Case, starved: list[Parameter]) -> bool:
    """Whether a layer like one of these is used twice: perhaps once in its place."""
    snapshot = _first_step(case)
    shapes = {tuple(each.tensor.shape) for each in starved if each.tensor.ndim > 1}
    if snapshot is None:
        return False
    used = Counter(
        id(leaf)
        for call in _in_order(snapshot)
        if call.op in LINEAR
        for leaf in _leaves_of(call, snapshot.engine.tensor)
    )
    alike = (it for it in case.parameters() if it.reached and tuple(it.tensor.shape) in shapes)
    return any(used[id(each.tensor)] > 1 for each in alike)


def _is_at_the_last_block(case: Case, parameter: Parameter) -> bool:
    """Whether the blocks before use this part, for what only another block would take.

    The last of them is used otherwise: what it hands to the next one is not needed.
    """
    reached = [each.name for each in case.parameters() if each.reached]
    names = [each.name for each in case.parameters()]
    parts = parameter.name.split(".")
    for place, part in enumerate(parts[:-1]):
        if not part.isdigit():
            continue
        before, behind = ".".join(parts[:place]), ".".join(parts[place + 1 :])
        block, following = f"{before}.{part}.", f"{before}.{int(part) + 1}."
        others = [f"{before}.{number}.{behind}" for number in range(int(part))]
        last = not any(each.startswith(following) for each in names)
        if last and others and set(others) <= set(reached):
            return any(each.startswith(block) for each in reached)
    return False


def _fits_between(case: Case, parameter: Parameter) -> bool:
    """Whether a layer in use could take what this one answers: a head has an end of its own."""
    width = parameter.tensor.shape[0] if parameter.tensor.ndim else 0
    used = [each.tensor for each in case.parameters() if each.reached and each.tensor.ndim > 1]
    return any(each.shape[1] == width for each in used)


def _cut(case: Case, parameter: Parameter) -> tuple[str, Where | None] | None:
    """How and where the way from a parameter to the loss is cut, if it is."""
    answer = parameter.none_because
    if answer is None:
        return None
    if answer.cause in CUTS:
        where = answer.where
        if answer.cause in _NO_GRAD and where is not None:
            where = switched_off(where) or where
        return answer.cause, where
    if answer.cause in _UNCONNECTED:
        return _departure(case, parameter) or _by_value_alone(case, parameter)
    return None


def _by_value_alone(case: Case, parameter: Parameter) -> tuple[str, Where] | None:
    """The choice by which a loss gets a parameter's value and no path to it.

    So it is where a loss without a graph was told to require grad: no exception says it then.
    """
    snapshot = _first_step(case)
    calls = [] if snapshot is None else _computed_from(snapshot, parameter.tensor)
    if snapshot is None or snapshot.loss is None:
        return None
    if snapshot.loss.call not in {each.number for each in calls}:
        return None
    first = next((each for each in calls if each.op in _FLAT), None)
    if first is None:
        return None
    kind = "boolean" if first.op in COMPARISONS else "integer"
    return ("detach" if first.op in DETACHES else kind), first.where


def _departure(case: Case, parameter: Parameter) -> tuple[str, Where] | None:
    """A value of the parameter's that went to NumPy or Python while the loss got a new tensor."""
    snapshot = _first_step(case)
    if snapshot is None:
        return None
    calls = _computed_from(snapshot, parameter.tensor)
    left = [call for call in calls if call.op in LEAVING and call.op != "bool"]
    # From what is detached, what goes to NumPy next is not computed within the graph.
    if not left and calls and calls[-1].op in DETACHES:
        left = calls[-1:]
    if not left:
        return None
    first = left[0]
    if _new_tensors(snapshot, first.number) or not any(each.reached for each in case.parameters()):
        return ("item" if first.op in ("item", "float", "int") else "numpy"), first.where
    return None


def _first_step(case: Case) -> Snapshot | None:
    first = case.run.passes[0].snapshot if case.run.passes else None
    return first or case.first or case.run.last_snapshot


def _in_order(snapshot: Snapshot) -> list[RecordedCall]:
    return sorted((*snapshot.calls.values(), *snapshot.loose), key=lambda call: call.number)


def _computed_from(snapshot: Snapshot, tensor: Any) -> list[RecordedCall]:
    """The calls of a step that a tensor takes part in, itself or by what was made of it."""
    numbers: set[int] = set()
    found = []
    for call in _in_order(snapshot):
        given = any(each is tensor for each in _leaves_of(call, snapshot.engine.tensor))
        if given or any(source.call in numbers for source in call.sources()):
            numbers.add(call.number)
            found.append(call)
    written = all(each.writes or each.op == "data" or each.op in DETACHES for each in found)
    return [] if written else found  # it only got its first values


def _leaves_of(call: RecordedCall, kind: type) -> Iterator[Any]:
    """The tensors among a call's arguments that no earlier call made."""
    return (each for each in members([call.args, call.kwargs]) if isinstance(each, kind))


def _new_tensors(snapshot: Snapshot, after: int) -> bool:
    """Whether layers were given constants that nothing before a call had used.

    What a loss function is given does not count: targets come from elsewhere.
    """
    kind = snapshot.engine.tensor
    known = {
        id(each)
        for call in _in_order(snapshot)
        if call.number <= after
        for each in _leaves_of(call, kind)
    }
    known |= {id(each) for mark in snapshot.marks if mark.depth == 0 and mark.before <= after
              for each in (mark.inputs or ()) if isinstance(each, kind)}  # fmt: skip
    return any(
        id(each) not in known and not each.requires_grad
        for call in snapshot.calls.values()
        if call.number > after and call.module
        for each in _leaves_of(call, kind)
    )


# --- words ----------------------------------------------------------------------------------------


def groups(case: Case, parameters: list[Parameter]) -> dict[str, list[Parameter]]:
    """Parameters by the largest module that they are all of."""
    chosen = {id(each.tensor) for each in parameters}
    found: dict[str, list[Parameter]] = {}
    for each in parameters:
        found.setdefault(_home(case, each, chosen) or each.name, []).append(each)
    return found


def _home(case: Case, parameter: Parameter, chosen: set[int]) -> str | None:
    """The path of the largest module that holds the parameter and none that is not chosen."""
    for name, root, _ in case.run.roots:
        for path, module in root.named_modules():
            inside = {id(each) for each in module.parameters()}
            if id(parameter.tensor) in inside and inside <= chosen:
                return f"{name}.{path}" if path[:1].isdigit() else str(path or name)
    return None


def _assignment(case: Case, parameter: Parameter) -> Where | None:
    """The line in the program's own class that makes the layer a parameter belongs to."""
    chosen = {id(parameter.tensor)}
    for _, root, _ in case.run.roots:
        for module in root.modules():
            for name, child in (*module.named_children(), *module.named_parameters(recurse=False)):
                own = [child] if not hasattr(child, "parameters") else list(child.parameters())
                if chosen & {id(each) for each in own}:
                    where = assigned(module, name)
                    if where is not None:
                        return where
    return parameter.made_at


def _last_use(case: Case, parameters: list[Parameter]) -> Where | None:
    """The last line of the first step that computes with one of these parameters."""
    snapshot = _first_step(case)
    if snapshot is None:
        return None
    calls = [call for each in parameters for call in _computed_from(snapshot, each.tensor)]
    return max(calls, key=lambda call: call.number).where if calls else None


def _updates(case: Case, parameter: Parameter) -> int:
    """How many updates the optimizers of a parameter made."""
    held = [each for each in case.courses if each.optimizer.number in parameter.optimizers]
    return sum(len(course.steps) for course in held or case.courses)


def _own_step(case: Case, parameter: Parameter) -> Snapshot | None:
    """The first step of the optimizer that is to train a parameter."""
    for course in case.courses:
        if course.optimizer.number in parameter.optimizers and course.first is not None:
            return course.first
    return _first_step(case)


def _all_reached(case: Case) -> str | None:
    trained = [each for each in case.parameters() if each.optimizers and each.requires_grad]
    if trained and all(each.reached for each in trained):
        return f"each of {len(trained)} parameters of the optimizers got a gradient"
    return None
