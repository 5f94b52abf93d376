"""``summary``: what a model is made of, what comes out of each layer, what backward will need.

The example goes through the model once, with hooks around every module.  Nothing of it stays: the
model works on copies of its buffers, random numbers are drawn from a fork of the generator, and the
graph is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from whygrad.autograd.saving.bytes import SavedBytes, saved_bytes_peak
from whygrad.autograd.saving.report import in_words
from whygrad.errors import describe, fail
from whygrad.func import functional_call
from whygrad.nn.modules.module import Module
from whygrad.random import fork_rng
from whygrad.tensor import Tensor
from whygrad.tensor.modes import enable_grad, inference_mode
from whygrad.training.tables import as_html, as_text
from whygrad.trees import flatten

__all__ = ["LayerSummary", "ModelSummary", "summary"]


@dataclass
class LayerSummary:
    """One module.  Numbers are its own: what belongs to a module inside it stands in that row."""

    name: str  # the path, as in named_modules()
    kind: str  # the class
    depth: int
    parameters: int
    trainable: int
    calls: int = 0
    shapes: list[list[int]] = field(default_factory=list)  # of the tensors that came out last
    saved: int = 0  # bytes kept for backward


@dataclass
class ModelSummary:
    """What :func:`summary` found.  Print it, show it in a notebook, or take it as a dictionary."""

    layers: list[LayerSummary]
    buffers: int  # elements in all buffers
    ran: bool  # whether there was an example to run

    @property
    def parameters(self) -> int:
        """Elements of all parameters, shared ones once."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def trainable(self) -> int:
        """Elements of the parameters that require grad."""
        return sum(layer.trainable for layer in self.layers)

    @property
    def saved(self) -> int:
        """Bytes that the graph of the example keeps for backward, besides the parameters."""
        return sum(layer.saved for layer in self.layers)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``json.dumps`` takes."""
        return {
            "schema": "whygrad.summary/1",
            "parameters": self.parameters,
            "trainable": self.trainable,
            "buffers": self.buffers,
            "saved_for_backward": self.saved if self.ran else None,
            "layers": [asdict(layer) for layer in self.layers],
        }

    def __str__(self) -> str:
        rows, align = self._rows()
        return f"{as_text(rows, align)}\n\n{self._totals()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows, align = self._rows()
        return as_html(rows, align, self._totals())

    def _totals(self) -> str:
        frozen = self.parameters - self.trainable
        parts = [f"{self.parameters:,} parameters"]
        if frozen:
            parts.append(f"{frozen:,} of them frozen")
        if self.buffers:
            parts.append(f"{self.buffers:,} numbers in buffers")
        if self.ran:
            parts.append(f"{in_words(self.saved)} saved for backward")
        return ", ".join(parts)

    def _rows(self) -> tuple[list[list[str]], str]:
        head = ["layer", "output", "parameters", "saved for backward"]
        rows = [
            [_label(layer), _output(layer), _count(layer.parameters), _size(layer.saved)]
            for layer in self.layers
        ]
        if self.ran:
            return [head, *rows], "<<>>"
        return [[row[0], row[2]] for row in (head, *rows)], "<>"


def _label(layer: LayerSummary) -> str:
    own_name = layer.name.rpartition(".")[2]
    times = f" ×{layer.calls}" if layer.calls > 1 else ""
    return f"{'  ' * layer.depth}{own_name}{': ' if own_name else ''}{layer.kind}{times}"


def _output(layer: LayerSummary) -> str:
    if not layer.calls:  # a list of modules never is
        return "not called" if layer.parameters else ""
    return ", ".join(map(str, layer.shapes))


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _size(number: int) -> str:
    return in_words(number) if number else ""


def summary(model: Module, *example: Any, **named: Any) -> ModelSummary:
    """The layers of a model: output shapes, parameters, and bytes saved for backward.

    ``summary(model, x)`` calls ``model(x)`` once, in the mode the model is in; neither the model
    nor the random numbers that follow are changed by it.  Without an example there are no shapes.
    With a model and an example on the ``meta`` device nothing is computed, however large they are.
    """
    if not isinstance(model, Module):
        raise fail(
            TypeError,
            call=f"summary({describe(model)}, …)",
            cause=f"a {type(model).__name__} has no layers to list",
            fix="pass an nn.Module first, then what it is called with",
        )
    layers = _layers(model)
    ran = bool(example or named)
    if ran:
        _run(model, layers, example, named)
    buffers = sum(buffer.numel() for buffer in model.buffers())
    return ModelSummary(list(layers.values()), buffers, ran)


def _layers(model: Module) -> dict[Module, LayerSummary]:
    seen: set[Tensor] = set()
    layers = {}
    for name, module in model.named_modules():
        own = [each for each in module.parameters(recurse=False) if each not in seen]
        seen.update(own)
        layers[module] = LayerSummary(
            name,
            type(module).__name__,
            depth=name.count(".") + 1 if name else 0,
            parameters=sum(each.numel() for each in own),
            trainable=sum(each.numel() for each in own if each.requires_grad),
        )
    return layers


def _run(model: Module, layers: dict[Module, LayerSummary], args: Any, kwargs: Any) -> None:
    with (
        inference_mode(False),
        enable_grad(),
        fork_rng(),
        saved_bytes_peak() as held,
        _watched(layers, held),
    ):
        copies = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
        args, kwargs = _copied((args, kwargs))
        functional_call(model, copies, args, kwargs)


def _copied(example: Any) -> Any:
    """Copies of the tensors: a slice of a large one would count with all of its memory."""
    leaves, tree = flatten(example)
    return tree.build(
        [
            leaf.detach().clone() if isinstance(leaf, Tensor) and not leaf.requires_grad else leaf
            for leaf in leaves
        ]
    )


@contextmanager
def _watched(layers: dict[Module, LayerSummary], held: SavedBytes) -> Iterator[None]:
    """Hooks that share out what is saved: a module gets what grew in it, less its children's."""
    open_calls: list[_Call] = []
    with ExitStack() as registered:
        for module, layer in layers.items():
            before, after = _hooks(layer, held, open_calls)
            pre = module.register_forward_pre_hook(before, prepend=True)
            registered.callback(pre.remove)
            registered.callback(module.register_forward_hook(after).remove)
        yield


@dataclass
class _Call:
    """A module that is running."""

    held_before: int
    inside: int = 0  # bytes that modules called by it saved


def _hooks(
    layer: LayerSummary, held: SavedBytes, open_calls: list[_Call]
) -> tuple[Callable[..., None], Callable[..., None]]:
    def before(module: Module, args: Any) -> None:
        open_calls.append(_Call(held.current))

    def after(module: Module, args: Any, output: Any) -> None:
        call = open_calls.pop()
        grown = held.current - call.held_before
        layer.saved += grown - call.inside
        if open_calls:
            open_calls[-1].inside += grown
        layer.calls += 1
        leaves, _ = flatten(output)
        layer.shapes = [list(leaf.shape) for leaf in leaves if isinstance(leaf, Tensor)]

    return before, after
