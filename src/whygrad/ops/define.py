"""How an op is declared.

One call of :func:`define` is one row of the op table: the NumPy kernel, the reverse rule, the
forward rule, the formula in words and the sample inputs stand together.  Everything else is
derived from that row: the public function, the method, what backward saves, the tests.

A rule is written once, against an array namespace ``xp``: in ordinary backward it runs on raw
arrays; under ``create_graph=True`` the very same rule runs on tensors and is recorded in turn.

*The parameter names of a rule say what it needs, and that is what gets saved.*  After ``xp`` and
``incoming`` a rule may ask for an input (``a``), an output (``y``), a parameter (``dim``), or an
input's geometry without its data (``a_shape``, ``a_dtype``).  ``mul`` therefore saves ``b`` only
if ``a`` needs a gradient, and nobody has to keep a list of saved tensors in step with the rules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from whygrad.dispatch.out import TAKES_OUT
from whygrad.ops import late
from whygrad.ops.namespace import raw, recorded
from whygrad.ops.plan import Plan, Rule

if TYPE_CHECKING:
    from whygrad.autograd.node import Node
    from whygrad.dispatch.routes import KernelTable
    from whygrad.ops.batching import GenericRule

__all__ = [
    "Op",
    "alias",
    "aliases",
    "composite",
    "define",
    "elementwise",
    "public_form",
    "table",
]

Kind = Literal["elementwise", "view", "reduction", "general", "composite", "custom"]
Promotion = Literal["same", "float", "none"]
ComplexRule = Literal["holomorphic", "own"]
Autocast = Literal["lower", "float32", "promote", "keep"]

# Every op by name, in order of declaration.
table: Table

# Modules of the package whose functions have the module's name before their own in the table.
_NAMESPACES = ("fft", "linalg", "special")

# Second names that PyTorch has for some ops.
aliases: dict[str, str] = {}


class Op:
    """One row of the op table."""

    def __init__(
        self,
        name: str,
        kind: Kind,
        formula: str,
        forward: Callable[..., Any],
        *,
        tensor_names: tuple[str, ...] = (),
        variadic: bool = False,
        param_names: tuple[str, ...] = (),
        outputs: tuple[str, ...] = ("y",),
        returned: int | None = None,
        vjp: dict[str, Rule] | Rule | None = None,
        jvp: Rule | None = None,
        linear: bool = False,
        flat: tuple[str, ...] = (),
        joined: tuple[str, ...] = (),
        differentiable: bool = False,
        promote: Promotion = "none",
        promoted: tuple[int, ...] = (),
        meta: Callable[..., Any] | None = None,
        batching: Rule | GenericRule | None = None,
        subgradient: str | None = None,
        kinks: dict[str, tuple[float, ...]] | None = None,
        domain: dict[str, tuple[float, float]] | None = None,
        samples: Callable[..., Any] | None = None,
        torch: str | None = None,
        method: bool = True,
        inplace: bool = False,
        internal: bool = False,
        refuses: dict[str, tuple[str, str]] | None = None,
        complex_rule: ComplexRule | None = None,
        autocast: Autocast | Callable[..., Autocast | None] | None = None,
        notes: str | None = None,
    ) -> None:
        self.name = name
        self.module = _declaring_module()
        self.kind = kind
        self.formula = formula
        self.forward = forward
        self.tensor_names = tensor_names
        self.variadic = variadic
        self.param_names = param_names
        self.returns_list = outputs[0].startswith("*")
        self.output_names = tuple(each.lstrip("*") for each in outputs)
        self.returned = returned
        self.vjp = vjp
        self.jvp = jvp
        self.linear = linear
        self.flat = flat
        self.joined = joined
        self.differentiable = differentiable
        self.promote = promote
        self.promoted = promoted
        self.meta = meta
        self.batching = batching
        self.subgradient = subgradient
        self.kinks = kinks or {}
        self.domain = domain or {}
        self.samples = samples
        self.torch = "" if internal and torch is None else torch
        self.method = method and not internal
        self.inplace = inplace
        self.internal = internal
        self.refuses = refuses or {}
        self.complex_rule = complex_rule
        self.autocast = autocast
        self.notes = notes
        self.takes_out = not internal and name in TAKES_OUT
        self.table: KernelTable
        self.node_name = "".join(part.capitalize() for part in name.split("_")) + "Backward"
        self.call: Callable[..., Any] = _unbound
        self.public: Callable[..., Any] = _unbound
        self.node_types: dict[type[Node], type[Node]] = {}  # see autograd.node_types
        self._plans: dict[tuple[tuple[bool, ...], bool, bool, bool], Plan] = {}

    @property
    def family(self) -> str:
        """The folder (or file) of ``whygrad.ops`` that declares it."""
        return self.module.partition(".")[0]

    @property
    def public_name(self) -> str | None:
        """Where users find it under ``whygrad``; None for helpers of other ops' rules."""
        if self.internal:
            return None
        space, _, name = self.name.partition("_")
        return f"{space}.{name}" if space in _NAMESPACES else self.name

    def plan(
        self,
        needs: tuple[bool, ...],
        on_tensors: bool = False,
        in_float32: bool = False,
        conjugates: bool = False,
    ) -> Plan:
        """How backward works when exactly these tensor arguments need a gradient.

        ``on_tensors``: the data is no NumPy array, so the rules need the dispatcher.
        ``in_float32``: half precision, so the rules compute in float32 and round once.
        ``conjugates``: complex numbers, so what comes in and what goes out is conjugated.
        """
        key = (needs, on_tensors, in_float32, conjugates)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = Plan(self, *key)
        return plan

    def saves(self) -> tuple[str, ...]:
        """Names of the tensors kept when every differentiable argument needs a gradient."""
        if self.vjp is None:
            return ()
        plan = self.plan(tuple(self.has_rule(name) for name in self.tensor_names))
        tensors = {*self.tensor_names, *self.output_names}
        return tuple(name for name in plan.saved_names if name in tensors)

    def has_rule(self, tensor_name: str) -> bool:
        if isinstance(self.vjp, dict):
            return tensor_name in self.vjp
        return self.vjp is not None

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _unbound(*_: Any, **__: Any) -> Any:
    raise RuntimeError("the op table is not loaded: import whygrad first")


