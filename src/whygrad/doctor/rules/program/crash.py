"""Programs that an exception of the engine ended: shapes, types and numbers that do not fit.

The line that raised is seldom the one to change: a layer that was made too wide fails where it is
called.  Each form here is asked in turn; the first that knows what would fit tells it with the
numbers of the program.  How classes are written is in :mod:`.crash_classes`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.crash import Crash, crash_of, is_tensor, shape
from whygrad.doctor.rules.program.crash_classes import FORMS_OF_CLASSES, Told
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import quoted
from whygrad.doctor.source.lines import loss_assigned
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced, members

__all__: list[str] = []

Shape = list[int]

# The attribute with the width of its input that a layer has, the axis from behind of the input,
# and the attributes that its constructor takes next.
_WIDTHS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("in_features", 1, ("out_features",)),
    ("input_size", 1, ("hidden_size",)),
    ("embed_dim", 1, ("num_heads",)),
    ("in_channels", 0, ("out_channels",)),  # before as many axes as the kernel has
    ("num_features", 0, ()),
)


@rule(
    severity=3,
    thresholds={
        "axes": (3, "of what a recurrent layer is given: with fewer there is no batch"),
        "shown": (4, "tensors of a call, at most, whose shapes are told"),
        "alike": (0.6, "of the letters: a name that was meant to be another"),
    },
)
def crash_shape(case: Case) -> Iterator[Finding]:
    """The program ended: shapes, types or names do not fit.

    A layer is made for inputs of one width and one type, a loss for pairs of one shape, and
    tensors are joined along one axis. Where the exception is raised is seldom where the mistake
    is: the layer was made with another number, an axis was not moved, a class is not written
    as Python reads it.

    Measured: The exception, the call that raised it with the shapes and types that it was
    given, and the layers on the way there.
    Fix: Bring both sides to one shape and one type: the message has the numbers.
    Guardrail: print(x.shape) before the line that fails, for the first batch only
    """
    crash = crash_of(case)
    if crash is None:
        return
    for form in (*_FORMS, *FORMS_OF_CLASSES, _any_call):
        told = form(crash)
        if told is not None:
            yield _finding(crash, told)
            return


def _finding(crash: Crash, told: Told) -> Finding:
    given = next(iter(crash.tensors), None)
    where = told.where or crash.line
    noticed = crash.line if crash.line is not None and crash.line != where else None
    return crash_shape.finding(
        *told.evidence,
        None if given is None or not told.way else crash.told_way(given),
        f"it raised {type(crash.error).__name__}: {quoted(crash.text)}",
        where=where,
        step=len(crash.case.run.passes),
        proof=Proof.RAISED,
        places=[*told.places, ("raised here", noticed)],
        fix=told.fix,
    )


# --- a layer and its input ------------------------------------------------------------------------


def _width(crash: Crash) -> Told | None:
    """A layer was made for another width than that of its input."""
    layer, given = crash.layer, next(iter(crash.tensors), None)
    known = next((each for each in _WIDTHS if isinstance(getattr(layer, each[0], None), int)), None)
    if known is None or given is None or not _in_layer(crash):
        return None
    attribute, behind, others = known
    wanted, name, got = getattr(layer, attribute), crash.name(layer), shape(given)
    kernel = len(getattr(layer, "kernel_size", ())) if attribute == "in_channels" else 0
    axis = len(got) - kernel - 1 if kernel else len(got) - 1 if behind else 1
    fits = 0 <= axis < len(got) and got[axis] == wanted and (not kernel or axis <= 1)
    if fits:
        return None
    said = f"`{name}` is given {got} and was made for {wanted} {_noun(attribute)}"
    other = _arranged(got, wanted, kernel, attribute)
    if other is not None:
        data = crash.is_data(given)
        return Told(
            [said, f"in another arrangement it fits: {other[1]}"],
            where=crash.called if data else crash.line,
            fix=f"Bring the input of `{name}` into the order that it wants: `{other[0]}`",
            places=[(f"`{name}` is made here", crash.made_at(layer))],
        )
    if not 0 <= axis < len(got):
        return None
    parts = [str(got[axis]), *(str(getattr(layer, each)) for each in others)]
    more = ", …" if kernel or attribute == "input_size" else ""
    return Told(
        [said],
        where=crash.made_at(layer),
        fix=f"Make `{name}` for what it gets: `nn.{type(layer).__name__}({', '.join(parts)}{more})`"
        + _product(crash, given),
    )


def _in_layer(crash: Crash) -> bool:
    """Whether the layer itself refused, and not a call in the forward() of the program's own."""
    if isinstance(crash.error, AssertionError) and "embedding dim" not in crash.text:
        return False
    home = type(crash.layer).__module__
    return home.startswith(("torch.nn.", "whygrad.nn"))


