"""``backward`` and ``grad``: what a user calls to start the reverse walk."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from whygrad.autograd.arrivals import Target
from whygrad.autograd.edges import GradientEdge, tensor_at
from whygrad.autograd.engine import run
from whygrad.autograd.fitting import fresh
from whygrad.dispatch.answers import handed, is_theirs
from whygrad.errors import describe, fail
from whygrad.tensor import Tensor, keys, wrap
from whygrad.tensor.graph import lineage
from whygrad.tensor.graph.lineage import DEED, cut_of

__all__ = ["backward", "grad", "root_gradients"]

Places = Tensor | GradientEdge | Sequence[Tensor | GradientEdge]


def backward(
    tensors: Places,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Places | None = None,
) -> None:
    """Add the gradients of ``tensors`` to ``.grad`` of the leaves they were computed from.

    With ``inputs``, only those get a gradient, whether they are leaves or not (``retain_grad`` is
    called for the others).  Tensors may be given as a ``GradientEdge``.
    """
    if _overridden(tensors):
        rest = {"grad_tensors": grad_tensors, "retain_graph": retain_graph}
        handed(backward, (tensors,), {**rest, "create_graph": create_graph, "inputs": inputs})
        return
    roots = [tensor_at(each) for each in _sequence(tensors)]
    gradients = root_gradients("backward", roots, _sequence(grad_tensors, len(roots)))
    keep = create_graph if retain_graph is None else retain_graph
    targets = None
    if inputs is not None:
        wanted = _sequence(inputs)
        targets = _targets("backward", [tensor_at(each) for each in wanted])
        for each in wanted:
            if isinstance(each, Tensor):
                each.retain_grad()
    run(
        roots,
        gradients,
        keep_graph=keep,
        create_graph=create_graph,
        accumulate=True,
        targets=targets,
    )


def grad(
    outputs: Places,
    inputs: Places,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, returned instead of stored.

    With ``is_grads_batched``, dimension 0 of each of ``grad_outputs`` counts cotangents, and
    dimension 0 of each result the gradients that belong to them.  ``only_inputs`` is what older
    programs pass: nothing but the inputs ever gets a gradient here.
    """
    if _overridden(outputs, inputs):
        named = {"grad_outputs": grad_outputs, "retain_graph": retain_graph}
        named |= {"create_graph": create_graph, "only_inputs": only_inputs}
        named |= {"allow_unused": allow_unused, "is_grads_batched": is_grads_batched}
        answers_given: tuple[Tensor | None, ...] = handed(
            grad, (outputs, inputs), {**named, "materialize_grads": materialize_grads}
        )
        return answers_given
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradients in other leaves call backward().",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise fail(
            ValueError,
            call="grad(materialize_grads=True, allow_unused=False)",
            cause="materialize_grads fills in zeros for unused inputs, so they must be allowed",
            fix="leave allow_unused out",
        )
    roots, wanted = (
        [tensor_at(each) for each in _sequence(places)] for places in (outputs, inputs)
    )
    given = _sequence(grad_outputs, len(roots))
    if is_grads_batched:
        from whygrad.autograd.transforms.batched_grads import grad_of_batch

        return grad_of_batch(
            grad,
            roots,
            wanted,
            given,
            {
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "allow_unused": allow_unused,
                "materialize_grads": materialize_grads,
            },
        )
    if any(_is_batched(each) for each in roots) and all(_is_batched(each) for each in wanted):
        from whygrad.autograd.transforms.lifting import grad_of_samples

        options = (retain_graph, create_graph, True, allow_unused, False, materialize_grads)
        return grad_of_samples(grad, roots, wanted, given, options)
    gradients = root_gradients("grad", roots, given)
    keep = create_graph if retain_graph is None else retain_graph
    targets = _targets("grad", wanted)
    run(roots, gradients, keep_graph=keep, create_graph=create_graph, targets=targets)
    answers: list[Tensor | None] = []
    for position, (tensor, target) in enumerate(zip(wanted, targets, strict=True)):
        answer = None if target.gradient is None else _as_tensor(target.gradient)
        if answer is None and materialize_grads:
            zeros = wrap(np.zeros(tensor.shape, tensor.dtype.numpy)).to(tensor.device)
            answer = zeros.requires_grad_(create_graph)  # as PyTorch: a gradient of it can be asked
        if answer is None and not allow_unused:
            raise fail(
                RuntimeError,
                call=f"grad(outputs, inputs): inputs[{position}] is {describe(tensor)}",
                cause="it appears to not have been used in the graph: the outputs were not "
                f"computed from it{_cut_between(tensor, roots)}, so there is no gradient",
                fix="pass allow_unused=True to get None (or materialize_grads=True for zeros)",
            )
        answers.append(answer)
    if not create_graph:
        lineage.gradients(answers, roots)
    return tuple(answers)


def _overridden(*places: Any) -> bool:
    """Whether the tensors want to be asked first, see :mod:`whygrad.overrides`."""
    bits = 0
    for each in places:
        if isinstance(each, Tensor):
            bits |= each._keys
        elif isinstance(each, (list, tuple)):
            for one in each:
                bits |= getattr(one, "_keys", 0)
    return bool(bits & keys.OVERRIDDEN) and is_theirs(places, {})