def define(
    signature: str,
    formula: str,
    *,
    forward: Callable[..., Any],
    vjp: dict[str, Rule] | Rule | None,
    jvp: Rule | None = None,
    kind: Kind = "general",
    linear: bool = False,
    flat: tuple[str, ...] = (),
    joined: tuple[str, ...] = (),
    promote: Promotion = "none",
    promoted: str | None = None,
    outputs: tuple[str, ...] = ("y",),
    returned: int | None = None,
    meta: Callable[..., Any] | None = None,
    batching: Rule | GenericRule | None = None,
    subgradient: str | None = None,
    kinks: dict[str, tuple[float, ...]] | None = None,
    domain: dict[str, tuple[float, float]] | None = None,
    samples: Callable[..., Any] | None = None,
    torch: str | None = None,
    public: Callable[..., tuple[Any, ...]] | None = None,
    method: bool = True,
    inplace: bool = False,
    internal: bool = False,
    notes: str | None = None,
    refuses: dict[str, tuple[str, str]] | None = None,
    complex_rule: ComplexRule | None = None,
    autocast: Autocast | Callable[..., Autocast | None] | None = None,
) -> Op:
    """Declare a primitive op.

    ``signature``
        ``"gather(x, index; dim)"``: tensors, then ``;``, then plain parameters, in the order the
        kernel takes them.  ``"cat(*tensors; dim)"`` takes a list of tensors.
    ``formula``
        the op and its derivative in words, shown by ``whygrad ops NAME``.
    ``forward``
        the NumPy kernel: raw arrays and parameters in, raw array (or tuple of them) out.
    ``outputs``
        names of the results; ``("*pieces",)`` for as many as the parameters make.
    ``returned``
        how many of these the user gets, if not all: the others are there for the rules only, and
        hooks do not see them.
    ``vjp``
        one rule per differentiable tensor, ``{"a": lambda xp, incoming, b: incoming * b}``; or a
        single function that returns one gradient per tensor argument, where they share work; or
        None if no gradient flows.  A rule returns the gradient in the output's broadcast shape;
        the engine sums over broadcast axes.  A rule returns a fresh array, a view, or
        ``incoming`` itself, never a saved array.
    ``jvp``
        ``jvp(xp, tangents, …)`` with one tangent (or None) per tensor.  Not needed for
        elementwise ops, whose Jacobian is diagonal, nor for ``linear`` ones.
    ``flat``
        tensors in which the op is straight, piece by piece: their gradient does not depend on
        them.  Under ``create_graph`` it still requires grad, and its own derivative is zeros, as
        in PyTorch (see :mod:`whygrad.ops.ties`).
    ``joined``
        one function computes all gradients in PyTorch, so all require grad under ``create_graph``
        as soon as one of these tensors does, also those that depend on none of them.
    ``promote``
        ``same``: bring all (or the ``promoted``) tensors to PyTorch's common dtype; ``float``:
        the same, and integers become the default float; ``none``: take dtypes as they are.
    ``meta``
        shapes and dtypes of the outputs from those of the inputs, for the meta device: takes
        what ``forward`` takes, returns ``(shape, dtype)`` (a list of them for several outputs).
    ``batching``
        how one call serves a whole batch, for ``vmap``: ``shift_dims("dim")`` or
        ``leading_dims`` (see :mod:`whygrad.ops.batching`), or a rule ``rule(xp, …)`` that asks by
        name for tensors, parameters and ``batch``, the number of samples.  The tensors have the
        batch as first dimension, and so has what the rule returns.  A rule that asks for
        ``batched`` (one bool per tensor) gets tensors without a batch as they are.  Not needed
        for elementwise ops; everything else runs sample by sample without it.
    ``kinks``, ``subgradient``
        points where the derivative jumps, per tensor, and which value is used there.
    ``domain``
        the interval per tensor from which automatic samples are drawn.
    ``samples``
        ``samples(make)`` yields ``make.call(*args, **kwargs)`` for the public function.
    ``torch``
        dotted name under ``torch`` of the same function, if it is not the op's own name.
    ``public``
        takes PyTorch's arguments and returns the kernel's (checked, normalised) as a tuple; or
        the finished result, where these arguments are another op's work.
    ``method``, ``inplace``
        also make ``Tensor.name`` / ``Tensor.name_``.
    ``internal``
        a helper of other ops' rules: in the table and in the tests, but not public.
    ``refuses``
        kinds of number (``bool``, ``complex``) the op does not take: ``{kind: (cause, fix)}``.
    ``complex_rule``
        how gradients pass through complex numbers.  ``holomorphic``: the rule is written as for
        real numbers, J^T g, and the engine makes J^H g of it by conjugating what comes in and what
        goes out (linear ops are holomorphic without saying so); ``own``: the rule itself answers
        in PyTorch's convention; None: refused.
    ``autocast``
        what the op computes in inside ``autocast``: ``lower`` (the chosen half precision),
        ``float32``, ``promote`` (the widest float among its tensors), or ``keep``: as it finds
        them, although it is made of ops that would not.  Not said: as it, or the ops it is made
        of, find them.  A function of the op's arguments may choose.
    """
    name, tensor_names, param_names, variadic = _parse(signature)
    promoted_names = tensor_names if promoted is None else tuple(promoted.split())
    op = Op(
        name,
        kind,
        formula,
        forward,
        tensor_names=tensor_names,
        variadic=variadic,
        param_names=param_names,
        outputs=outputs,
        returned=returned,
        vjp=vjp,
        jvp=jvp,
        linear=linear,
        flat=flat,
        joined=joined,
        differentiable=vjp is not None,
        promote=promote,
        promoted=tuple(tensor_names.index(each) for each in promoted_names),
        meta=meta,
        batching=batching,
        subgradient=subgradient,
        kinks=kinks,
        domain=domain,
        samples=samples,
        torch=torch,
        method=method,
        inplace=inplace,
        internal=internal,
        refuses=refuses,
        complex_rule=complex_rule or ("holomorphic" if linear and vjp is not None else None),
        autocast=autocast,
        notes=notes,
    )
    _add(op)
    from whygrad.dispatch import bind

    bind(op, public)
    setattr(raw, name, forward)
    setattr(recorded, name, op.call)
    return op