def _noun(attribute: str) -> str:
    return "channels" if attribute in ("in_channels", "num_features") else "features"


def _product(crash: Crash, given: Any) -> str:
    """Where a flattened width comes from: ``800 is 32 × 5 × 5``."""
    for before, after in pairwise(crash.way(given)):
        if after.shape == shape(given) and len(before.shape) > 2:
            width = before.shape[1:]
            if math.prod(width) == after.shape[-1]:
                return f": {after.shape[-1]} is {' × '.join(map(str, width))}"
    return ""


def _arranged(got: Shape, wanted: int, kernel: int, attribute: str) -> tuple[str, str] | None:
    """What would make an input fit without another layer, and the shape then."""
    if kernel:
        return _for_kernel(got, wanted, kernel)
    if attribute == "num_features" or len(got) < 2:
        return None
    for start in range(1, len(got) - 1 if attribute == "in_features" else 1):
        if math.prod(got[start:]) == wanted:
            return f"x = x.flatten({start})", str([*got[:start], wanted])
    axes = [at for at in range(len(got)) if got[at] == wanted]
    if len(axes) == 1 and (axes[0] > 0 or len(got) == 2):
        turned = list(got)
        turned[axes[0]], turned[-1] = turned[-1], turned[axes[0]]
        return f"x = x.transpose({axes[0]}, {len(got) - 1})", str(turned)
    return None


