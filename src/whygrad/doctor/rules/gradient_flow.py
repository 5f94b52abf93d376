"""Parameters that no gradient reaches: unused, cut off, or frozen.

All three look the same from outside: ``.grad`` is None and the value never changes.  Which of them
it is, is read off the graph of the first passes (``why_none``), off the calls of the step, and off
the lines that switched ``requires_grad``.  What an optimizer was not given is no concern here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from whygrad.autograd.source import Where
from whygrad.doctor.case import Case
from whygrad.doctor.listing import assigned, set_on, switched_off
from whygrad.doctor.record import Course, Parameter, Snapshot
from whygrad.doctor.repairs import repair, unlearned
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.tape import Call, Produced
from whygrad.doctor.vocabulary import LEAVING

__all__: list[str] = []

_NO_LEARNING = (
    "class-imbalance", "constant-output", "loss-plateau", "lr-too-low", "shuffled-labels",
    "under-trained", "vanishing-gradient",
)  # fmt: skip
_CUTS = {
    "boolean": "turned into True or False",
    "copied": "copied into a new tensor",
    "create_graph": "taken from grad() without create_graph=True",
    "data": "read through .data",
    "detach": "cut off by detach()",
    "inference_mode": "computed inside inference_mode()",
    "integer": "turned into an integer",
    "item": "turned into a Python number",
    "no_grad": "computed inside no_grad()",
    "not differentiable": "passed through an op without a derivative",
    "numpy": "sent through NumPy",
    "sampled": "used only to draw random numbers",
    "shared": "wrapped into a new leaf",
}
_NO_GRAD = ("no_grad", "inference_mode")
_NO_HISTORY = "does not require grad"  # what both engines say of a loss without a graph


@rule(
    id="disconnected-parameter",
    severity=2,
    title="Parameters that the loss does not depend on",
    meaning=(
        "The optimizer holds parameters that take no part in computing the loss. They keep their "
        "initial values for ever: the layer they belong to does nothing, and what it was meant "
        "to learn is not learned."
    ),
    measured=(
        "Parameters of an optimizer whose gradient was None at every update, and from which, in "
        "the graph of the first passes, no path leads to the loss."
    ),
    fix="Use the layer in forward(), or remove it.",
    guardrail="assert all(p.grad is not None for p in model.parameters() if p.requires_grad)",
    explains=_NO_LEARNING,
    thresholds={"updates": 4},
    cleared=lambda case: _all_reached(case),
)  # fmt: skip
def disconnected_parameter(case: Case) -> Iterator[Finding]:
    starved = [each for each in _starved(case, case.limit("updates")) if _cut(case, each) is None]
    starved = [each for each in starved if _is_disconnected(each)]
    if not starved or _chooses_parts(case):
        return
    groups = _groups(case, starved)
    names = list(groups)
    where, called = _assignment(case, starved[0]), _last_use(case, starved)
    amount = sum(each.tensor.numel() for each in starved)
    yield disconnected_parameter.finding(
        where=where,
        step=0,
        confidence=0.9,
        parameters=[each.name for each in starved],
        evidence=[
            f"{len(starved)} parameters ({amount} values) of {_listed(names)} had no gradient at "
            f"any of {_updates(case)} updates",
            "no path in the graph leads from them to the loss"
            + (": their output is computed and dropped" if called else ", and nothing uses them"),
        ],
        places=[("last used here", called)] if called else [],
        fix=f"Use {_listed(names)} in the computation of the loss: look for a variable that is "
        "computed and never used, or for another layer called in its place. If it is not needed, "
        "remove it.",
    )


@rule(
    id="detached-graph",
    severity=3,
    title="The graph is cut between parameters and loss",
    meaning=(
        "Values computed from parameters reach the loss, but on the way they leave the graph: "
        "through detach(), no_grad(), NumPy, a Python number or a new tensor made from them. The "
        "loss looks right and no gradient gets back past that line, so what lies before it does "
        "not learn."
    ),
    measured=(
        "Parameters of an optimizer that got no gradient, and the op on the way from them to the "
        "loss whose result has no history."
    ),
    fix="Compute with the tensor itself, inside the graph.",
    guardrail="assert all(p.grad is not None for p in model.parameters() if p.requires_grad)",
    explains=("disconnected-parameter", "missing-step", *_NO_LEARNING),
    thresholds={"updates": 1},
    cleared=lambda case: _all_reached(case),
)  # fmt: skip
def detached_graph(case: Case) -> Iterator[Finding]:
    by_line: dict[tuple[str, Any], list[tuple[Parameter, str, Where | None]]] = {}
    for each in _starved(case, case.limit("updates")):
        cut = _cut(case, each)
        if cut is not None:
            kind, where = cut
            by_line.setdefault((kind, where and where.line), []).append((each, kind, where))
    if not by_line:
        return
    lost = max(by_line.values(), key=len)
    _, kind, where = lost[0]
    names = list(_groups(case, [each for each, *_ in lost]))
    everything = not any(each.reached for each in case.parameters() if each.optimizers)
    yield detached_graph.finding(
        where=where,
        step=0,
        confidence=0.95,
        parameters=[each.name for each, *_ in lost],
        evidence=[
            f"what is computed from {_listed(names)} is {_CUTS[kind]} before it reaches the loss",
            f"{len(lost)} parameters had no gradient at any of {_updates(case)} updates"
            + (": none of the optimizer's parameters did" if everything else ""),
        ],
        fix=_repair_of_cut(kind, names),
        places=[(f"cut on another way ({_CUTS[other[0][1]]})", other[0][2])
                for other in by_line.values() if other is not lost and other[0][2] is not None],
    )  # fmt: skip


@rule(
    id="frozen-parameter",
    severity=2,
    title="Parameters that are to be trained are frozen",
    meaning=(
        "requires_grad is False for parameters that the program goes on to train. The optimizer "
        "skips them without a word, and they stay what they were."
    ),
    measured=(
        "Parameters of an optimizer with requires_grad=False, where all of them are, where a "
        "module (which ignores it) was told requires_grad = True, where a plain tensor was "
        "handed to the optimizer, or where nothing is learned until they are trained as well."
    ),
    fix="Call requires_grad_(True) on the module before the optimizer is used.",
    guardrail="assert any(p.requires_grad for group in optimizer.param_groups for p in group['params'])",
    explains=("detached-graph", "disconnected-parameter", "missing-step", *_NO_LEARNING),
    thresholds={"unlearned": 0.6, "better": 0.4},
    cleared=lambda case: _none_frozen(case),
)  # fmt: skip
def frozen_parameter(case: Case) -> Iterator[Finding]:
    for course in case.run.courses:
        frozen = [each for each in course.parameters if not each.requires_grad]
        if not frozen or course.optimizer.thing is None or not case.run.passes:
            continue
        found = (
            _told_the_module(case, frozen)
            or _all_frozen(case, course, frozen)
            or _plain_tensors(case, course, frozen)
            or _needed(case, course, frozen)
        )
        if found is not None:
            yield found
            return


# --- who is starved -------------------------------------------------------------------------------


def _starved(case: Case, updates: float) -> list[Parameter]:
    """Parameters an optimizer is to train that required grad and never had one."""
    run = case.run
    trained = [each for each in run.courses if len(each.steps) >= updates]
    hopeless = any(_NO_HISTORY in str(each.error) for each in run.passes if each.error)
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


def _is_disconnected(parameter: Parameter) -> bool:
    answer = parameter.none_because
    return answer is not None and answer.cause in ("unused", "no path")


def _cut(case: Case, parameter: Parameter) -> tuple[str, Where | None] | None:
    """How and where the way from a parameter to the loss is cut, if it is."""
    answer = parameter.none_because
    if answer is None:
        return None
    if answer.cause in _CUTS:
        where = answer.where
        if answer.cause in _NO_GRAD and where is not None:
            where = switched_off(where) or where
        return answer.cause, where
    if answer.cause in ("unused", "no path"):
        return _departure(case, parameter)
    return None


def _departure(case: Case, parameter: Parameter) -> tuple[str, Where] | None:
    """A value of the parameter's that went to NumPy or Python while the loss got a new tensor."""
    snapshot = _first_step(case)
    if snapshot is None:
        return None
    left = [
        call
        for call in _computed_from(snapshot, parameter.tensor)
        if call.op in LEAVING and call.op != "bool"
    ]
    if not left:
        return None
    first = left[0]
    if _new_tensors(snapshot, first.number) or not any(each.reached for each in case.parameters()):
        return ("item" if first.op in ("item", "float", "int") else "numpy"), first.where
    return None


