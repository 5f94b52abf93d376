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
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from whygrad.ops.namespace import raw, recorded

if TYPE_CHECKING:
    from whygrad.dispatch.routes import KernelTable
    from whygrad.ops.batching import GenericRule

__all__ = [
    "Op",
    "Plan",
    "alias",
    "aliases",
    "composite",
    "define",
    "elementwise",
    "public_form",
    "table",
]

Rule = Callable[..., Any]
Kind = Literal["elementwise", "view", "reduction", "general", "composite"]
Promotion = Literal["same", "float", "none"]

# Every op by name, in order of declaration.
table: dict[str, Op] = {}

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
        vjp: dict[str, Rule] | Rule | None = None,
        jvp: Rule | None = None,
        linear: bool = False,
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
        notes: str | None = None,
    ) -> None:
        self.name = name
        self.family = _family()
        self.kind = kind
        self.formula = formula
        self.forward = forward
        self.tensor_names = tensor_names
        self.variadic = variadic
        self.param_names = param_names
        self.returns_list = outputs[0].startswith("*")
        self.output_names = tuple(each.lstrip("*") for each in outputs)
        self.vjp = vjp
        self.jvp = jvp
        self.linear = linear
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
        self.notes = notes
        self.table: KernelTable
        self.node_name = "".join(part.capitalize() for part in name.split("_")) + "Backward"
        self.call: Callable[..., Any] = _unbound
        self.public: Callable[..., Any] = _unbound
        self._plans: dict[tuple[tuple[bool, ...], bool, bool], Plan] = {}

    @property
    def public_name(self) -> str | None:
        """Where users find it under ``whygrad``; None for helpers of other ops' rules."""
        if self.internal:
            return None
        space, _, name = self.name.partition("_")
        return f"{space}.{name}" if space == "linalg" else self.name

    def plan(
        self, needs: tuple[bool, ...], on_tensors: bool = False, in_float32: bool = False
    ) -> Plan:
        """How backward works when exactly these tensor arguments need a gradient.

        ``on_tensors``: the data is no NumPy array, so the rules need the dispatcher.
        ``in_float32``: half precision, so the rules compute in float32 and round once.
        """
        key = (needs, on_tensors, in_float32)
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


class Plan:
    """Backward for one op and one choice of arguments that need a gradient."""

    __slots__ = (
        "_sources",
        "arity",
        "guarded",
        "in_float32",
        "joint",
        "needs",
        "on_tensors",
        "op",
        "positions",
        "regular",
        "rules",
        "save",
        "saved_names",
        "saves_arrays",
    )

    def __init__(self, op: Op, needs: tuple[bool, ...], on_tensors: bool, in_float32: bool) -> None:
        self.op = op
        self.needs = needs
        self.on_tensors = on_tensors
        self.in_float32 = in_float32
        self.arity = len(needs)
        self.positions = tuple(i for i, needed in enumerate(needs) if needed)
        self.joint: Rule | None = None
        wanted: list[Rule] = []
        if isinstance(op.vjp, dict):
            wanted = [op.vjp[op.tensor_names[i]] for i in self.positions]
        elif op.vjp is not None:
            self.joint = op.vjp
            wanted = [op.vjp]
        self.regular = self.joint is None and not on_tensors and not in_float32
        needed_by = [names_needed_by(rule) for rule in wanted]
        asked = dict.fromkeys(name for names in needed_by for name in names)
        self.saved_names = tuple(sorted(asked, key=self._source))
        self.rules = tuple(
            (rule, self._picker(names)) for rule, names in zip(wanted, needed_by, strict=True)
        )
        self._sources = [self._source(name) for name in self.saved_names]
        # (index into the saved values, input position) — outputs count after the inputs
        self.guarded = tuple(
            (index, place)
            for index, (kind, place) in enumerate(self._sources)
            if kind == "pool" and place < self._tensors()
        )
        self.saves_arrays = bool(self.guarded)
        self.save = self._direct_getter() or self._save

    def _tensors(self) -> int:
        return len(self.op.tensor_names) + len(self.op.output_names)

    def _picker(self, names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]] | None:
        """Select one rule's arguments from the saved values; None if it takes them all."""
        if names == self.saved_names:
            return None
        return tuple_getter([self.saved_names.index(name) for name in names])

    def _source(self, name: str) -> tuple[str, int]:
        op = self.op
        pool = (*op.tensor_names, *op.output_names, *op.param_names)
        if name in pool:
            return "pool", pool.index(name)
        base, _, what = name.rpartition("_")
        if what in ("shape", "dtype") and base in op.tensor_names:
            return what, op.tensor_names.index(base)
        if name == "needs":
            return "needs", 0
        raise TypeError(f"op {op.name}: a rule asks for {name!r}; known names: {', '.join(pool)}")

    def _direct_getter(self) -> Callable[[Any], tuple[Any, ...]] | None:
        if all(kind == "pool" for kind, _ in self._sources):
            return tuple_getter([place for _, place in self._sources])
        return None

    def _save(self, pool: tuple[Any, ...]) -> tuple[Any, ...]:
        """Keep what the rules need out of (inputs…, outputs…, parameters…)."""
        values: list[Any] = []
        for kind, place in self._sources:
            if kind == "pool":
                values.append(pool[place])
            elif kind == "needs":
                values.append(self.needs)
            elif self.op.variadic:
                values.append(tuple(getattr(item, kind) for item in pool[place]))
            else:
                values.append(getattr(pool[place], kind, () if kind == "shape" else None))
        return tuple(values)