def _for_kernel(got: Shape, wanted: int, kernel: int) -> tuple[str, str] | None:
    whole = kernel + 2
    if len(got) == whole and got[-1] == wanted:
        order = [0, whole - 1, *range(1, whole - 1)]
        turned = [got[each] for each in order]
        return f"x = x.permute({', '.join(map(str, order))})", str(turned)
    if len(got) == whole - 1 and wanted == 1:
        return "x = x.unsqueeze(1)", str([got[0], 1, *got[1:]])
    if len(got) == 2 and got[1] % wanted == 0:
        side = round((got[1] // wanted) ** (1 / kernel))
        if side**kernel * wanted == got[1]:
            sides = [wanted, *[side] * kernel]
            return f"x = x.view(-1, {', '.join(map(str, sides))})", str([got[0], *sides])
    return None


def _normalized(crash: Crash) -> Told | None:
    """A LayerNorm over other axes than the last of its input."""
    wanted = list(getattr(crash.layer, "normalized_shape", ()))
    given = next(iter(crash.tensors), None)
    if not wanted or given is None or shape(given)[-len(wanted) :] == wanted:
        return None
    got, name = shape(given), crash.name(crash.layer)
    fitting = got[-len(wanted) :]
    told = fitting[0] if len(fitting) == 1 else fitting
    return Told(
        [f"`{name}` is given {got} and was made for {wanted} at the end"],
        where=crash.made_at(crash.layer),
        fix=f"Make `{name}` for what it gets: `nn.LayerNorm({told})`",
    )


def _hidden_state(crash: Crash) -> Told | None:
    """The hidden state was made for another batch size."""
    layer = crash.layer
    if not isinstance(getattr(layer, "hidden_size", None), int) or len(crash.tensors) < 2:
        return None
    x, hidden = crash.tensors[:2]
    got, state = shape(x), shape(hidden)
    if not len(got) == len(state) == crash.case.limit("axes"):
        return None
    samples = got[0] if getattr(layer, "batch_first", False) else got[1]
    if state[1] == samples:
        return None
    name = crash.name(layer)
    turned = got[1] if getattr(layer, "batch_first", False) else got[0]
    evidence = [f"`{name}` is given {samples} samples, {got}, and a state for {state[1]}: {state}"]
    if turned == state[1] and not crash.case.run.passes:
        want = "False" if getattr(layer, "batch_first", False) else "True"
        fix = f"The axes of samples and steps are exchanged: make it with `batch_first={want}`"
        return Told(evidence, where=crash.made_at(layer), fix=fix)
    return Told(
        [*evidence, "the last batch of an epoch is smaller than the others"],
        where=crash.origin(hidden) or crash.line,
        fix=f"Make the state as large as the batch: torch.zeros({state[0]}, "
        f"x.size({0 if getattr(layer, 'batch_first', False) else 1}), {state[2]}) in forward(), or "
        "let the loader leave out what is over: DataLoader(…, drop_last=True).",
    )


# --- types ----------------------------------------------------------------------------------------


def _types(crash: Crash) -> Told | None:
    """Two tensors of one call have different types."""
    pair = crash.tensors[:2]
    if not re.search("type|Double|Half", crash.text):
        return None
    if crash.op in ops.EMBEDDING or hasattr(crash.layer, "num_embeddings"):
        return _indices(crash)
    weight = getattr(crash.layer, "weight", None)
    if crash.op not in ops.LINEAR | ops.SEQUENCES and is_tensor(weight):
        pair = [*pair[:1], weight]
    elif crash.op not in ops.LINEAR | ops.SEQUENCES:
        return None
    if len(pair) < 2 or pair[0].dtype == pair[1].dtype:
        return None
    given, weight = pair
    if given.requires_grad and not weight.requires_grad:
        given, weight = weight, given
    to = {"float32": "float()", "float64": "double()", "float16": "half()"}.get(_type(weight))
    if to is None:
        return None
    name = crash.name(crash.layer) if crash.layer is not None else crash.op
    data = crash.is_data(given)
    return Told(
        [f"`{name}` is given {_type(given)} {shape(given)}; its weight is {_type(weight)}"],
        where=(crash.origin(given) or crash.called or crash.line) if data else crash.line,
        fix=f"Convert what goes in, once, where the data are made: `x = x.{to}`"
        + (" (NumPy makes float64)" if _type(given) == "float64" else ""),
    )


def _indices(crash: Crash) -> Told | None:
    indices = next(iter(crash.tensors), None)
    if indices is None or not indices.is_floating_point():
        return None
    return Told(
        [f"indices of a table are whole numbers; these are {_type(indices)}: {shape(indices)}"],
        where=crash.origin(indices) or crash.called or crash.line,
        fix="Convert them: `x = x.long()`",
    )


def _type(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def _backward_type(crash: Crash) -> Told | None:
    """A loss took a target of another type, and its backward does not."""
    found = re.search(r"Found dtype (\w+) but expected (\w+)", crash.text)
    passes = crash.case.run.passes
    if found is None or not passes:
        return None
    loss = loss_assigned(passes[-1].where) or passes[-1].where
    return Told(
        [f"the target of the loss is {found[1]}; the prediction is {found[2]}"],
        where=loss,
        fix="Give the loss a target of the type of the prediction: `y = y.float()`",
    )


# --- two or more tensors --------------------------------------------------------------------------


def _joined(crash: Crash) -> Told | None:
    """Tensors that are joined differ along another axis."""
    if crash.op not in ops.JOINS or len(crash.tensors) < 2:
        return None
    parts = [shape(each) for each in crash.tensors]
    given = ", ".join(map(str, parts))
    dims = {len(each) for each in parts}
    odd = next((each for each in crash.tensors if shape(each) != parts[0]), None)
    evidence = [f"`{crash.op}` is given {given}"]
    evidence += [told for each in crash.tensors[:2] if (told := crash.told_way(each))]
    if len(dims) > 1:
        fix = "Give all of them the same number of axes: x.unsqueeze(…) on the one with fewer."
    else:
        axes = [at for at in range(max(dims)) if len({each[at] for each in parts}) > 1]
        if len(axes) == 1 and crash.op in ops.CAT:
            fix = (
                f"They differ along axis {axes[0]} only: join them there, `dim={axes[0]}`, or "
                "bring that axis to one length."
            )
        else:
            fix = (
                f"Bring axes {', '.join(map(str, axes))} to one length before: padding in the "
                "layers that shrink them, F.interpolate(x, size=…), or cut the larger one."
            )
    shrinking = [] if odd is None else list(_shrinking(crash, odd))
    return Told(evidence, where=crash.line, fix=fix, places=shrinking[:2], way=False)


def _shrinking(crash: Crash, tensor: Any) -> Iterator[tuple[str, Any]]:
    """Convolutions on the way that lose the border."""
    for stop in crash.way(tensor):
        layer = crash.case.module(stop.call.module)
        kernel, padding = getattr(layer, "kernel_size", (1,)), getattr(layer, "padding", (1,))
        borders = stop.call.op in ops.CONVOLUTIONS - ops.TRANSPOSED_CONVOLUTIONS
        if borders and isinstance(padding, tuple) and max(kernel) > 1 and max(padding) == 0:
            yield "it shrinks here, without padding", crash.made_at(layer)


def _loss_width(crash: Crash) -> Told | None:
    """The model has another number of outputs than there are targets."""
    if crash.op not in ops.LOSSES or len(crash.tensors) < 2:
        return None
    prediction, target = crash.tensors[:2]
    got, wanted = shape(prediction), shape(target)
    said = f"`{crash.op}` is given predictions {got} and targets {wanted}"
    if got and wanted and got[0] != wanted[0]:
        return _mixed_batch(crash, prediction, said)
    if len(got) != len(wanted) or not got or got[-1] == wanted[-1]:
        return None
    last = [each for each in crash.way(prediction) if each.call.op in ops.LINEAR_LAYER]
    layer = crash.case.module(last[-1].call.module) if last else None
    if layer is None or getattr(layer, "out_features", None) != got[-1]:
        return None
    fitting = f"nn.Linear({layer.in_features}, {wanted[-1]})"
    return Told(
        [said],
        where=crash.made_at(layer),
        fix=f"Give the model one output for each target: `{fitting}`, or use other targets.",
    )


def _mixed_batch(crash: Crash, prediction: Any, said: str) -> Told | None:
    """A reshape on the way has mixed the samples."""
    way = crash.way(prediction)
    for before, after in pairwise(way):
        moved = after.call.op in ops.RESHAPING and before.shape[:1] != after.shape[:1]
        if moved and before.shape and after.shape:
            width = math.prod(before.shape[1:])
            return Told(
                [said, f"`{after.call.op}` makes {after.shape[0]} rows of {before.shape[0]} "
                 f"samples: {before.shape} → {after.shape}"],
                where=after.call.where,
                fix=f"Keep the samples apart: `x.view(x.size(0), -1)`, which gives "
                f"{[before.shape[0], width]}; the layer behind it then takes {width} features.",
            )  # fmt: skip
    return Told([said], where=crash.line, fix="Give the loss one target for each prediction.")


def _reshaped(crash: Crash) -> Told | None:
    """A shape that does not have as many elements."""
    given = next(iter(crash.tensors), None)
    fixed = _fixed_batch(crash)
    if fixed is not None or crash.op not in ops.RESHAPING or given is None:
        return fixed
    got = shape(given)
    if "contiguous" in crash.text or "stride" in crash.text:
        fix = f"`.reshape(…)` in place of `.{crash.op}(…)` copies where it has to."
        return Told([f"`{crash.op}` is given {got}, whose axes were moved"], fix=fix)
    wanted = [each for each in [*members(crash.arguments[1:])][::-1] if isinstance(each, int)]
    if "invalid for input of size" not in crash.text or len(got) < 2:
        return None
    width = math.prod(got[1:])
    return Told(
        [f"`{crash.op}` is given {got}, {math.prod(got)} numbers, and is to make {wanted} of them"],
        fix=f"Count from the input: `x.view(x.size(0), -1)` gives {[got[0], width]} here; the "
        f"layer behind it then takes {width} features.",
    )


def _fixed_batch(crash: Crash) -> Told | None:
    """A shape with the batch size in it, and a batch that is smaller."""
    found = re.search(r"shape '\[([\d, ]+)\]' is invalid for input of size (\d+)", crash.text)
    wanted = [] if found is None else [int(each) for each in found[1].split(",")]
    width = math.prod(wanted[1:])
    if found is None or len(wanted) < 2 or not width or int(found[2]) % width:
        return None
    rows = int(found[2]) // width
    rest = ", ".join(map(str, wanted[1:]))
    return Told(
        [f"{wanted} is wanted of {found[2]} numbers: this batch has {rows} rows, not {wanted[0]}"],
        fix=f"Leave the number of rows open: `x.view(-1, {rest})`; or let the loader leave out a "
        "last batch that is smaller: DataLoader(…, drop_last=True).",
    )


def _product_by_hand(crash: Crash) -> Told | None:
    """Two matrices whose inner axes differ."""
    if crash.op not in ops.MATRIX_PRODUCTS - ops.ADDED_PRODUCTS or len(crash.tensors) != 2:
        return None
    one, other = (shape(each) for each in crash.tensors)
    if not one or len(other) < 2 or one[-1] == other[-2]:
        return None
    said = f"the product of {one} and {other}: {one[-1]} columns meet {other[-2]} rows"
    if one[-1] == other[-1]:
        return Told([said], fix="Turn the second one: `a @ b.mT`; the axes then fit.")
    if len(one) > 1 and one[-2] == other[-2]:
        return Told([said], fix="Turn the first one: `a.mT @ b`; the axes then fit.")
    return Told([said], fix="Bring the last axis of the one and the last but one of the other "
                "to one length.")  # fmt: skip


def _elementwise(crash: Crash) -> Told | None:
    """Two shapes that cannot be broadcast."""
    if "must match the size of tensor" not in crash.text and "broadcast" not in crash.text:
        return None
    if len(crash.tensors) < 2:
        return None
    one, other = (shape(each) for each in crash.tensors[:2])
    evidence = [f"`{crash.op}` is given {one} and {other}"]
    evidence += [told for each in crash.tensors[:2] if (told := crash.told_way(each))]
    fix = "Bring both to one shape, axis by axis from the last one; an axis of length 1 fits any."
    if sorted(one) == sorted(other):
        fix = "They have the same axes in another order: permute or transpose one of them."
    elif math.prod(one) == math.prod(other):
        fix = f"They have as many numbers: `x.view({other})` for the first, if the order is right."
    return Told(evidence, fix=fix, way=False)


def _any_call(crash: Crash) -> Told | None:
    """A call of the engine that refused its tensors."""
    tensors = crash.tensors
    kinds = (RuntimeError, ValueError, IndexError, TypeError)
    if crash.failure is None or not tensors or not isinstance(crash.error, kinds):
        return None
    if any(type(each) is Produced for each in tensors):
        return None
    shown = int(crash.case.limit("shown"))
    given = ", ".join(f"{shape(each)} {_type(each)}" for each in tensors[:shown] if is_tensor(each))
    return Told([f"`{crash.op}` is given {given}"], fix=crash_shape.fix)


_FORMS: tuple[Callable[[Crash], Told | None], ...] = (
    _types,
    _hidden_state,
    _width,
    _normalized,
    _backward_type,
    _joined,
    _loss_width,
    _reshaped,
    _product_by_hand,
    _elementwise,
)
