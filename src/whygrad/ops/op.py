"""One row of the op table: what is said about an op, and what follows from it.

A row is written with :func:`whygrad.ops.define.define` and its kin.  *The parameter names of a rule
say what it needs, and that is what gets saved.*  After ``xp`` and ``incoming`` a rule may ask for
an input (``a``), an output (``y``), a parameter (``dim``), or an input's geometry without its data
(``a_shape``, ``a_dtype``).  ``mul`` therefore saves ``b`` only if ``a`` needs a gradient, and
nobody has to keep a list of saved tensors in step with the rules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from whygrad.dispatch.out import TAKES_OUT
from whygrad.errors import fail
from whygrad.ops.plan import Plan, Rule, names_needed_by

if TYPE_CHECKING:
    from whygrad.dispatch.routes import KernelTable
    from whygrad.ops.batching import GenericRule
    from whygrad.ops.undefined import Undefined
    from whygrad.tensor.graph.node import Node

__all__ = ["Op", "unbound"]

Kind = Literal["elementwise", "view", "reduction", "general", "composite", "custom"]
Promotion = Literal["same", "float", "none"]
ComplexRule = Literal["holomorphic", "own"]
Autocast = Literal["lower", "float32", "promote", "keep"]

# Modules of the package whose functions have the module's name before their own in the table.
_NAMESPACES = ("fft", "linalg", "special")
_DECLARING = ("whygrad.ops.define", "whygrad.ops.op")


def unbound(*_: Any, **__: Any) -> Any:
    """What an op's call is before the dispatcher has bound it."""
    raise RuntimeError("the op table is not loaded: import whygrad first")


