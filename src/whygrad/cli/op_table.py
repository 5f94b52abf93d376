"""``whygrad ops``: the table that runs, printed."""

from __future__ import annotations

from difflib import get_close_matches

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import whygrad  # noqa: F401  (fills the op table)
from whygrad.ops.batching import GenericRule, aligned, loop
from whygrad.ops.define import Op, table
from whygrad.tensor import keys

__all__ = ["show_all", "show_one"]


def show_all(console: Console, family: str | None = None) -> None:
    """One line per op, by family."""
    families = sorted({op.family for op in table.values()})
    if family is not None and family not in families:
        raise click.ClickException(f"no family {family!r}; there are: {', '.join(families)}")
    for name in [family] if family else families:
        members = [op for op in table.values() if op.family == name]
        grid = Table(title=f"{name} ({len(members)})", title_justify="left", expand=True)
        narrow = console.width < 100
        grid.add_column("op", overflow="fold", max_width=20 if narrow else None)
        grid.add_column("formula", ratio=3, min_width=24)
        grid.add_column("saves", max_width=10 if narrow else None)
        grid.add_column("dtypes", no_wrap=True)
        grid.add_column("layouts", max_width=11 if narrow else None)
        for op in members:
            label = f"{op.name}\n(internal)" if op.internal else op.name
            cells = (label, op.formula, saved_in_short(op), dtypes_of(op), layouts_of(op))
            grid.add_row(*map(escape, cells))
        console.print(grid)


def show_one(console: Console, name: str) -> None:
    """Everything the table knows of one op."""
    op = table.get(name)
    if op is None:
        close = get_close_matches(name, table, n=3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise click.ClickException(f"no op called {name!r}{hint}")
    grid = Table(show_header=False, box=None, pad_edge=False)
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for label, text in rows(op):
        grid.add_row(label, escape(text))
    console.print(grid)


def rows(op: Op) -> list[tuple[str, str]]:
    """The entry as labelled lines."""
    inputs = ", ".join((*op.tensor_names, *op.param_names))
    lines = [
        ("op", f"{op.name}({inputs})" if inputs else op.name),
        ("family", f"{op.family}, {op.kind}" + (", internal" if op.internal else "")),
        ("formula", op.formula),
        ("backward saves", saved_in_words(op)),
        ("node", op.node_name if op.vjp is not None else "none of its own"),
        ("reverse rule", rule_in_words(op)),
        ("forward rule", forward_in_words(op)),
        ("batching rule", batching_in_words(op)),
        ("dtypes", dtypes_of(op)),
        ("layouts", layouts_of(op)),
    ]
    if op.complex_rule:
        words = {"holomorphic": "the same rule, conjugated", "own": "in the rule itself"}
        lines.append(("complex", words[op.complex_rule]))
    if op.subgradient:
        lines.append(("at kinks", op.subgradient))
    if op.inplace:
        lines.append(("in place", f"{op.name}_"))
    if op.notes:
        lines.append(("notes", op.notes))
    return lines


def saved_in_short(op: Op) -> str:
    """The names alone, for a narrow column."""
    if op.kind == "composite" and op.differentiable:
        return "by parts"
    return saved_in_words(op).replace("input ", "").replace("output ", "")


def saved_in_words(op: Op) -> str:
    """What a node keeps alive, from the rules themselves."""
    if op.kind == "composite":
        return "what its parts save" if op.differentiable else "—"
    if op.vjp is None:
        return "—"
    saved = op.saves()
    if not saved:
        return "nothing"
    return ", ".join(
        f"output {name}" if name in op.output_names else f"input {name}" for name in saved
    )


def rule_in_words(op: Op) -> str:
    if op.kind == "composite":
        return "by the chain rule through its parts" if op.differentiable else "no gradient flows"
    if op.vjp is None:
        return "no gradient flows"
    if isinstance(op.vjp, dict):
        return "one per input: " + ", ".join(op.vjp)
    return "one for all inputs, sharing work"


def forward_in_words(op: Op) -> str:
    if not op.differentiable:
        return "no derivative"
    if op.kind == "composite":
        return "by the chain rule through its parts"
    if op.jvp is not None:
        return "its own"
    return "the op itself (it is linear)" if op.linear else "the reverse rule (diagonal Jacobian)"


def batching_in_words(op: Op) -> str:
    """How the op serves a batch inside ``vmap``."""
    if op.kind == "composite":
        return "through its parts"
    if isinstance(op.batching, GenericRule):
        return op.batching.words
    if op.batching is not None:
        return "its own"
    return (aligned if op.kind == "elementwise" else loop).words


def dtypes_of(op: Op) -> str:
    return "float" if op.promote == "float" else "any"


def layouts_of(op: Op) -> str:
    """Strided, and whatever kernels have been registered."""
    names = ["strided"]
    if op.kind != "composite":
        for bits, _ in (*op.table.kernels, *op.table.composites):
            names += [each for each in keys.describe(bits & keys.LAYOUTS) if each not in names]
    return ", ".join(names)
