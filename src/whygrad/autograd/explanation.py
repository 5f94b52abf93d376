"""What the dispatcher does with a call, and why.

``explain`` runs the call once on copies of its arguments and watches the dispatcher.  The report
is therefore not a second opinion: every step in it was taken, through the same tables and with the
same kernels as the real call.
"""

from __future__ import annotations

import html
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from whygrad import dispatch
from whygrad.dispatch.paths import Entry
from whygrad.errors import describe, fail
from whygrad.ops.define import Op, table
from whygrad.random import fork_rng
from whygrad.tensor import Tensor, keys, modes

__all__ = ["Argument", "Explanation", "Step", "explain"]

Rows = list[tuple[str, ...]]

WIDTH = 100
MOST_STEPS = 40


@dataclass
class Argument:
    """One argument of the call and the keys it brought."""

    name: str
    value: str
    keys: list[str]


@dataclass
class Step:
    """One op call that reached the dispatcher: who took it, and which calls it led to."""

    op: str
    keys: list[str]
    layer: str
    detail: str = ""
    inner: list[Step] = field(default_factory=list)


@dataclass
class Explanation:
    """The report.  Print it, show it in a notebook, or take it apart with ``to_dict``."""

    call: str
    kind: str  # "primitive" or "composite"
    arguments: list[Argument]
    mode: str
    hidden: list[str]  # keys that the mode keeps the dispatcher from seeing
    steps: list[Step]
    result: str
    error: str = ""

    @property
    def keys(self) -> dict[str, list[str]]:
        """Each key of the call, with the names of the arguments that set it."""
        order = [*keys.describe_tensor(~keys.LAYOUTS), *keys.describe(keys.LAYOUTS)]
        found = {key: [each.name for each in self.arguments if key in each.keys] for key in order}
        return {key: names for key, names in found.items() if names}

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and strings."""
        return {**asdict(self), "keys": self.keys}

    def __str__(self) -> str:
        lines = _fit(f"{self.call} is a {self.kind}", "")
        for title, rows in self._sections():
            lines += ["", title, *_columns(rows)]
        ending = ("it fails", self.error) if self.error else ("result", self.result)
        lines += ["", ending[0], *(line for text in ending[1].splitlines() for line in _fit(text))]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<b>{html.escape(self.call)}</b> is a {html.escape(self.kind)}"]
        for title, rows in self._sections():
            cells = "".join(
                "<tr>" + "".join(f"<td>{_keep_spaces(cell)}</td>" for cell in row) + "</tr>"
                for row in rows
            )
            parts.append(f"<table><caption>{title}</caption>{cells}</table>")
        parts.append(f"<pre>{html.escape(self.error or self.result)}</pre>")
        return "\n".join(parts)

    def _sections(self) -> list[tuple[str, Rows]]:
        arguments: Rows = [(a.name, a.value, " · ".join(a.keys)) for a in self.arguments]
        combined: Rows = [
            (key, f"set by {', '.join(names)}" + self._note_on(key))
            for key, names in self.keys.items()
        ]
        return [
            ("arguments and their keys", arguments),
            ("mode", [(self.mode,)]),
            ("combined keys", combined),
            ("what runs, in order", _step_rows(self.steps)),
        ]

    def _note_on(self, key: str) -> str:
        return f", hidden by {self.mode}" if key in self.hidden else ""


def explain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Which argument set which key, and which kernels run in which order.

    ``print(whygrad.dispatch.explain(whygrad.add, a, b))``.  The arguments are copied and the
    random generator is put back, so that explaining a call changes nothing.  A call that fails is
    explained up to the point where it does.
    """
    op = _op_of(function)
    copies = [_copy(arg) for arg in args]
    named_copies = {name: _copy(value) for name, value in kwargs.items()}
    watcher = _Watcher()
    error = result = ""
    with fork_rng(), watcher:
        try:
            result = _describe_result(function(*copies, **named_copies))
        except Exception as caught:
            error = f"{type(caught).__name__}: {caught}"
    used = {key for step in watcher.steps for key in step.keys}
    arguments = _arguments(function, op, args, kwargs, used)
    brought = {key for each in arguments for key in each.keys}
    return Explanation(
        call=f"whygrad.{op.name}({', '.join(each.name for each in arguments)})",
        kind="composite of the ops below" if op.kind == "composite" else "primitive",
        arguments=arguments,
        mode=_mode(),
        hidden=[key for key in _hidden() if key in brought],
        steps=watcher.steps,
        result=result,
        error=error,
    )