@dataclass(eq=False, repr=False)
class Op:
    """One row of the op table: the fields that a row may give, then what follows from them."""

    # ``"gather(x, index; dim)"``: tensors, then ``;``, then plain parameters, in the order the
    # kernel takes them.  ``"cat(*tensors; dim)"`` takes a list of tensors.
    signature: str
    # The op and its derivative in words, shown by ``whygrad ops NAME``.
    formula: str
    _: KW_ONLY
    # The NumPy kernel: raw arrays and parameters in, raw array (or tuple of them) out.
    forward: Callable[..., Any]
    # One rule per differentiable tensor, ``{"a": lambda xp, incoming, b: incoming * b}``; or a
    # single function that returns one gradient per tensor argument, where they share work; or
    # None if no gradient flows.  A rule returns the gradient in the output's broadcast shape; the
    # engine sums over broadcast axes.  A rule returns a fresh array, a view, or ``incoming``
    # itself, never a saved array.
    vjp: dict[str, Rule] | Rule | None
    # ``jvp(xp, tangents, …)`` with one tangent (or None) per tensor.  Not needed for elementwise
    # ops, whose Jacobian is diagonal, nor for ``linear`` ones.
    jvp: Rule | None = None
    linear: bool = False
    kind: Kind = "general"
    # A gradient flows: a primitive has a rule, a composite says so.
    differentiable: bool = False
    # Tensors in which the op is straight, piece by piece: their gradient does not depend on them.
    # Under ``create_graph`` it still requires grad, and its own derivative is zeros, as in PyTorch
    # (see :mod:`whygrad.ops.ties`).
    flat: tuple[str, ...] = ()
    # One function computes all gradients in PyTorch, so all require grad under ``create_graph`` as
    # soon as one of these tensors does, also those that depend on none of them.
    joined: tuple[str, ...] = ()
    # ``same``: bring all (or the ``promoted``) tensors to PyTorch's common dtype; ``float``: the
    # same, and integers become the default float; ``none``: take dtypes as they are.
    promote: Promotion = "none"
    promoted: str | None = None
    # Names of the results; ``("*pieces",)`` for as many as the parameters make.
    outputs: tuple[str, ...] = ("y",)
    # How many of these the user gets, if not all: the others are there for the rules only, and
    # hooks do not see them.
    returned: int | None = None
    # Shapes and dtypes of the outputs from those of the inputs, for the meta device: takes what
    # ``forward`` takes, returns ``(shape, dtype)`` (a list of them for several outputs).
    meta: Callable[..., Any] | None = None
    # How one call serves a whole batch, for ``vmap``: ``shift_dims("dim")`` or ``leading_dims``
    # (see :mod:`whygrad.ops.batching`), or a rule ``rule(xp, …)`` that asks by name for tensors,
    # parameters and ``batch``, the number of samples.  The tensors have the batch as first
    # dimension, and so has what the rule returns.  A rule that asks for ``batched`` (one bool per
    # tensor) gets tensors without a batch as they are.  Not needed for elementwise ops; everything
    # else runs sample by sample without it.
    batching: Rule | GenericRule | None = None
    # Points where the derivative jumps, per tensor, and which value is used there.
    kinks: dict[str, tuple[float, ...]] = field(default_factory=dict)
    subgradient: str | None = None
    # The interval per tensor from which automatic samples are drawn.
    domain: dict[str, tuple[float, float]] = field(default_factory=dict)
    # The interval that no result leaves, whatever goes in.
    image: tuple[float, float] | None = None
    # What it cannot compute: where it has no finite value or slope, why, and what to write instead.
    undefined: tuple[Undefined, ...] = ()
    # ``samples(make)`` yields ``make.call(*args, **kwargs)`` for the public function.
    samples: Callable[..., Any] | None = None
    # Dotted name under ``torch`` of the same function, if it is not the op's own name.
    torch: str | None = None
    # In a row: takes PyTorch's arguments and returns the kernel's (checked, normalised) as a
    # tuple; or the finished result, where these arguments are another op's work.  Once the row is
    # declared: the function that users call.
    public: Callable[..., Any] = unbound
    # Also make ``Tensor.name`` / ``Tensor.name_``.  If a row does not say: functions that PyTorch
    # has in a namespace of their own (``nn.functional``, ``linalg``) are no methods; a method of
    # PyTorch's that works on each element alone also writes in place.
    method: bool | None = None
    inplace: bool | None = None
    # A helper of other ops' rules: in the table and in the tests, but not public.
    internal: bool = False
    # Kinds of number (``bool``, ``complex``) the op does not take: ``{kind: (cause, fix)}``.
    refuses: dict[str, tuple[str, str]] = field(default_factory=dict)
    # How gradients pass through complex numbers.  ``holomorphic``: the rule is written as for real
    # numbers, J^T g, and the engine makes J^H g of it by conjugating what comes in and what goes
    # out (linear ops are holomorphic without saying so); ``own``: the rule itself answers in
    # PyTorch's convention; None: refused.
    complex_rule: ComplexRule | None = None
    # What the op computes in inside ``autocast``: ``lower`` (the chosen half precision),
    # ``float32``, ``promote`` (the widest float among its tensors), or ``keep``: as it finds them,
    # although it is made of ops that would not.  Not said: as it, or the ops it is made of, find
    # them.  A function of the op's arguments may choose.
    autocast: Autocast | Callable[..., Autocast | None] | None = None
    notes: str | None = None

    name: str = field(init=False)
    module: str = field(init=False)
    tensor_names: tuple[str, ...] = field(init=False)
    param_names: tuple[str, ...] = field(init=False)
    variadic: bool = field(init=False)
    promoted_at: tuple[int, ...] = field(init=False)  # places of the ``promoted`` tensors
    output_names: tuple[str, ...] = field(init=False)
    returns_list: bool = field(init=False)
    takes_out: bool = field(init=False)
    node_name: str = field(init=False)
    # Bound by the dispatcher.
    table: KernelTable = field(init=False)
    call: Callable[..., Any] = field(default=unbound, init=False)
    node_types: dict[type[Node], type[Node]] = field(default_factory=dict, init=False)
    _plans: dict[tuple[tuple[bool, ...], bool, bool, bool], Plan] = field(
        default_factory=dict, init=False
    )

    def __post_init__(self) -> None:
        self.module = _declaring_module()
        self.name, self.tensor_names, self.param_names, self.variadic = _parse(self.signature)
        names = self.tensor_names if self.promoted is None else self.promoted.split()
        self.promoted_at = tuple(self.tensor_names.index(each) for each in names)
        self.returns_list = self.outputs[0].startswith("*")
        self.output_names = tuple(each.lstrip("*") for each in self.outputs)
        self.differentiable = self.differentiable or self.vjp is not None
        if self.linear and self.vjp is not None and self.complex_rule is None:
            self.complex_rule = "holomorphic"
        if self.internal:
            self.torch = self.torch or ""
        if self.method is None or self.internal:
            there = f"{self.public_name}{(self.torch or '').removeprefix('Tensor.')}"
            self.method = not self.internal and "." not in there
        if self.inplace is None:
            self.inplace = self.method and self.kind == "elementwise" and self.torch != ""
        self.takes_out = not self.internal and self.name in TAKES_OUT
        self.node_name = "".join(part.capitalize() for part in self.name.split("_")) + "Backward"
        self._check_rules()

    def _check_rules(self) -> None:
        """The parameters of a rule say what it needs, so a slip in one is found here."""
        rules = self.vjp.values() if isinstance(self.vjp, dict) else (self.vjp,)
        known = {*self.tensor_names, *self.output_names, *self.param_names, "needs"}
        for rule in (*rules, self.jvp):
            for name in () if rule is None else names_needed_by(rule):
                base, _, what = name.rpartition("_")
                geometry = what in ("shape", "dtype") and base in self.tensor_names
                if name not in known and not geometry:
                    raise _unknown_parameter(self, name, sorted(known - {"needs"}))

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


