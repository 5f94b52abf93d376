"""A custom ``autograd.Function`` whose backward is not the derivative of its forward.

The call is taken from a replayed step and checked on its real inputs, in float64: change one
element, run the forward again, compare with what backward() claims for that element.

Some backward methods differ on purpose.  A *straight-through estimator* has a forward that is
constant between jumps (rounding, sign, a spike): there the true slope is zero and useless.  A
*gradient reversal* or *scaling* layer has the identity as its forward.  Both are told by what the
forward does, and left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import quoted
from whygrad.doctor.source.lines import defined, raised
from whygrad.recording.engines import Engine
from whygrad.recording.replay import Traced

__all__: list[str] = []

_REFUSED = ("returned an invalid gradient", "returned an incorrect number of gradients",
            "incorrect number of gradients", "number of gradients")  # fmt: skip


@rule(
    thresholds={
        "error": (0.02, "relative: differences in float64 are far better, formulas in float32 not"),
        "fraction": (0.25, "of an input's elements: a few may lie at kinks"),
        "elements": (24, "of an input that are checked: each costs up to six forward runs"),
        "nudge": (1e-5, "by which an element is moved"),
        "second": (1e-6, "the same for a second look: a slope does not depend on it"),
        "kink": (1e-3, "between the two looks: more is a kink or a jump"),
        "sides": (0.1, "between the slopes to one side and to both: the same"),
        "slope": (1e-6, "below it slopes are compared as if they were this large"),
        "rounding": (1e-4, "of the largest slope that a small one may be off by"),
        "values": (16, "inputs, and outputs at most, where rounding is looked for"),
        "levels": (0.25, "as many different outputs as inputs at most: it rounds"),
        "digits": (9, "to which outputs are the same"),
        "row": (6, "inputs at least, of which a row …"),
        "signs": (3, "… has so many different outputs at most: signs, with a scale of its own"),
        "nothing": (1e-9, "of the slope: so much is returned of an input that was forgotten"),
    },
    cleared=lambda case: _agreeing(case),
)
def wrong_backward(case: Case) -> Iterator[Finding]:
    """A custom backward does not return the derivative of its forward.

    autograd believes what an autograd.Function returns. With a wrong formula every parameter
    before it is moved in a wrong direction; the loss may even fall for a while, but what is
    learned is far from what is possible.

    Measured: Elements of the inputs of a replayed call are changed by a little, in float64, and
    the change of the output is compared with what backward() returns for them. Functions that
    are constant between jumps, and identities, differ on purpose and are not judged.
    Fix: Correct the formula, and check it with torch.autograd.gradcheck.
    Guardrail: assert torch.autograd.gradcheck(MyFunction.apply, (x.double().requires_grad_(),))
    """
    found = _failed(case)
    if found is not None:
        yield found
        return
    for name, call in _functions(case).items():
        inputs = _check(case, call)
        wrong = [pair for each in inputs for pair in each.wrong(case)]
        if not wrong:
            continue
        claimed, true = max(wrong, key=lambda each: abs(each[0] - each[1]))
        count = sum(len(each.sloped) for each in inputs)
        function = call.call.function.function  # type: ignore[attr-defined]
        yield wrong_backward.finding(
            f"{name}: {len(wrong)} of {count} elements of its inputs have another "
            "slope than backward() returns",
            f"the worst: backward() says {claimed:.5g}, the forward changes at {true:.5g}",
            where=defined(function.backward) or call.where,
            proof=Proof.REPLAYED,
            places=[("applied here", call.where)],
            fix=f"Correct {name}.backward. {_hint(case, wrong)}".rstrip(),
        )


@dataclass(eq=False)
class _Slopes:
    """What backward() claims and what the forward does, for some elements of one input."""

    sloped: list[tuple[float, float]]  # claimed, true: where the forward has a slope
    flat: list[float]  # claimed, where it has none
    rectified: bool = False  # whether the forward is max(x, 0)

    def wrong(self, case: Case) -> list[tuple[float, float]]:
        """What is claimed and what is true, if it is more than a few of them.

        One formula is wrong where the others are right, so each input is judged by itself.
        """
        scale = max((abs(true) for _, true in self.sloped), default=0.0)
        tolerance, rounding = case.limit("error"), case.limit("rounding") * scale
        found = [
            (claimed, true)
            for claimed, true in self.sloped
            if abs(claimed - true) > tolerance * max(abs(claimed), abs(true)) + rounding
        ]
        if self.rectified:  # a clamp may let gradients through on purpose; a ReLU does not
            found += [(claimed, 0.0) for claimed in self.flat if abs(claimed) > rounding]
        return found if len(found) > case.limit("fraction") * max(1, len(self.sloped)) else []


def _functions(case: Case) -> dict[str, Traced]:
    """One call of each custom function of the program, with as many inputs to learn as any.

    The first layer's data needs no gradient: what backward() returns for it is looked at by nobody.
    """
    found: dict[str, Traced] = {}
    for _, snapshot in case.snapshots():
        trace = case.trace(snapshot)
        for each in [] if trace is None else trace.calls:
            function = getattr(each.call.function, "function", None)
            if each.op.endswith(".apply") and _is_the_programs(function) and each.outputs:
                name = function.__name__  # type: ignore[union-attr]
                if name not in found or _learned(each) > _learned(found[name]):
                    found[name] = each
    return found


def _learned(call: Traced) -> int:
    return sum(bool(each.requires_grad) for each in call.inputs)


def _is_the_programs(function: Any) -> bool:
    """Whether it is a function of the program's own, not one of a library's."""
    module = getattr(function, "__module__", "torch")
    return module.partition(".")[0] not in ("torch", "whygrad")


def _check(case: Case, call: Traced) -> list[_Slopes]:
    """Compare on the inputs of a call; none if the function differs on purpose or cannot be run."""
    engine = case.run.engine
    if engine is None:
        return []
    runner = _Runner(case, engine, call)
    try:
        with engine.unwatched():
            return runner.check()
    except Exception:  # it does not take float64, or not twice: nothing can be said
        return []


class _Runner:
    """Runs a function again and again on changed inputs."""

    def __init__(self, case: Case, engine: Engine, call: Traced) -> None:
        self._case = case
        self._engine = engine
        self._call = call
        self._random = np.random.default_rng(0)

    def check(self) -> list[_Slopes]:
        args = [self._own(each) for each in self._call.args]
        places = [place for place, each in enumerate(args) if self._learns(each)]
        outputs, again = self._run(args), self._run(args)
        same = all(np.array_equal(*each, equal_nan=True) for each in zip(outputs, again))
        given = [self._engine.array(args[place]) for place in places]
        if not given or not outputs or not same:
            return []
        if any(_is_same(each, outputs[0]) for each in given):
            return []
        weights = [self._random.standard_normal(each.shape) for each in outputs]
        claimed = self._claimed(args, weights)
        if self._has_feedback(args, outputs, claimed, weights):
            return []
        rectified = given[0].shape == outputs[0].shape and np.array_equal(
            outputs[0], np.maximum(given[0], 0.0)
        )
        found = []
        for place, values in zip(places, given):
            slopes = self._slopes(args, place, claimed[place], weights)
            if not slopes.sloped or _has_few_values(self._case, values, outputs[0]):
                return []  # constant between jumps: an estimator
            slopes.rectified = rectified
            found.append(slopes)
        return found

    def _has_feedback(
        self, args: list[Any], outputs: list[Any], claimed: dict[int, Any], weights: list[Any]
    ) -> bool:
        """Whether an argument is for backward() only: gradients go another way on purpose."""
        for place, each in enumerate(args):
            if not isinstance(each, self._engine.tensor) or self._learns(each):
                continue
            if not each.is_floating_point():  # type: ignore[attr-defined]
                continue
            other: Any = each
            changed = [*args[:place], 2 * other + 1, *args[place + 1 :]]
            for one in changed:
                if self._learns(one):
                    one.grad = None
            same = all(np.array_equal(*pair) for pair in zip(outputs, self._run(changed)))
            others = self._claimed(changed, weights) if same else claimed
            if any(not np.array_equal(claimed[at], others[at]) for at in claimed):
                return True
        return False

    def _learns(self, value: Any) -> bool:
        return isinstance(value, self._engine.tensor) and bool(value.requires_grad)  # type: ignore[attr-defined]

    def _own(self, value: Any) -> Any:
        if not isinstance(value, self._engine.tensor):
            return value
        copied = self._engine.copy(value)
        if not value.is_floating_point():  # type: ignore[attr-defined]
            return copied
        copied = copied.double()
        return copied.requires_grad_() if value.requires_grad else copied  # type: ignore[attr-defined]

    def _apply(self, args: list[Any]) -> list[Any]:
        result = self._call.call.function(*args, **self._call.kwargs)
        made = list(result) if isinstance(result, (tuple, list)) else [result]
        return [each for each in made if isinstance(each, self._engine.tensor)
                and each.is_floating_point()]  # type: ignore[attr-defined]  # fmt: skip

    def _run(self, args: list[Any]) -> list[np.ndarray[Any, Any]]:
        return [self._engine.array(each).copy() for each in self._apply(args)]

    def _claimed(self, args: list[Any], weights: list[Any]) -> dict[int, np.ndarray[Any, Any]]:
        """The gradients that backward() returns."""
        space: Any = self._engine.namespace
        with space.enable_grad():
            outputs = self._apply(args)
            pairs = [(each, space.as_tensor(weight)) for each, weight in zip(outputs, weights)
                     if each.requires_grad]  # fmt: skip
            total = sum((each * weight).sum() for each, weight in pairs)
            total.backward()
        found = {}
        for place, each in enumerate(args):
            if self._learns(each):
                shape = self._engine.array(each).shape
                gradient = each.grad
                found[place] = np.zeros(shape) if gradient is None else self._engine.array(gradient)
        return found

    def _slopes(
        self, args: list[Any], place: int, claimed: np.ndarray[Any, Any], weights: list[Any]
    ) -> _Slopes:
        """What some elements of one input do."""
        values = self._engine.array(args[place])
        count = min(int(self._case.limit("elements")), values.size)
        nudge, second, kink = (self._case.limit(each) for each in ("nudge", "second", "kink"))
        found = _Slopes([], [])
        for flat in self._random.choice(values.size, size=count, replace=False):
            index = np.unravel_index(flat, values.shape)
            slopes = [self._slope(args, place, index, weights, size) for size in (nudge, second)]
            if not np.isfinite(slopes).all() or abs(slopes[0] - slopes[1]) > kink * max(
                abs(slopes[0]), abs(slopes[1]), self._case.limit("slope")
            ):
                continue  # at a kink or a jump
            if slopes[0] != 0.0 and self._is_at_kink(args, place, index, weights, slopes[0]):
                continue  # one of several largest, as zeros behind a ReLU are
            if slopes[0] == 0.0:
                found.flat.append(float(claimed[index]))
            else:
                found.sloped.append((float(claimed[index]), slopes[0]))
        return found

    def _is_at_kink(
        self, args: list[Any], place: int, index: Any, weights: list[Any], slope: float
    ) -> bool:
        """Whether the slope to one side is another than to both: no derivative can be returned."""
        ahead = self._slope(args, place, index, weights, self._case.limit("nudge"), (1.0, 0.0))
        return abs(ahead - slope) > self._case.limit("sides") * max(abs(ahead), abs(slope))

    def _slope(
        self,
        args: list[Any],
        place: int,
        index: Any,
        weights: list[Any],
        size: float,
        signs: tuple[float, float] = (1.0, -1.0),
    ) -> float:
        space: Any = self._engine.namespace
        values = self._engine.array(args[place])
        reach = size * max(1.0, abs(float(values[index])))
        ends = []
        for sign in signs:
            moved = values.copy()
            moved[index] += sign * reach
            changed = [*args[:place], space.as_tensor(moved), *args[place + 1 :]]
            with space.no_grad():
                ends.append(self._run(changed))
        return float(sum(
            np.sum(weight * (ahead - behind) / ((signs[0] - signs[1]) * reach))
            for weight, ahead, behind in zip(weights, *ends)
        ))  # fmt: skip


def _is_same(given: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> bool:
    return given.size == made.size and np.allclose(given.ravel(), made.ravel())


def _has_few_values(case: Case, given: np.ndarray[Any, Any], made: np.ndarray[Any, Any]) -> bool:
    """Whether many inputs come out as a few values: rounded, and scaled as a whole or by row."""
    most, digits = case.limit("values"), int(case.limit("digits"))
    if given.size < most or made.size != given.size:
        return False
    levels = np.unique(np.round(made, digits)).size
    if levels <= min(most, case.limit("levels") * np.unique(given).size):
        return True
    rows = np.round(made, digits).reshape(len(made), -1) if made.ndim > 1 else made[:0]
    long = rows.size >= case.limit("row") * max(1, len(rows))
    return long and all(np.unique(each).size <= case.limit("signs") for each in rows)


def _hint(case: Case, wrong: list[tuple[float, float]]) -> str:
    """What the ratio of the two tells."""
    ratios = np.array([claimed / true for claimed, true in wrong if true])
    if ratios.size <= 2:
        return ""
    middle = float(np.median(ratios))
    if np.allclose(ratios, middle, rtol=case.limit("error")):
        if abs(middle) < case.limit("nothing"):
            return "It returns nothing for an input that matters."
        return f"It is {middle:.3g} times the derivative everywhere: a factor or a sign."
    return ""


def _failed(case: Case) -> Finding | None:
    """The engine refused what a custom backward returned, or the backward itself raised."""
    for each in case.run.passes:
        if each.error is None:
            continue
        text = str(each.error)
        inside = [where for where in raised(each.error) if where.function.endswith(".backward")]
        if inside or any(words in text for words in _REFUSED):
            call = next(iter(_applied(case)), None)
            where = inside[-1] if inside else (each.where if call is None else call)
            return wrong_backward.finding(
                f"a custom backward failed: {quoted(text)}",
                where=where,
                step=each.number,
                proof=Proof.RAISED,
                places=[("during this pass", each.where)],
                fix="Return one gradient per argument of forward(), each of its argument's shape.",
            )
    return None


def _applied(case: Case) -> Iterator[Any]:
    """The ``def backward`` lines of the functions that the failing step applied."""
    for each in case.run.passes:
        snapshot = each.snapshot if each.error is not None else None
        for call in () if snapshot is None else snapshot.calls.values():
            function: Any = getattr(call.function, "function", None)
            if _is_the_programs(function):
                where = defined(function.backward)
                if where is not None:
                    yield where


def _agreeing(case: Case) -> str | None:
    functions = _functions(case)
    if not functions:
        return None
    return (
        f"the backward of {', '.join(functions)} agrees with finite differences, or is an estimator"
    )