def _op_of(function: Callable[..., Any]) -> Op:
    op = getattr(function, "op", None)
    if isinstance(op, Op):
        return op
    raise fail(
        TypeError,
        call=f"explain({describe(function)}, …)",
        cause="it is not an op of the table",
        fix="pass an op such as whygrad.add, or explain the ops that your function calls",
    )


def _arguments(
    function: Callable[..., Any],
    op: Op,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    used: set[str],
) -> list[Argument]:
    names = list(op.tensor_names + op.param_names)
    if op.kind == "composite" or hasattr(function, "__wrapped__"):
        names = list(inspect.signature(function).parameters)
    names += [f"argument {place}" for place in range(len(names), len(args))]
    given = [*zip(names, args, strict=False), *kwargs.items()]
    return [Argument(name, describe(value), _keys(value, used)) for name, value in given]


def _keys(value: Any, used: set[str]) -> list[str]:
    """The keys an argument brings.  A number brings one as an operand, none as a parameter."""
    if not isinstance(value, (Tensor, list, tuple)):
        return [key for key in keys.describe(keys.SCALAR_BITS.get(type(value), 0)) if key in used]
    tensors = [each for each in _listed(value) if isinstance(each, Tensor)]
    return list(dict.fromkeys(key for each in tensors for key in keys.describe_tensor(each._keys)))


def _listed(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, Tensor) else value


def _copy(value: Any) -> Any:
    if isinstance(value, Tensor):
        copied = value.detach()
        if type(value._array) is np.ndarray:  # other payloads are never written to
            copied = copied.clone()
        if value._tangent is not None:
            from whygrad.autograd.transforms.forward_ad import set_tangents

            set_tangents(copied, dict(value._tangent))
        return copied.requires_grad_() if value.requires_grad else copied
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(each) for each in value)
    return value


def _hidden() -> list[str]:
    """Keys of the arguments that the thread's mode overrules."""
    return [] if modes.state.recording else keys.describe(keys.AUTOGRAD)


def _mode() -> str:
    if modes.state.inference:
        return "inference_mode"
    recording = "grad mode on" if modes.state.grad else "no_grad"
    return f"{recording}, autocast" if modes.state.added & keys.AUTOCAST else recording


def _describe_result(result: Any) -> str:
    if isinstance(result, (tuple, list)):
        return ", ".join(map(_describe_result, result))
    if not isinstance(result, Tensor):
        return describe(result)
    notes = [describe(result), *keys.describe_tensor(result._keys & ~keys.DTYPES)]
    return " · ".join(notes)


