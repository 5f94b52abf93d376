"""What was seen of a run: the facts that rules read.

A :class:`Run` has courses.  A *course* is one series of updates: those of one optimizer, or those
that the program makes by hand.  A course has *steps*, one an update; a step has *passes*, one a
call of ``backward()``.  On sampled steps there are layer statistics, and a *snapshot* from which
the step can be run again.

Nothing here belongs to one engine, and nothing here judges.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whygrad.recording.calls import CallLog, Produced, RecordedCall, members
from whygrad.recording.checkpoints import Loaded, Restored
from whygrad.recording.engines import Engine, OutOfReach
from whygrad.recording.evaluation import Comparison, Fed
from whygrad.recording.judging.looks import Judged
from whygrad.recording.ranges import Range
from whygrad.recording.variables import Variable
from whygrad.source import Where

__all__ = [
    "Clip",
    "Course",
    "Derivative",
    "Evaluation",
    "Failure",
    "Incident",
    "Layer",
    "Mark",
    "ModeChange",
    "Optimizer",
    "Parameter",
    "Pass",
    "Run",
    "Sample",
    "Snapshot",
    "Stop",
    "Stray",
    "Update",
]


@dataclass(eq=False)
class Parameter:
    """A leaf that a loss was differentiated for, or that a module or an optimizer holds."""

    name: str
    tensor: Any
    module: str | None = None  # the path of the module that holds it
    made_at: Where | None = None
    written_at: Where | None = None  # the last write to it before the first backward()
    optimizers: list[int] = field(default_factory=list)  # numbers of courses
    initial: Range | None = None  # before the first update
    reached: bool = False  # whether any backward() gave it a gradient
    changed: bool = False  # whether its value was ever seen to change
    rewritten_at: Where | None = None  # where the program wrote to it after the first pass
    given: bool = False  # whether values of another tensor were written to it …
    # … or where they were, and where random numbers were written over them
    lost: tuple[Where, Where] | None = None
    redrawn: bool = False  # whether random numbers were written to it after the first pass
    none_because: Any = None  # the Answer of why_none for its first pass, if it got no gradient
    frozen_at: Where | None = None  # where requires_grad was switched off
    thawed_at: Where | None = None  # where it was switched on again
    # Lines that computed a new tensor from it and a gradient, and how often.
    replaced: dict[Where, int] = field(default_factory=dict)

    @property
    def requires_grad(self) -> bool:
        return bool(self.tensor.requires_grad)

    def __repr__(self) -> str:
        return f"<parameter {self.name} {tuple(self.tensor.shape)}>"


@dataclass(eq=False)
class Optimizer:
    """An optimizer of the program, or the program's own updates (``thing`` is None)."""

    number: int
    thing: Any
    kind: str  # "SGD"
    made_at: Where | None
    options: dict[str, Any] = field(default_factory=dict)  # of the first group, as constructed
    schedulers: list[tuple[str, Where]] = field(default_factory=list)  # kind, and where it was made
    remade: int = 0  # how often the line that made it made another for the same parameters …
    began: int = 0  # … and the updates that there had been, the last time


@dataclass(slots=True)
class Mark:
    """One call of a module: which, in which mode, on what, with what result."""

    path: str
    module: Any
    kind: str  # the name of its class
    training: bool
    depth: int  # 0: called by the program, not by another module
    inputs: Any  # as a call keeps its arguments
    outputs: Any
    where: Where
    recorded: bool  # whether gradients were being recorded
    before: int  # numbers of the first call inside it and of the one after it
    after: int
    passes: int = 0  # how many passes there had been
    given: int = 0  # tells what it was given from other inputs
    used: bool = False  # whether anything was computed from its result, outside of training …
    trains: bool = False  # … and whether a training pass used what was computed from it
    fed_by: Mark | None = None  # the call without gradients that computed what it was given
    read: bool = False  # whether a number of what was computed from it went to Python
    key: tuple[int, ...] = ()  # of the line that called it, and of the one that called that


@dataclass(eq=False)
class Snapshot:
    """All that it takes to run a step again, from the state before it."""

    engine: Engine
    step: int
    calls: dict[int, RecordedCall]  # those that the loss was computed with, by number
    loss: Produced | None
    value: float  # of the loss, as the program saw it
    marks: list[Mark]
    values: dict[int, Any]  # copies of the leaves that require grad, by id of the leaf
    leaves: dict[int, Any]  # the leaves themselves
    # Calls of the step that the loss does not depend on.
    loose: list[RecordedCall] = field(default_factory=list)
    log: CallLog | None = None  # for the origins of tensors
    switched: frozenset[Produced] = frozenset()  # results that were told to require gradients
    # The variables of the program that held data of it, with keys of these data.
    variables: dict[Variable, Any] = field(default_factory=dict)

    @property
    def used(self) -> list[Any]:
        """The tensors from elsewhere that the step worked on."""
        kind = self.engine.tensor
        given = members([(each.args, each.kwargs) for each in self.calls.values()])
        return [*self.leaves.values(), *(each for each in given if isinstance(each, kind))]


