"""Exceptions of the program's own classes: names that Python or the engine does not know.

A constructor with three underscores is an ordinary method that nobody calls; a ``forward`` that is
called otherwise, or stands inside of another function, is not found; a layer that returns a pair
is not a tensor.  The text and the classes of the program show which.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from whygrad.doctor.evidence.crash import Crash, is_module
from whygrad.doctor.source.lines import assignment_of, class_of, defined, has_return
from whygrad.doctor.source.reader import source_of, walked
from whygrad.source import Where

__all__ = ["FORMS_OF_CLASSES", "Told"]

_TUPLE = re.compile(
    r"must be Tensor, not tuple|'tuple' object has no attribute|but got tuple|"
    r"tuple indices must be integers or slices, not tuple"
)


@dataclass
class Told:
    """What one form knows: evidence, the line to change, and what to write there."""

    evidence: list[str]
    fix: str
    where: Where | None = None  # where it was raised, if it says nothing
    places: list[tuple[str, Where | None]] = field(default_factory=list)
    way: bool = True  # whether the layers on the way belong to it


def _own(crash: Crash) -> Iterator[Any]:
    """Modules of the program's own classes: those in the traceback, then all that were made."""
    for frame in reversed(crash.frames):
        for value in (frame.f_locals.get("self"), *frame.f_locals.values()):
            if is_module(value) and class_of(type(value)) is not None:
                yield value


def _constructor(crash: Crash) -> Told | None:
    """``___init___``: Python never calls it."""
    if not isinstance(crash.error, (TypeError, AttributeError, ValueError)):
        return None
    for module in _own(crash):
        for name, method in vars(type(module)).items():
            if name != "__init__" and re.fullmatch(r"_*(init|int|inti|intit|initt)_*", name):
                if "__init__" in vars(type(module)) or not callable(method):
                    continue
                kind = type(module).__name__
                return Told(
                    [f"`{kind}` has a method `{name}`, which Python never calls: `{kind}(…)` "
                     "runs the constructor of nn.Module and makes no layer"],
                    where=defined(method),
                    fix="Two underscores on each side: `def __init__(self, …):`",
                    way=False,
                )  # fmt: skip
    return None