def _first_step(case: Case) -> Snapshot | None:
    first = case.run.passes[0].snapshot if case.run.passes else None
    return first or case.first or case.run.last_snapshot


def _in_order(snapshot: Snapshot) -> list[Call]:
    return sorted((*snapshot.calls.values(), *snapshot.loose), key=lambda call: call.number)


def _computed_from(snapshot: Snapshot, tensor: Any) -> list[Call]:
    """The calls of a step that a tensor takes part in, itself or by what was made of it."""
    numbers: set[int] = set()
    found = []
    for call in _in_order(snapshot):
        given = any(each is tensor for each in _leaves_of(call, snapshot.engine.tensor))
        if given or any(source.call in numbers for source in call.sources()):
            numbers.add(call.number)
            found.append(call)
    return found


def _leaves_of(call: Call, kind: type) -> Iterator[Any]:
    """The tensors among a call's arguments that no earlier call made."""
    waiting = [*call.args, *call.kwargs.values()]
    while waiting:
        each = waiting.pop()
        if isinstance(each, kind):
            yield each
        elif isinstance(each, (list, tuple)) and type(each) is not Produced:
            waiting.extend(each)


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
    given = {id(each) for mark in snapshot.marks if mark.depth == 0
             for each in (mark.inputs or ()) if isinstance(each, kind)}  # fmt: skip
    return any(
        id(each) not in known and id(each) not in given and not each.requires_grad
        for call in snapshot.calls.values()
        if call.number > after and call.module
        for each in _leaves_of(call, kind)
    )


