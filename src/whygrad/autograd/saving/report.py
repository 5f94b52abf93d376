"""What a recorded graph holds in memory: who saved it, on which line, how many bytes.

Bytes belong to blocks of memory, not to nodes: a value that two nodes saved, or two views of one
block, count once, for the node that was recorded first.  The others are listed as shared.
"""

from __future__ import annotations

import html
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.saving.blocks import blocks
from whygrad.errors import describe, fail
from whygrad.source import Where
from whygrad.tensor import Tensor
from whygrad.tensor.graph.node import Freed, Node

if TYPE_CHECKING:
    from types import CodeType

    from whygrad.ops.plan import Plan

__all__ = ["GraphMemory", "Row", "memory"]

HELD = ("activations", "parameters", "constants")
WIDEST = 100
MOST_ROWS = 24


@dataclass
class Row:
    """The values of one kind and name that one call saved, each time it ran.

    ``kind`` is ``activations`` (values of the graph), ``parameters`` (leaves that require grad:
    they are there anyway) or ``constants`` (what needs no gradient: data, masks, indices) for the
    memory that the graph holds; ``shared`` where another row counts it; ``elsewhere`` where a hook
    or a checkpoint has it; ``freed`` after backward.
    """

    kind: str
    bytes: int
    op: str
    name: str
    where: str
    count: int = 1