def _cut_between(tensor: Tensor, roots: list[Tensor]) -> str:
    """Where the value of ``tensor`` was cut off on its way to a root, as the end of a sentence."""
    from whygrad.autograd.crossings import crossings

    for root in roots:
        for cut, *_ in crossings(tensor._node, root):
            return f" ({DEED[str(cut.kind)]} cut it off at {cut.where})"
    return ""


def _sequence(value: Any, length: int = 1) -> list[Any]:
    if value is None:
        return [None] * length
    alone = isinstance(value, (Tensor, GradientEdge)) or not isinstance(value, Iterable)
    return [value] if alone else list(value)


def _is_batched(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value._keys & keys.BATCHED)


def _require_tensor(call: str, role: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise fail(
            TypeError,
            call=f"{call} with {describe(value)} among the {role}",
            cause=f"the {role} must be tensors, not {type(value).__name__}",
            fix="pass a tensor or a list of tensors",
        )


def _as_tensor(gradient: Any) -> Tensor:
    return gradient if isinstance(gradient, Tensor) else fresh(gradient)


def _targets(call: str, wanted: list[Tensor]) -> list[Target]:
    if not wanted:
        raise fail(
            RuntimeError,
            call=f"{call}(inputs=[])",
            cause="'inputs' is empty, so no gradient would be kept",
            fix="name at least one tensor",
        )
    return [_target(call, tensor) for tensor in wanted]


def _target(call: str, tensor: Tensor) -> Target:
    _require_tensor(call, "inputs", tensor)
    if tensor._node is None:
        raise fail(
            RuntimeError,
            call=f"{call}(inputs=[{describe(tensor)}])",
            cause="this input does not require grad",
            fix="call requires_grad_() on it before the computation",
        )
    return Target(tensor)


def root_gradients(call: str, roots: list[Tensor], given: list[Any]) -> list[Tensor]:
    if len(given) != len(roots):
        raise fail(
            RuntimeError,
            call=f"{call} of {len(roots)} tensors with {len(given)} gradients",
            cause="every output needs one gradient (or None)",
            fix="pass as many gradients as outputs",
        )
    return [
        _root_gradient(call, root, gradient) for root, gradient in zip(roots, given, strict=True)
    ]


def _root_gradient(call: str, root: Tensor, gradient: Any) -> Tensor:
    _require_tensor(call, "outputs", root)
    if root._keys & keys.BATCHED:
        raise fail(
            RuntimeError,
            call=f"{call}() of {describe(root)}, inside vmap",
            cause=f"{call}() called inside a function being vmapped is not supported: the graph "
            "belongs to the whole batch, not to one sample",
            fix=f"call {call}() on what vmap returns, or use whygrad.func.grad inside",
        )
    if call == "backward" and isinstance(gradient, Tensor) and gradient._keys & keys.BATCHED:
        raise fail(
            RuntimeError,
            call=f"backward(gradient: {describe(gradient)}), inside vmap",
            cause="the gradient differs per sample, while .grad of a leaf is one tensor",
            fix="use whygrad.autograd.grad(outputs, inputs, gradient), which returns it",
        )
    if root._node is None:
        raise fail(
            RuntimeError,
            call=f"{call}() of {describe(root)}",
            cause=f"it does not require grad and does not have a grad_fn{cut_of(root)}",
            fix="call requires_grad_() on the inputs you want gradients for, and leave out the "
            "detach() or no_grad() between them and this tensor",
        )
    if gradient is None:
        if root.numel() != 1:
            raise fail(
                RuntimeError,
                call=f"{call}() of {describe(root)}",
                cause="grad can be implicitly created only for scalar outputs: this one has "
                f"{root.numel()} elements",
                fix="reduce it first, for example y.sum().backward(), or pass gradient= of shape "
                f"{tuple(root.shape)}",
            )
        if root.dtype.is_complex:
            raise fail(
                RuntimeError,
                call=f"{call}() of {describe(root)}",
                cause="grad can be implicitly created only for real scalar outputs, but this one "
                "is complex: it has no direction in which to grow",
                fix="make a real loss of it, for example y.abs(), or pass gradient=",
            )
        one = wrap(np.ones(root._array.shape, root._array.dtype))
        return one if root._keys & keys.CPU else one.to(root.device)
    if not isinstance(gradient, Tensor):
        raise fail(
            TypeError,
            call=f"{call}(gradient={describe(gradient)})",
            cause=f"the gradient is a {type(gradient).__name__}, not a tensor",
            fix="pass a tensor, or None for a scalar output",
        )
    if gradient.shape != root.shape:
        raise fail(
            RuntimeError,
            call=f"{call}() of {describe(root)} with gradient {describe(gradient)}",
            cause="mismatch in shape: the gradient must have the output's shape "
            f"{tuple(root.shape)}",
            fix="pass one number per element of the output",
        )
    return gradient.to(root.dtype)
