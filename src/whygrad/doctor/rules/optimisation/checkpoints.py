"""States that are kept and put back: weights, optimizers, schedules, and models that go on."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.models import holds, trained_like
from whygrad.doctor.evidence.trained import begins_anew, differentiated_lines, training_lines
from whygrad.doctor.experiments.evaluated import by_other_weights, kept
from whygrad.doctor.rules.followers import not_followed
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import names_at
from whygrad.doctor.source.naming import held_out_name, is_chosen, says, was_to_be_chosen
from whygrad.recording.record import Course, Mark
from whygrad.source import Where

__all__: list[str] = []

_FOLDS = r"fold|cross_?val"
_FRESH = r"baseline|random|untrained|init|fresh|before|scratch|dummy"
_COUNTED = ("epoch", "step", "iter", "iteration", "global_step", "start_epoch", "epochs")


@rule(
    severity=1,
    thresholds={
        "samples": (4, "of a fold that were trained on in another one"),
        "alike": (1e-9, "of the rate: the same one"),
        "worse": (3.0, "times the loss that the trained model has on the same batches …"),
        "unknown": (0.4, "… and of what ignoring the input costs: a copy that stayed behind"),
        "late": (0.8, "of the run: a copy that is judged earlier only may have followed later"),
    },
)
def checkpoint_state(case: Case) -> Iterator[Finding]:
    """A state is not what it is taken for.

    A state_dict() is a view of the weights: without a copy it goes on changing with them, and what
    is put back in the end is the end. Momentum, running means of squares and the place in a
    schedule are state as well: a run that goes on without them begins anew. And a model that is
    used again for another fold, never got the weights, or is an average that stayed far behind
    them or lacks the statistics that belong to them, is judged for what it is not.

    Measured: Whether what load_state_dict() was given is the module's own memory, and whether any
    of its names is one of the module's; what a loaded checkpoint holds and nobody puts back;
    which of the models that are judged were trained; what training batches cost with the weights
    of a copy that is judged.
    Fix: copy.deepcopy(model.state_dict()), and put back everything that was saved.
    Guardrail: best = {k: v.detach().clone() for k, v in model.state_dict().items()}
    """
    for find in (
        _live_reference,
        _back_to_the_start,
        _nothing_loaded,
        _not_restored,
        _folds,
        _not_followed,
        _untrained,
        _left_behind,
    ):
        found = find(case)
        if found is not None:
            yield found
            return


def _live_reference(case: Case) -> Finding | None:
    for each in case.run.restored:
        if not each.own or each.taken is None or each.taken_at is None:
            continue
        since, chosen = each.after - each.taken, is_chosen(each.taken_at)
        if not since and (each.kind == "file" or not chosen):
            continue  # the latest state is meant, and that is what it is
        if not chosen and each.kind == "file":
            continue
        if each.taken_at.line == each.where.line:
            continue
        what = "put back" if each.kind == "module" else "written to a file"
        return checkpoint_state.finding(
            f"the weights that are {what} share the memory of the model",
            f"{since} training passes have changed them since they were taken"
            if since
            else "they were taken after the last pass here; any pass after that changes them",
            where=each.taken_at,
            step=each.taken,
            proof=Proof.RECORDED if since else Proof.INFERRED,
            places=[(f"{what} here", each.where)],
            fix="Take a copy: copy.deepcopy(model.state_dict()).",
        )
    return None


def _back_to_the_start(case: Case) -> Finding | None:
    """In the end the weights of before the training are put back, and the model is used."""
    passes = len(case.run.passes)
    for each in case.run.restored:
        if each.kind != "module" or not each.initial or each.after < passes or not passes:
            continue
        used = [
            mark
            for mark in case.run.inference_marks
            if mark.module is each.thing and mark.passes >= passes and mark.used
        ]
        meant = any(re.search(_FRESH, name) for name in names_at(each.where))
        if not used or meant or case.run.restored[-1] is not each:
            continue
        if not was_to_be_chosen(each.where):
            continue  # nobody meant to put anything else back
        own = [case.run.parameters.get(id(one)) for one in each.thing.parameters()]
        if not any(case.is_held(one) for one in own if one is not None):
            continue  # no optimizer has them, so that no state is another
        return checkpoint_state.finding(
            f"after {passes} training passes the weights of before the first one are put back, and "
            f"the model is used with them at line {used[-1].where.line}",
            "the state that was to be replaced by better ones was never replaced",
            where=each.where,
            step=passes,
            proof=Proof.RECORDED,
            places=[("taken here", each.taken_at), ("used here", used[-1].where)],
            fix="Look at the condition under which a better state is kept: a best loss begins at "
            "float('inf'), a best accuracy at 0.",
        )
    return None


def _nothing_loaded(case: Case) -> Finding | None:
    """A state of which no name is one of the module's: with strict=False that is no error."""
    for each in case.run.restored:
        names = [name for name, _ in each.thing.named_parameters()] if each.matched == 0 else []
        later = any(one.thing is each.thing and one.matched for one in case.run.restored)
        if not names or later or not each.keys:
            continue
        return checkpoint_state.finding(
            f"of {len(names)} parameters none was loaded: the state has {each.keys[0]!r} where the "
            f"module has {names[0]!r}",
            "the module keeps the values it was made with, and strict=False says nothing about it",
            where=each.where,
            step=each.after,
            proof=Proof.RECORDED,
            fix="Rename the keys and load with strict=True: {k.removeprefix("
            f"{_prefix(each.keys[0], names[0])!r}): v for k, v in state.items()}}.",
        )
    return None