def tuple_getter(indices: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    """Like ``itemgetter`` but always answers with a tuple."""
    if not indices:
        return lambda _: ()
    if len(indices) == 1:
        only = indices[0]
        return lambda values: (values[only],)
    return itemgetter(*indices)


def names_needed_by(rule: Rule) -> tuple[str, ...]:
    """The parameters of a rule after ``xp`` and ``incoming`` (or ``tangents``)."""
    code = rule.__code__
    return code.co_varnames[2 : code.co_argcount]


def define(
    signature: str,
    formula: str,
    *,
    forward: Callable[..., Any],
    vjp: dict[str, Rule] | Rule | None,
    jvp: Rule | None = None,
    kind: Kind = "general",
    linear: bool = False,
    promote: Promotion = "none",
    promoted: str | None = None,
    outputs: tuple[str, ...] = ("y",),
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
    ``vjp``
        one rule per differentiable tensor, ``{"a": lambda xp, incoming, b: incoming * b}``; or a
        single function that returns one gradient per tensor argument, where they share work; or
        None if no gradient flows.  A rule returns the gradient in the output's broadcast shape;
        the engine sums over broadcast axes.  A rule returns a fresh array, a view, or
        ``incoming`` itself, never a saved array.
    ``jvp``
        ``jvp(xp, tangents, …)`` with one tangent (or None) per tensor.  Not needed for
        elementwise ops, whose Jacobian is diagonal, nor for ``linear`` ones.
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
        vjp=vjp,
        jvp=jvp,
        linear=linear,
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
        notes=notes,
    )
    from whygrad.dispatch.arguments import guarded

    function.op = op  # type: ignore[attr-defined]
    op.call = function
    op.public = guarded(op, function)
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
        op.public = guarded(op, function)
        return op.public

    return attach


def _add(op: Op) -> None:
    if op.name in table:
        raise TypeError(f"op {op.name} is declared twice: {table[op.name].family}, {op.family}")
    table[op.name] = op


def _parse(signature: str) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
    name, _, inside = signature.rstrip(")").partition("(")
    tensors, _, params = inside.partition(";")
    tensor_names = tuple(part.strip() for part in tensors.split(",") if part.strip())
    variadic = bool(tensor_names) and tensor_names[0].startswith("*")
    if variadic:
        tensor_names = (tensor_names[0][1:],)
    param_names = tuple(part.strip() for part in params.split(",") if part.strip())
    return name, tensor_names, param_names, variadic


def _family() -> str:
    """The folder (or file) of ``whygrad.ops`` that declares the op, from the calling module."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == __name__:
        frame = frame.f_back  # type: ignore[assignment]
    return str(frame.f_globals["__name__"]).removeprefix("whygrad.ops.").partition(".")[0]