@dataclass(slots=True)
class Layer:
    """What came out of one module at one step."""

    kind: str
    rms: float
    zeros: float  # fraction of exact zeros
    saturated: float  # fraction beyond |5| before a sigmoid or tanh, i.e. at its flat ends
    dead: float  # fraction of units that are zero for the whole batch
    low: float
    high: float


@dataclass(slots=True)
class Sample:
    """The closer look that is taken at some steps."""

    layers: dict[str, Layer] = field(default_factory=dict)
    inputs: list[Range] = field(default_factory=list)  # of the modules that the program called
    outputs: list[Range] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)  # rms by parameter, before the update
    updates: dict[str, float] = field(default_factory=dict)  # rms of the change
    labels: list[tuple[int, frozenset[int]]] = field(default_factory=list)  # how many, and which
    rows: list[int] = field(default_factory=list)  # marks of the samples, in order …
    answers: list[int] = field(default_factory=list)  # … and of their targets


@dataclass(slots=True)
class Clip:
    """One call that limits gradients."""

    kind: str  # "norm" or "value"
    limit: float
    total: float | None  # the norm before, if the call says so
    where: Where


@dataclass(eq=False, slots=True)
class Pass:
    """One call of ``backward()``."""

    number: int
    value: float
    where: Where
    shape: tuple[int, ...]
    accumulated: bool  # onto gradients that an update had used already
    input_rms: tuple[float, ...] = ()  # of what the program gave its modules since the last pass
    target_rms: tuple[float, ...] = ()  # of what loss functions got, labels aside
    root: Produced | None = None  # what made the loss
    snapshot: Snapshot | None = None
    error: BaseException | None = None
    optimizer: int | None = None
    cleared_at: Where | None = None  # where its gradients were cleared before any update


@dataclass(eq=False, slots=True)
class Update:
    """One update of parameters."""

    index: int
    passes: Sequence[Pass]
    gradients: Mapping[str, float | None]  # rms by parameter, latest measured; None: there was none
    rates: list[float]  # learning rate by group
    where: Where | None = None  # of step()
    zeroed: bool = False  # whether gradients were cleared since the update before
    contaminated: bool = False  # whether gradients of the update before were still in these
    clips: Sequence[Clip] = ()
    sample: Sample | None = None
    snapshot: Snapshot | None = None

    @property
    def number(self) -> int:
        """Which pass of the whole run it belongs to: other optimizers may have come before."""
        return self.passes[-1].number if self.passes else self.index

    @property
    def loss(self) -> float | None:
        """The value of the last pass; None for an update without one."""
        return self.passes[-1].value if self.passes else None


@dataclass(eq=False)
class Course:
    """A series of updates by one optimizer."""

    optimizer: Optimizer
    steps: list[Update] = field(default_factory=list)
    used: int = -1  # the number of the last pass that an update used
    parameters: list[Parameter] = field(default_factory=list)
    first: Snapshot | None = None  # the first step
    after: dict[int, Any] = field(default_factory=dict)  # its parameters after that step, by id
    last: Snapshot | None = None  # the latest sampled step that was well
    earlier: Snapshot | None = None  # the sampled one before it
    others: list[Snapshot] = field(default_factory=list)  # of a small model, a few before that
    bad: Snapshot | None = None  # the first step with a value that is not finite

    @property
    def losses(self) -> list[float]:
        return [step.loss for step in self.steps if step.loss is not None]


@dataclass(slots=True)
class Evaluation:
    """A loss that was computed and not differentiated, outside of training passes."""

    value: float
    op: str
    where: Where
    after: int  # how many passes there had been
    training: bool | None  # the mode of the module called before it
    correct: bool = False  # whether it is a fraction of answers that are right