def _prefix(key: str, name: str) -> str:
    """What stands before a name in the keys of a state."""
    return key[: -len(name)] if key.endswith(name) else key.partition(".")[0] + "."


def _not_restored(case: Case) -> Finding | None:
    restored = case.run.restored
    for each in case.run.loaded:
        weights = any(one.kind == "module" and one.after >= each.after for one in restored)
        course = _goes_on(case, each.after)
        if not weights or course is None:
            continue
        if not any(key in _COUNTED for key in each.keys) and not _as_before(case, course):
            continue
        for kind, keys in (("optimizer", each.optimizers), ("scheduler", each.schedulers)):
            again = any(one.kind == kind and one.after >= each.after for one in restored)
            if kind == "scheduler" and not course.optimizer.schedulers:
                continue
            if kind == "optimizer" and not _has_memory(course):
                continue
            if not keys or again:
                continue
            return checkpoint_state.finding(
                f"the checkpoint has the state of the {kind} ({keys[0]!r}), its weights are put "
                f"back, and {len(course.steps)} updates follow with a new {kind}",
                where=course.optimizer.made_at if kind == "optimizer" else each.where,
                step=each.after,
                proof=Proof.INFERRED,
                places=[("loaded here", each.where)],
                fix=f"{kind}.load_state_dict(checkpoint[{keys[0]!r}]) before training goes on.",
            )
    return None


def _goes_on(case: Case, after: int) -> Course | None:
    """The course that trains after this pass, with an optimizer that begins there."""
    for course in case.courses:
        first = course.steps[0].passes
        if course.optimizer.thing is not None and first and first[0].number >= after:
            return course
    return None


def _as_before(case: Case, course: Course) -> bool:
    """Whether an earlier course of the run had the same kind of optimizer and the same rate."""
    rate = course.optimizer.options.get("lr", math.nan)
    return any(
        one is not course
        and one.optimizer.number < course.optimizer.number
        and one.optimizer.kind == course.optimizer.kind
        and abs(one.optimizer.options.get("lr", math.nan) - rate) <= case.limit("alike") * abs(rate)
        for one in case.courses
    )


def _has_memory(course: Course) -> bool:
    options = course.optimizer.options
    return bool(options.get("momentum")) or "betas" in options or "alpha" in options


def _folds(case: Case) -> Finding | None:
    lines, differentiated = training_lines(case), differentiated_lines(case)
    for each in case.run.fed.values():
        if each.where in differentiated or not says(each.callers, _FOLDS):
            continue
        if held_out_name(each.callers) is None or begins_anew(case, each.module):
            continue
        trained = [one for one in case.run.fed.values()
                   if one.module is each.module and one.where in lines]  # fmt: skip
        found = len(set(each.rows) & {row for one in trained for row in one.rows})
        if found < case.limit("samples"):
            continue
        model = next((where for _, held, where in case.run.roots if held is each.module), None)
        return checkpoint_state.finding(
            f"{found} of the {len(each.rows)} samples that a fold is judged by were trained on by "
            "the same model, in another fold",
            where=model or each.where,
            proof=Proof.RECORDED,
            places=[("judged here", each.where)],
            fix="Make the model and its optimizer anew for each fold.",
        )
    return None


