"""How backward works for one op and one choice of arguments that need a gradient.

A plan is made once and shared by every node of its kind: which rule serves which parent, which
values each rule needs, and therefore what a node saves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["Plan", "Rule", "names_needed_by"]

Rule = Callable[..., Any]


class Plan:
    """Backward for one op and one choice of arguments that need a gradient."""

    __slots__ = (
        "_sources",
        "arity",
        "conjugates",
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
        "ties",
    )

    def __init__(
        self,
        op: Op,
        needs: tuple[bool, ...],
        on_tensors: bool,
        in_float32: bool,
        conjugates: bool,
    ) -> None:
        self.op = op
        self.needs = needs
        self.on_tensors = on_tensors
        self.in_float32 = in_float32
        self.conjugates = conjugates
        self.arity = len(needs)
        self.positions = tuple(i for i, needed in enumerate(needs) if needed)
        self.joint: Rule | None = None
        wanted: list[Rule] = []
        if isinstance(op.vjp, dict):
            wanted = [op.vjp[op.tensor_names[i]] for i in self.positions]
        elif op.vjp is not None:
            self.joint = op.vjp
            wanted = [op.vjp]
        # whether the engine may run the rules in its inner loop: one gradient in, one per rule out
        one_output = len(op.output_names) == 1 and not op.returns_list
        self.regular = (
            self.joint is None and one_output and not (on_tensors or in_float32 or conjugates)
        )
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
        self.ties = bool(op.flat or op.joined)  # gradients that require grad all the same
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
        return "needs", 0  # the row has refused every other name

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