@dataclass(eq=False)
class Failure:
    """The call into the engine that raised, with its arguments as they were."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    where: Where
    module: str | None
    error: BaseException


@dataclass(slots=True)
class Stop:
    """A call that failed only while it was watched: from there on nobody did."""

    op: str
    where: Where
    error: str


@dataclass(slots=True)
class Derivative:
    """What ``autograd.grad`` answered without a graph: for the program it is a constant."""

    tensor: weakref.ref[Any]
    where: Where
    leaves: frozenset[int]  # ids of the leaves that went into what was differentiated


@dataclass(slots=True)
class Stray:
    """A result that was not finite, of a call that no gradient flows through."""

    op: str
    where: Where
    before: list[Range]  # of what went in
    after: Range
    passes: int  # how many there had been
    given: str | None = None  # what made the data that was not finite before the call, if any was
    given_at: Where | None = None


@dataclass(slots=True)
class ModeChange:
    """A call of ``train()`` or ``eval()`` on a module."""

    module: Any
    training: bool
    where: Where
    after: int


@dataclass(eq=False)
class Incident:
    """The first time that something was wrong for sure."""

    kind: str  # "loss", "gradient", "exception"
    step: int
    snapshot: Snapshot | None
    where: Where
    error: BaseException | None = None


@dataclass(eq=False)
class Run:
    """Everything that was seen of a run."""

    script: str | None = None
    arguments: list[str] = field(default_factory=list)  # of the script
    engine: Engine | None = None
    seed: int | None = None  # of the random numbers, at the first backward()
    parameters: dict[int, Parameter] = field(default_factory=dict)  # by id of the tensor
    courses: list[Course] = field(default_factory=list)
    crowded: bool = False  # whether there were more optimizers than are watched
    passes: list[Pass] = field(default_factory=list)
    unfinished: list[Pass] = field(default_factory=list)  # passes after the last update
    evaluations: list[Evaluation] = field(default_factory=list)
    figures: list[Evaluation] = field(default_factory=list)  # means by hand, losses with graph
    comparisons: list[Comparison] = field(default_factory=list)  # the first of each line
    fed: dict[Any, Fed] = field(default_factory=dict)  # by line
    # By line and kind, the first times and the latest.
    judged: dict[Any, list[Judged]] = field(default_factory=dict)
    training_lines: dict[tuple[int, ...], Where] = field(default_factory=dict)  # that call a model
    # The same lines, with numbers of passes for which they did.
    differentiated: dict[Where, set[int]] = field(default_factory=dict)
    halved_at: Where | None = None  # where a module was converted to float16
    strays: list[Stray] = field(default_factory=list)  # the first that were not finite
    derivatives: dict[int, Derivative] = field(default_factory=dict)  # by id of the tensor
    modes: list[ModeChange] = field(default_factory=list)
    roots: list[tuple[str, Any, Where | None]] = field(default_factory=list)
    made: dict[int, Where] = field(default_factory=dict)  # modules by id: where they were made
    incidents: list[Incident] = field(default_factory=list)
    zeroings: list[Where] = field(default_factory=list)
    retained: list[tuple[int, int]] = field(default_factory=list)  # (pass, passes still alive)
    holders: list[str] = field(default_factory=list)  # names of what keeps them alive
    carried: dict[Where, int] = field(default_factory=dict)  # lines with an old graph: how often
    inference_marks: list[Mark] = field(default_factory=list)  # module calls without gradients
    inside_marks: list[Mark] = field(default_factory=list)  # … of parts, in a call with gradients
    restored: list[Restored] = field(default_factory=list)
    loaded: list[Loaded] = field(default_factory=list)
    beside: list[Mark] = field(default_factory=list)  # those with gradients, not at training lines
    last_snapshot: Snapshot | None = None  # of the pass that was not finished, if any
    error: BaseException | None = None  # what ended the program, if anything did
    failure: Failure | None = None  # the latest call that raised
    stopped: Stop | None = None  # where watching ended before the program did
    watched: int = 0  # updates whose calls were written down from the first on
    troubles: list[str] = field(default_factory=list)  # what went wrong with the watching itself

    def trouble(self, error: Exception) -> None:
        """The doctor itself went wrong: the program must not notice, the report says so.

        That a tensor has no memory yet is no trouble: there is nothing to look at.
        """
        if isinstance(error, OutOfReach):
            return
        text = f"{type(error).__name__}: {error}"
        if text not in self.troubles and len(self.troubles) < 8:
            self.troubles.append(text)

    @property
    def crash(self) -> BaseException | None:
        """What ended the program, unless that was somebody at the keyboard."""
        return None if isinstance(self.error, KeyboardInterrupt) else self.error

    @property
    def has_optimizer(self) -> bool:
        """Whether anything is updated by an optimizer, not by hand."""
        return any(course.optimizer.thing is not None for course in self.courses)

    def parameter(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters.values() if each.name == name), None)