@dataclass
class GraphMemory:
    """The report.  Print it, show it in a notebook, or take it apart with ``to_dict``."""

    nodes: int
    rows: list[Row]

    @property
    def total(self) -> int:
        """Bytes that the graph holds, parameters included."""
        return self.activations + self.parameters + self.constants

    @property
    def activations(self) -> int:
        """Bytes of values that only the graph and whoever reads them need."""
        return self._of("activations")

    @property
    def parameters(self) -> int:
        """Bytes of leaves that require grad."""
        return self._of("parameters")

    @property
    def constants(self) -> int:
        """Bytes of saved values that need no gradient: data, masks, indices."""
        return self._of("constants")

    @property
    def elsewhere(self) -> int:
        """Bytes that hooks and checkpoints took out of the graph."""
        return self._of("elsewhere")

    @property
    def by_op(self) -> dict[str, int]:
        """Bytes held per op, most first."""
        return self._grouped("op")

    @property
    def by_line(self) -> dict[str, int]:
        """Bytes held per source line, most first."""
        return self._grouped("where")

    def _of(self, kind: str) -> int:
        return sum(row.bytes for row in self.rows if row.kind == kind)

    def _grouped(self, what: str) -> dict[str, int]:
        sums: Counter[str] = Counter()
        for row in self.rows:
            if row.kind in HELD:
                sums[getattr(row, what)] += row.bytes
        return dict(sums.most_common())

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers."""
        parts = {name: getattr(self, name) for name in ("total", *HELD, "by_op", "by_line")}
        return {**asdict(self), **parts, "elsewhere": self.elsewhere}

    def __str__(self) -> str:
        width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
        table = [("bytes", "what", "saved by", "at"), *self._cells()]
        widths = [max(map(len, column)) for column in list(zip(*table, strict=True))[:-1]]
        lines = textwrap.wrap(self._summary(), width) + ([""] if self.rows else [])
        for size, kind, by, at in table if self.rows else ():
            start = f"{size:>{widths[0]}}  {kind:<{widths[1]}}  {by:<{widths[2]}}  "
            lines.append(_shortened(start + at, width))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in self._cells()
        )
        head = "<tr><th>bytes</th><th>what</th><th>saved by</th><th>at</th></tr>"
        return f"{html.escape(self._summary())}<table>{head}{rows}</table>"

    def _summary(self) -> str:
        nodes = "1 node holds" if self.nodes == 1 else f"{self.nodes:,} nodes hold"
        kinds = [kind for kind in (*HELD, "elsewhere") if self._of(kind)]
        parts = ", ".join(f"{kind} {in_words(self._of(kind))}" for kind in kinds)
        return f"{nodes} {in_words(self.total)}" + (f": {parts}" if parts else "")

    def _cells(self) -> Iterator[tuple[str, str, str, str]]:
        for row in self.rows[:MOST_ROWS]:
            times = f" ×{row.count:,}" if row.count > 1 else ""
            yield _cell(row), row.kind, f"{row.op}: {row.name}{times}", row.where
        rest = self.rows[MOST_ROWS:]
        if rest:
            held = sum(row.bytes for row in rest if row.kind in HELD)
            yield in_words(held), "", f"{len(rest)} more rows", ""


def _cell(row: Row) -> str:
    if row.kind == "freed":
        return ""
    return in_words(row.bytes) if row.kind in HELD else f"({in_words(row.bytes)})"


def _shortened(text: str, width: int) -> str:
    text = text.rstrip()
    return text if len(text) <= width else text[: width - 1] + "…"


def in_words(size: int) -> str:
    """``1,234 B``, ``12.3 kB``, ``4.57 GB``: three digits that say enough."""
    if size < 10_000:
        return f"{size:,} B"
    rounded = int(float(f"{size:.3g}"))
    step = min((len(str(rounded)) - 1) // 3, 4)
    return f"{rounded / 1000**step:#.3g}".rstrip(".") + f" {'kMGT'[step - 1]}B"


@dataclass(eq=False, slots=True)
class _Call:
    """One name that one line of the program saved; the same object each time the line runs."""

    op: str
    name: str
    where: Where


class _Block(NamedTuple):
    call: _Call
    size: int
    kind: str


class _Count:
    """Values seen so far: blocks by the id of their owner, and what holds no memory here."""

    def __init__(self, parameters: set[int]) -> None:
        self._parameters = parameters
        self._calls: dict[tuple[Plan, CodeType, int], list[_Call]] = {}
        self._blocks: dict[int, _Block] = {}
        self._sums: dict[tuple[_Call, str], list[int]] = {}  # bytes and number of values

    def calls(self, node: Node) -> list[_Call]:
        """One per saved name, and one for tangents."""
        plan, code, instruction = node.plan, node.code, node.instruction
        known = self._calls.get((plan, code, instruction))
        if known is None:
            where = Where(code, instruction)
            known = [_Call(plan.op.name, name, where) for name in (*plan.saved_names, "tangents")]
            self._calls[plan, code, instruction] = known
        return known

    def held(self, call: _Call, value: Any, kind: str) -> None:
        for owner, size in blocks(value):
            if id(owner) in self._parameters:
                kind = "parameters"
            known = self._blocks.get(id(owner))
            if known is None:
                self._blocks[id(owner)] = _Block(call, size, kind)
            else:
                self.away(call, size, "shared")
                if kind == "activations":  # also saved as a constant: x.detach()
                    self._blocks[id(owner)] = known._replace(kind=kind)

    def away(self, call: _Call, size: int, kind: str) -> None:
        sums = self._sums.setdefault((call, kind), [0, 0])
        sums[0] += size
        sums[1] += 1

    def rows(self) -> list[Row]:
        for block in self._blocks.values():
            self.away(block.call, block.size, block.kind)
        found: dict[tuple[str, ...], Row] = {}
        for (call, kind), (size, count) in self._sums.items():
            where = str(call.where)
            row = found.setdefault(
                (kind, call.op, call.name, where), Row(kind, 0, call.op, call.name, where, 0)
            )
            row.bytes += size
            row.count += count
        return sorted(found.values(), key=lambda row: (row.kind not in HELD, -row.bytes))


def memory(*roots: Tensor | Node) -> GraphMemory:
    """What the graph behind a tensor (or several) holds for backward.

    ``print(whygrad.autograd.graph.memory(loss))``.  A meta tensor counts with the bytes that a
    real one would take.
    """
    nodes = _nodes_behind([_node(root) for root in roots])
    leaves = [each.variable for each in nodes if each.plan is None]  # type: ignore[attr-defined]
    count = _Count({id(owner) for leaf in leaves if leaf is not None for owner, _ in blocks(leaf)})
    recorded = [node for node in nodes if node.plan is not None]
    for node in recorded:
        _count_node(node, count)
    return GraphMemory(len(recorded), count.rows())


def _node(root: Any) -> Node | None:
    if isinstance(root, Node):
        return root
    if isinstance(root, Tensor):
        node: Node | None = root._node
        return node
    raise fail(
        TypeError,
        call=f"memory({describe(root)})",
        cause=f"a graph hangs from a tensor or a node, not from a {type(root).__name__}",
        fix="pass the loss, or several tensors one by one",
    )


def _nodes_behind(roots: list[Node | None]) -> list[Node]:
    """Each node once, the oldest first."""
    seen: set[Node] = set()
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(node.parents)
    return sorted(seen, key=lambda node: -node.order)


def _count_node(node: Node, count: _Count) -> None:
    plan = node.plan
    calls = count.calls(node)
    if isinstance(node.values, Freed):
        for index, _ in plan.guarded:
            count.away(calls[index], 0, "freed")
        return
    inputs = len(plan.op.tensor_names)
    kinds = ["constants"] * len(plan.saved_names)
    for index, place in plan.guarded:
        if place >= inputs or plan.op.variadic or plan.needs[place]:
            kinds[index] = "activations"
    values = node.values if type(node.values) is tuple else node.values.values
    for call, value, kind in zip(calls, values, kinds):
        for each in value if isinstance(value, (list, tuple)) else [value]:
            _count_value(call, each, kind, count)
    tangents = node._extras.tangents if node._extras is not None else None
    for levels in tangents or ():
        for tangent in (levels or {}).values():
            count.held(calls[-1], tangent, "activations")


def _count_value(call: _Call, value: Any, kind: str, count: _Count) -> None:
    if hasattr(value, "open"):
        held = value.held() if hasattr(value, "held") else []
        for each in held:
            count.held(call, each, kind)
        if not held:
            count.away(call, getattr(value, "nbytes", 0), "elsewhere")
    elif kind == "activations" or getattr(value, "shape", None) != ():
        count.held(call, value, kind)  # a number that became an array is not worth a row