def _no_super(crash: Crash) -> Told | None:
    """Layers are assigned before ``super().__init__()``."""
    if not re.search(
        r"before Module\.__init__|no attribute '_(modules|parameters|buffers|backward_hooks)'",
        crash.text,
    ):
        return None
    module = next(_own(crash), None)
    method = None if module is None else vars(type(module)).get("__init__")
    where = None if method is None else defined(method)
    if module is None or where is None:
        return None
    kind, later = type(module).__name__, None
    for call in walked(class_of(type(module)) or ast.Pass(), ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
            later = source_of(where).place(call.lineno)
    if later is not None:
        fix = "Move super().__init__() to the first line of the constructor."
        return Told([f"`{kind}.__init__` assigns a layer before it calls super().__init__()"],
                    where=later, fix=fix, way=False)  # fmt: skip
    return Told(
        [f"`{kind}.__init__` never calls super().__init__(), so nn.Module cannot hold layers"],
        where=where,
        fix="Begin the constructor with it: `super().__init__()`",
        way=False,
    )


def _no_forward(crash: Crash) -> Told | None:
    """No method of the right name computes the output."""
    if not isinstance(crash.error, NotImplementedError) or "forward" not in crash.text:
        return None
    module = next(_own(crash), None)
    tree = None if module is None else class_of(type(module))
    if module is None or tree is None:
        return None
    kind = type(module).__name__
    methods = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    source = source_of(defined(getattr(type(module), methods[0].name)) or "") if methods else None
    inside = [
        each
        for method in methods
        for each in walked(method, ast.FunctionDef)
        if each is not method and each.name == "forward"
    ]
    if inside and source is not None:
        return Told(
            [f"`forward` of `{kind}` stands inside of another method, where nobody finds it"],
            where=source.place(inside[0].lineno),
            fix="Indent it like the other methods of the class.",
            way=False,
        )
    names = {each.name: each for each in methods if not each.name.startswith("__")}
    near = difflib.get_close_matches("forward", names, 1, crash.case.limit("alike")) or (
        list(names) if len(names) == 1 else []
    )
    if not near or source is None:
        return Told([f"`{kind}` has no method `forward`"], way=False, where=crash.made_at(module),
                    fix="Write `def forward(self, x):` in the class.")  # fmt: skip
    return Told(
        [f"`{kind}` has `{near[0]}`; calling a module calls its `forward`"],
        where=source.place(names[near[0]].lineno),
        fix=f"Name it as nn.Module calls it: `def forward(self, …):` in place of `{near[0]}`",
        way=False,
    )


def _loss_as_constructor(crash: Crash) -> Told | None:
    """``nn.MSELoss(prediction, target)`` makes a loss; it does not compute one."""
    kind = None
    for frame in crash.frames:
        made = frame.f_locals.get("self")
        name = type(made).__name__
        if name.endswith("Loss") and frame.f_code.co_name == "__init__":
            kind = name
    found = re.search(r"'(\w+Loss)' object has no attribute '(backward|item|detach)'", crash.text)
    kind = found[1] if found is not None else kind
    if kind is None:
        return None
    where = crash.line
    if found is not None and where is not None:
        where = assignment_of(where, lambda value: f"{kind}(" in value) or where
    return Told(
        [f"`nn.{kind}(prediction, target)` makes a loss with these as its settings"],
        where=where,
        fix=f"Make it first and call it then: `nn.{kind}()(prediction, target)`",
        way=False,
    )


def _pair(crash: Crash) -> Told | None:
    """What a recurrent layer returns is a pair, and was used as one tensor."""
    if not _TUPLE.search(crash.text):
        return None
    recurrent = [
        each
        for _, root, _ in crash.case.run.roots
        for each in root.modules()
        if isinstance(getattr(each, "hidden_size", None), int)
    ]
    if not recurrent:
        return None
    layer, where = recurrent[-1], crash.line
    name, kind = crash.name(layer), type(layer).__name__
    if where is not None:
        short = name.rpartition(".")[2]
        where = assignment_of(where, lambda value: f"{short}(" in value) or where
    in_row = not name.isidentifier() and "(" in name  # a number, and no name of its own
    return Told(
        [f"`{name}` is an nn.{kind}: it returns its outputs and its state, a pair"],
        where=crash.made_at(layer) if in_row else where,
        fix="A Sequential hands the pair on as it is: call the layers one by one, "
        "`out, state = rnn(x)`, and go on with `out`." if in_row
        else "Take the pair apart: `out, state = …`, and go on with `out`.",
        way=False,
    )  # fmt: skip


def _array(crash: Crash) -> Told | None:
    """A NumPy array was given to a layer."""
    if "must be Tensor, not numpy.ndarray" not in crash.text:
        return None
    return Told(
        ["the layer is given a NumPy array, and takes tensors"],
        where=crash.called,
        fix="Convert it once: `x = torch.from_numpy(x).float()`",
        way=False,
    )


def _nothing(crash: Crash) -> Told | None:
    """A ``forward`` without ``return`` gives None."""
    if "NoneType" not in crash.text:
        return None
    roots = [each for _, root, _ in crash.case.run.roots for each in root.modules()]
    for module in (*_own(crash), *roots):
        method = vars(type(module)).get("forward")
        if method is not None and has_return(method) is False:
            return Told(
                [f"`{type(module).__name__}.forward` has no `return`: calling it gives None"],
                where=defined(method),
                fix="End it with `return` and what it computed.",
                way=False,
            )
    return None


def _attribute(crash: Crash) -> Told | None:
    """An attribute that the module does not have."""
    found = re.search(r"'(\w+)' object has no attribute '(\w+)'", crash.text)
    if found is None or not isinstance(crash.error, AttributeError):
        return None
    module = next((each for each in _own(crash) if type(each).__name__ == found[1]), None)
    if module is None:
        return None
    known = [name for name, _ in module.named_children()]
    known += [name for name in vars(module) if not name.startswith("_")]
    known = [each for each in known if each != "training"]
    near = difflib.get_close_matches(found[2], known, 1)
    instead = f", or `self.{near[0]}` is meant" if near else ""
    return Told(
        [f"`{found[1]}` has no `{found[2]}`; it has {', '.join(known) or 'nothing of its own'}"],
        fix=f"Assign `self.{found[2]} = …` in its constructor{instead}.",
        way=False,
    )


def _signature(crash: Crash) -> Told | None:
    """``forward`` is called with other arguments than it takes."""
    found = re.search(r"(\w+\.)?forward\(\) (missing|takes|got)", crash.text)
    if found is None or not isinstance(crash.error, TypeError):
        return None
    module = next((each for each in _own(crash) if type(each).__name__ in crash.text), None)
    method = None if module is None else vars(type(module)).get("forward")
    code = getattr(method, "__code__", None)
    if module is None or code is None:
        return None
    takes = code.co_varnames[: code.co_argcount]
    if takes[:1] != ("self",):
        return Told(
            [f"`{type(module).__name__}.forward` has no `self` among its arguments"],
            where=defined(method),
            fix=f"`def forward({', '.join(('self', *takes))}):`",
            way=False,
        )
    return Told(
        [f"`{type(module).__name__}.forward` takes {', '.join(takes[1:]) or 'no argument'}"],
        fix=f"Call it with these, and only these: `({', '.join(takes[1:])})`",
        places=[("defined here", defined(method))],
        way=False,
    )


def _with_graph(crash: Crash) -> Told | None:
    """Numbers are taken out of a tensor that gradients flow through."""
    if "numpy() on Tensor that requires grad" not in crash.text:
        return None
    return Told(
        ["NumPy cannot follow gradients, and this tensor has them"],
        fix="`.detach().numpy()` in place of `.numpy()`: for plots and figures, not in the loss",
        way=False,
    )


def _not_a_number(crash: Crash) -> Told | None:
    """``backward()`` of more than one number."""
    passes = crash.case.run.passes
    if "only for scalar outputs" not in crash.text or not passes:
        return None
    got = list(passes[-1].shape)
    return Told(
        [f"the loss has shape {got}: one for each element"],
        where=passes[-1].where,
        fix="`loss.mean().backward()`, or a loss without reduction='none'",
        way=False,
    )


FORMS_OF_CLASSES: tuple[Callable[[Crash], Told | None], ...] = (
    _constructor,
    _no_super,
    _no_forward,
    _loss_as_constructor,
    _pair,
    _array,
    _nothing,
    _attribute,
    _signature,
    _with_graph,
    _not_a_number,
)