def elementwise(signature: str, formula: str, **row: Any) -> Op:
    """Declare an op that works on each element alone (after broadcasting)."""
    row.setdefault("promote", "float")
    return define(signature, formula, kind="elementwise", **row)


def composite(
    function: Callable[..., Any],
    formula: str,
    *,
    samples: Callable[..., Any] | None = None,
    torch: str | None = None,
    method: bool = True,
    inplace: bool = False,
    differentiable: bool = True,
    kernel: Callable[..., Any] | None = None,
    autocast: Autocast | Callable[..., Autocast | None] | None = None,
    notes: str | None = None,
) -> Callable[..., Any]:
    """Declare an op built from other ops: its derivative is theirs, by the chain rule.

    ``kernel`` makes it usable inside rules: the same function on raw arrays.
    """
    op = Op(
        function.__name__.rstrip("_"),
        "composite",
        formula,
        function,
        differentiable=differentiable,
        samples=samples,
        torch=torch,
        method=method,
        inplace=inplace,
        autocast=autocast,
        notes=notes,
    )
    from whygrad.dispatch.arguments import guarded

    function.op = op  # type: ignore[attr-defined]
    op.call = function
    op.public = guarded(op, function, op.takes_out)
    if kernel is not None:
        setattr(raw, op.name, kernel)
        setattr(recorded, op.name, function)
    _add(op)
    return function