# --- words ----------------------------------------------------------------------------------------


def _groups(case: Case, parameters: list[Parameter]) -> dict[str, list[Parameter]]:
    """Parameters by the largest module that they are all of."""
    chosen = {id(each.tensor) for each in parameters}
    found: dict[str, list[Parameter]] = {}
    for each in parameters:
        found.setdefault(_home(case, each, chosen) or each.name, []).append(each)
    return found


def _home(case: Case, parameter: Parameter, chosen: set[int]) -> str | None:
    """The path of the largest module that holds the parameter and none that is not chosen."""
    for _, root, _ in case.run.roots:
        for path, module in root.named_modules():
            inside = {id(each) for each in module.parameters()}
            if path and id(parameter.tensor) in inside and inside <= chosen:
                return str(path)
    return None


def _assignment(case: Case, parameter: Parameter) -> Where | None:
    """The line in the program's own class that makes the layer a parameter belongs to."""
    chosen = {id(parameter.tensor)}
    for _, root, _ in case.run.roots:
        for path, module in root.named_modules():
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


def _repair_of_cut(kind: str, names: list[str]) -> str:
    what = _listed(names)
    if kind in _NO_GRAD:
        return f"Compute {what} outside {kind}(): keep it for evaluation only."
    if kind == "numpy":
        return "Use the tensor functions (torch.exp instead of np.exp), or an autograd.Function."
    if kind in ("item", "copied"):
        return "Keep the tensors: torch.stack(losses).mean() instead of item() and torch.tensor()."
    if kind in ("detach", "data"):
        return f"Leave out .{kind}{'()' if kind == 'detach' else ''}, so that {what} can learn."
    if kind in ("boolean", "integer", "not differentiable"):
        return "Use something with a slope in the loss: softmax or sigmoid instead of a choice."
    if kind == "sampled":
        return "Draw the noise apart and compute with it: mean + std * torch.randn_like(std)."
    return "Compute with the tensor itself: a new one made from its values has no history."