def _parse(signature: str) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
    name, _, inside = signature.rstrip(")").partition("(")
    tensors, _, params = inside.partition(";")
    tensor_names = tuple(part.strip() for part in tensors.split(",") if part.strip())
    variadic = bool(tensor_names) and tensor_names[0].startswith("*")
    if variadic:
        tensor_names = (tensor_names[0][1:],)
    param_names = tuple(part.strip() for part in params.split(",") if part.strip())
    for each in (*tensor_names, *param_names):
        if not each.isidentifier():
            raise _not_a_name(signature, each, name, (*tensor_names, *param_names))
    return name, tensor_names, param_names, variadic


def _not_a_name(signature: str, part: str, op: str, parts: tuple[str, ...]) -> Exception:
    name, default, value = (each.strip() for each in part.partition("="))
    if not default:
        return fail(
            TypeError,
            call=f"an op declared as {signature!r}",
            cause=f"{part!r} is not a name",
            fix=f'list the tensors, then ";", then plain parameters: "{op}(x, index; dim)"',
        )
    before = [each for each in parts if "=" not in each]
    public = f"lambda {', '.join([*before, f'{name}={value}'])}: ({', '.join([*before, name])},)"
    return fail(
        TypeError,
        call=f"an op declared as {signature!r}",
        cause=f"a signature only has names, and {part!r} gives a default: the kernel and the rules "
        "get every parameter",
        fix=f"write {name!r} here, and the default in the function that users call: "
        f"public={public}",
    )


def _unknown_parameter(op: Op, name: str, known: list[str]) -> Exception:
    from difflib import get_close_matches

    like = get_close_matches(name, known, n=1)
    to = f" to {like[0]!r}" if like else ""
    return fail(
        TypeError,
        call=f"a rule of the op {op.signature}",
        cause=f"it has a parameter {name!r}, and a rule gets by name what it asks for",
        fix=f"rename the parameter of the rule{to}: it may be {', '.join(known)}, or one of the "
        "tensors with _shape or _dtype after it",
    )


def _declaring_module() -> str:
    """The file of ``whygrad.ops`` that declares the op, from the calling module."""
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] in _DECLARING:
        frame = frame.f_back  # type: ignore[assignment]
    return str(frame.f_globals["__name__"]).removeprefix("whygrad.ops.")