def alias(name: str, original: str) -> None:
    """Let an op answer to a second name as well, as ``clip`` does for ``clamp``."""
    aliases[name] = original


def public_form(op: Op) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the decorated function the op's public face.

    For ops whose arguments decide more than the kernel's parameters (``max`` has three
    overloads) or whose results have names (``sort``).
    """

    from whygrad.dispatch.arguments import guarded

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = function.__qualname__ = op.name
        function.op = op  # type: ignore[attr-defined]
        op.public = guarded(op, function, op.takes_out)
        return op.public

    return attach


class Table(dict[str, Op]):
    """Every op by name.  What is looked for, or all if somebody looks at all, is declared first."""

    def __missing__(self, name: str) -> Op:
        if late.load(name) and dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        raise KeyError(name)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.__getitem__(self, name) if name in self else default

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or (
            isinstance(name, str) and late.load(name) and dict.__contains__(self, name)
        )

    def __iter__(self) -> Iterator[str]:
        late.load_all()
        return dict.__iter__(self)

    def __len__(self) -> int:
        late.load_all()
        return dict.__len__(self)

    def keys(self) -> Any:
        late.load_all()
        return dict.keys(self)

    def values(self) -> Any:
        late.load_all()
        return dict.values(self)

    def items(self) -> Any:
        late.load_all()
        return dict.items(self)


table = Table()


def _add(op: Op) -> None:
    before = dict.get(table, op.name)
    if before is not None:
        raise TypeError(f"op {op.name} is declared twice: {before.module}, {op.module}")
    dict.__setitem__(table, op.name, op)


def _parse(signature: str) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
    name, _, inside = signature.rstrip(")").partition("(")
    tensors, _, params = inside.partition(";")
    tensor_names = tuple(part.strip() for part in tensors.split(",") if part.strip())
    variadic = bool(tensor_names) and tensor_names[0].startswith("*")
    if variadic:
        tensor_names = (tensor_names[0][1:],)
    param_names = tuple(part.strip() for part in params.split(",") if part.strip())
    return name, tensor_names, param_names, variadic


def _declaring_module() -> str:
    """The file of ``whygrad.ops`` that declares the op, from the calling module."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__:
        frame = frame.f_back  # type: ignore[assignment]
    return str(frame.f_globals["__name__"]).removeprefix("whygrad.ops.")