def _not_followed(case: Case) -> Finding | None:
    return not_followed(case, checkpoint_state)


def _untrained(case: Case) -> Finding | None:
    """A model that was made for the evaluation and never got the weights of the trained one."""
    passes = len(case.run.passes)
    held = {id(each.tensor) for course in case.courses for each in course.parameters}
    restored = [each.thing for each in case.run.restored]
    for mark in case.run.inference_marks:
        model = mark.module
        made = case.run.made.get(id(model))
        if mark.passes < passes or not mark.used or mark.trains or made is None or not passes:
            continue
        alike = trained_like(case, model, held)
        if holds(model, held) or not alike or any(one is model for one in restored):
            continue
        known = [case.run.parameters.get(id(each)) for each in model.parameters()]
        fed = [each for each in case.run.fed.values() if each.module is model]
        if any(each is None or each.changed for each in known) or not fed:
            continue
        if any(says(each.callers, _FRESH) for each in fed):
            continue  # what it is to be better than
        lines = {each.where for each in fed}
        if any(each.where in lines and holds(each.module, held) for each in case.run.fed.values()):
            continue  # the trained one is judged there, too
        return checkpoint_state.finding(
            f"the {mark.kind} that is evaluated is another one than that of {passes} training "
            "passes, and no weights were put into it",
            # made by a function that makes them all, the line that judges it tells more
            where=Where(*fed[0].callers[-1])
            if any(case.run.made.get(id(one)) == made for one in alike)
            else made,
            step=passes,
            proof=Proof.INFERRED,
            places=[("evaluated here", mark.where)],
            fix="Evaluate the trained model, or load_state_dict() of it first.",
        )
    return None


def _left_behind(case: Case) -> Finding | None:
    """A moving average of the weights, or a copy, that is judged and is far behind the model."""
    optimized = [each for each in case.courses if each.optimizer.thing is not None]
    for course in optimized if len(optimized) == 1 and not case.run.crowded else ():
        held = {id(each.tensor) for each in course.parameters}
        for mark in reversed(case.run.inference_marks):
            copy = mark.module
            late = mark.passes >= case.limit("late") * len(case.run.passes)
            if not late or not mark.used or mark.trains or holds(copy, held):
                continue
            alike = trained_like(case, copy, held)
            found = _behind(case, course, mark, alike[0]) if alike else None
            if found is not None:
                return found
    return None


def _behind(case: Case, course: Course, mark: Mark, model: Any) -> Finding | None:
    engine, steps = case.run.engine, kept(course)
    pairs = list(zip(model.parameters(), mark.module.parameters(), strict=True))
    known = [case.run.parameters.get(id(other)) for _, other in pairs]
    written = [each.rewritten_at for each in known if each is not None and each.rewritten_at]
    trained = any(each is not None and each.reached for each in known)
    if engine is None or not steps or not written or trained:
        return None  # a model of its own, which need not follow
    other = {id(one): engine.copy(each) for one, each in pairs}
    own = {id(one): engine.copy(one) for one, _ in pairs}
    behind, model_cost = (by_other_weights(case, steps, each) for each in (other, own))
    chance = case.chance(course.last) or case.progress(course).start
    if behind is None or model_cost is None or not math.isfinite(behind):
        return None
    if behind < max(case.limit("worse") * model_cost, case.limit("unknown") * chance):
        return None
    return checkpoint_state.finding(
        f"the {mark.kind} that is judged is not the one that is trained: on {len(steps)} training "
        f"batches its weights cost {behind:.4g}, those of the trained one {model_cost:.4g}",
        where=written[0],
        step=0,
        proof=Proof.REPLAYED,
        places=[("judged here", mark.where)],
        fix="Judge the trained model, or let the copy follow faster: an average with a decay of d "
        "needs several times 1 / (1 - d) updates before it is worth anything.",
    )