def _listed(names: list[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _updates(case: Case) -> int:
    return sum(len(course.steps) for course in case.courses)


def _all_reached(case: Case) -> str | None:
    trained = [each for each in case.parameters() if each.optimizers and each.requires_grad]
    if trained and all(each.reached for each in trained):
        return f"each of {len(trained)} parameters of the optimizers got a gradient"
    return None


# --- the kinds of frozen --------------------------------------------------------------------------


def _told_the_module(case: Case, frozen: list[Parameter]) -> Finding | None:
    """``module.requires_grad = True`` sets an attribute that nobody reads."""
    chosen = {id(each.tensor) for each in frozen}
    for name, root, _ in case.run.roots:
        for path, module in root.named_modules():
            told = vars(module).get("requires_grad")
            inside = {id(each) for each in module.parameters()} & chosen
            if told is not True or not inside:
                continue
            file = _script(case, frozen[0])
            owner = path.rpartition(".")[2] or name
            where = None if file is None else set_on(file, "requires_grad", owner)
            return frozen_parameter.finding(
                where=where or frozen[0].frozen_at,
                step=0,
                confidence=0.97,
                parameters=[each.name for each in frozen],
                evidence=[
                    f"{path or name}.requires_grad = True sets a plain attribute of the module: "
                    f"its {len(inside)} parameters still have requires_grad=False"
                ],
                places=_frozen_here(frozen),
                fix=f"{path or name}.requires_grad_(True)  # with the underscore: all parameters",
            )
    return None


def _all_frozen(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """Everything that this optimizer could change is frozen, and it goes on all the same."""
    if len(frozen) < len(course.parameters):
        return None
    idle = course.steps and all(size is None for size in course.steps[-1].gradients.values())
    failed = any(_NO_HISTORY in str(each.error) for each in case.run.passes if each.error)
    if not (idle or (failed and not course.steps)):
        return None
    where = frozen[-1].frozen_at or frozen[-1].made_at or course.optimizer.made_at
    return frozen_parameter.finding(
        where=where,
        step=0,
        confidence=0.95,
        parameters=[each.name for each in frozen],
        evidence=[
            f"all {len(frozen)} parameters of {course.optimizer.kind} have requires_grad=False: "
            "there is nothing it could change"
        ],
        fix="Freeze before the new layers are made, or only the part that is to stay: "
        "model.backbone.requires_grad_(False).",
    )


def _plain_tensors(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """A tensor that never required grad was handed to the optimizer."""
    engine = case.run.engine
    kind: Any = None if engine is None else engine.namespace.nn.Parameter  # type: ignore[attr-defined]
    plain = [
        each
        for each in frozen
        if kind is not None and not isinstance(each.tensor, kind) and each.frozen_at is None
    ]
    if not plain or any(each.changed for each in plain):
        return None
    return frozen_parameter.finding(
        where=plain[0].made_at or course.optimizer.made_at,
        step=0,
        confidence=0.9,
        parameters=[each.name for each in plain],
        evidence=[
            f"{_listed([each.name for each in plain])} was given to {course.optimizer.kind}, but "
            "was made without requires_grad=True and never had a gradient"
        ],
        places=[] if course.optimizer.made_at is None else [
            ("handed to the optimizer here", course.optimizer.made_at)],
        fix=f"Make it with requires_grad=True: {plain[0].name}.requires_grad_() before the loop.",
    )  # fmt: skip


def _needed(case: Case, course: Course, frozen: list[Parameter]) -> Finding | None:
    """Frozen at their random values, and nothing is learned unless they are trained as well."""
    untrained = [each for each in frozen if not (each.changed or each.reached)]
    snapshot = course.first
    if not untrained or snapshot is None or not unlearned(case, course, case.limit("unlearned")):
        return None
    leaves = {id(each.tensor): each.tensor for each in untrained}
    copies = {name: snapshot.engine.copy(leaf) for name, leaf in leaves.items()}
    thawed = dataclasses.replace(
        snapshot,
        values={**snapshot.values, **copies},
        leaves={**snapshot.leaves, **leaves},
    )
    arms = repair(case, course, snapshot, case.limit("better"), repaired=thawed)
    if arms is None:
        return None
    names = list(_groups(case, untrained))
    return frozen_parameter.finding(
        where=untrained[0].frozen_at or untrained[0].made_at,
        step=0,
        confidence=0.75,
        parameters=[each.name for each in untrained],
        evidence=[
            f"{_listed(names)}: requires_grad=False from the start, and never trained in this run",
            arms.told("if they are trained as well"),
        ],
        fix=f"Train {_listed(names)} as well: requires_grad_(True) before the optimizer is made.",
    )


def _frozen_here(frozen: list[Parameter]) -> list[tuple[str, Where]]:
    where = frozen[0].frozen_at
    return [] if where is None else [("frozen here", where)]


def _script(case: Case, parameter: Parameter) -> str | None:
    where = parameter.frozen_at or parameter.made_at
    return case.run.script or (None if where is None else where.file)


def _none_frozen(case: Case) -> str | None:
    held = [each for course in case.courses for each in course.parameters]
    if held and all(each.requires_grad for each in held):
        return f"all {len(held)} parameters of the optimizers require grad"
    return None