class _Watcher:
    """Sees every op call on its way through the tables, and how the calls nest."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._innermost = self.steps

    def __enter__(self) -> None:
        for op in table.values():
            if op.kind != "composite":
                op.table.clear()  # ready-made entries would pass by unseen
        dispatch.watching.observe = self._observe

    def __exit__(self, *_: object) -> None:
        dispatch.watching.observe = None

    def _observe(self, op: Op, bits: int, entry: Entry) -> Entry:
        def observed(*args: Any) -> Any:
            step = Step(op.name, keys.describe(bits), dispatch.route(op, bits).layer, "raises")
            outer, self._innermost = self._innermost, step.inner
            outer.append(step)
            try:
                result = entry(*args)
                step.detail = _detail(op, bits, step, args, result)
                return result
            finally:
                self._innermost = outer

        return observed


def _detail(op: Op, bits: int, step: Step, args: tuple[Any, ...], result: Any) -> str:
    """What the layer did, in words."""
    if step.layer == "kernel":
        return _kernel(op, bits)
    if step.layer == "autograd":
        step.inner.append(Step(op.name, step.keys, "kernel", _kernel(op, bits)))
        return _recorded(result)
    if step.layer == "promotion":
        return f"{_casts(op, args)}, then the op is called again"
    if step.layer == "autocast":
        cast = op.autocast is not None and len(step.inner) > 1
        return f"{'casts' if cast else 'leaves its arguments as they are'}, then the op is called"
    if step.layer == "devices":
        return "0-d cpu tensors move to the device of the others, then the op is called again"
    if step.layer == "composite":
        function = next(function for mask, function in op.table.composites if bits & mask == mask)
        return f"{_place(function)} takes over"
    return "takes its part off the arguments, then the op is called again"


def _kernel(op: Op, bits: int) -> str:
    kernel = dispatch.kernel_for(op, bits)
    return f"{kernel.origin}: {_place(kernel.function)}"


def _place(function: Any) -> str:
    """Where a person finds the function: ``numpy.add``, ``whygrad.ops.reduction.sums:43``."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{getattr(function, '__module__', None) or 'numpy'}.{name}"
    module = str(function.__module__)
    return f"{module}:{code.co_firstlineno}" if name == "<lambda>" else f"{module}.{name}"


def _recorded(result: Any) -> str:
    outputs = result if isinstance(result, tuple) else (result,)
    node = next((out._node for out in outputs if out._node is not None), None)
    if node is None:
        return "no argument that needs a gradient has a rule: nothing to record"
    parts = {*node.op.tensor_names, *node.op.output_names}
    saved = [name for name in node.plan.saved_names if name in parts]
    return f"records {node.name()}, saves {' and '.join(saved) or 'nothing'}"


def _casts(op: Op, args: tuple[Any, ...]) -> str:
    target = dispatch.common_dtype(op, args)
    if op.variadic:
        named = [(f"{op.tensor_names[0]}[{place}]", each) for place, each in enumerate(args[0])]
    else:
        named = [(op.tensor_names[place], args[place]) for place in op.promoted_at]
    changes = []
    for name, value in named:
        dtype = value.dtype if isinstance(value, Tensor) else None
        if value is not None and dtype is not target:
            changes.append(f"{name} from {dtype.name if dtype else type(value).__name__}")
    return f"casts {', '.join(changes)} to {target.name}"


def _step_rows(steps: Sequence[Step]) -> Rows:
    flat = list(_flattened(steps, 0))
    digits = len(str(min(len(flat), MOST_STEPS)))
    rows: Rows = [
        (f"{number:>{digits}} {'  ' * depth}{step.op}", step.layer, step.detail)
        for number, (depth, step) in enumerate(flat[:MOST_STEPS], 1)
    ]
    if len(flat) > MOST_STEPS:
        rows.append((f"and {len(flat) - MOST_STEPS} more", "", ""))
    return rows or [("no op of the table is called", "", "")]


def _flattened(steps: Sequence[Step], depth: int) -> Iterator[tuple[int, Step]]:
    for step in steps:
        yield depth, step
        yield from _flattened(step.inner, depth + 1)


def _columns(rows: Rows) -> list[str]:
    """Rows with aligned cells; the last one wraps under itself."""
    if not rows:
        return ["  none"]
    widths = [min(max(map(len, cells)), 40) for cells in list(zip(*rows, strict=True))[:-1]]
    lines = []
    for *cells, last in rows:
        start = "  " + "".join(
            f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=True)
        )
        lines += _fit(last, start)
    return lines


def _fit(text: str, start: str = "  ") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [
        start.rstrip()
    ]


def _keep_spaces(text: str) -> str:
    return html.escape(text).replace("  ", "&nbsp;&nbsp;")
