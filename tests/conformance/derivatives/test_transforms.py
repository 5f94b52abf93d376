"""Every op under pairs of transforms, with views written inside: combinations are where parts that
are right by themselves go wrong."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.derivatives.test_batching import DOCUMENTED, SIZE, on_other_inputs
from tests.conformance.derivatives.transforms import PAIRS, Sample, telling_samples, with_pytorch
from tests.conformance.harness import as_numpy, whygrad_side
from whygrad.autograd import forward_ad
from whygrad.autograd.transforms import batching, lifting
from whygrad.func import tape, vmap
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor import Tensor

vmap_module = importlib.import_module(
    "whygrad.autograd.transforms.vmap"
)  # the function has the same name
DIFFERENTIATED = tuple(name for name in PAIRS if "jvp" in name or "grad" in name)


def problems(op: Op) -> list[str]:
    """What differs from the loop, in words."""
    found = []
    for number, call in enumerate(telling_samples(op)):
        sample = telling(op, call, number)
        outputs = sample.function(*sample.single(0)[0])
        if not outputs:
            continue
        smooth = op.differentiable and any(each.dtype.is_floating_point for each in outputs)
        for name in PAIRS:
            if smooth or name not in DIFFERENTIATED:
                found += _differences(sample, name, number)
        if smooth and number == 0 and op.torch != "":
            found += _against_pytorch(sample)
    return found


def telling(op: Op, call: Call, number: int) -> Sample:
    """A sample of which every input has a batch, for the first call; one of them for the others."""
    sample = Sample(op, call)
    count = len(sample.points)
    return Sample(op, call, shared=number % count) if number and count > 1 else sample


def _against_pytorch(sample: Sample) -> list[str]:
    """torch.func, for the pairs whose loop would take the same way through whygrad."""
    found = []
    for name in ("vmap of jvp", "vmap of grad"):
        theirs = with_pytorch(sample, name)
        if theirs is None:
            continue
        try:
            mine, _ = PAIRS[name](sample, sample.function)
        except RuntimeError:
            continue  # the loop has judged that already
        rounded = [whygrad.from_numpy(as_numpy(each)) for each in theirs]
        label = f"{name} of {sample.op.name}({sample.call!r}) against PyTorch"
        found += _unequal(label, list(mine), rounded)
    return found


def _differences(sample: Sample, name: str, number: int) -> list[str]:
    found = []
    for writing in ("written", "overwritten") if number else ("function", "written", "overwritten"):
        if writing == "overwritten" and name not in ("vmap of jvp", "jvp of vmap"):
            continue  # what is differentiated in reverse mode must not be written to
        label = f"{name} of {sample.op.name}({sample.call!r}), {writing}"
        try:
            mine, theirs = PAIRS[name](sample, getattr(sample, writing))
        except RuntimeError as error:
            if not any(phrase in str(error) for phrase in DOCUMENTED):
                found.append(f"{label}: {error}")
            continue
        found += _unequal(label, list(mine), list(theirs))
    return found


def _unequal(label: str, mine: list[Tensor], theirs: list[Tensor]) -> list[str]:
    if len(mine) != len(theirs):
        return [f"{label}: {len(mine)} results, {len(theirs)} in the loop"]
    found = []
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            found.append(f"{label}, result {place}: {a.dtype}{a.shape} against {b.dtype}{b.shape}")
        elif not np.allclose(as_numpy(a), as_numpy(b), 1e-8, 1e-10, equal_nan=True):
            found.append(f"{label}, result {place}:\n{as_numpy(a)}\n{as_numpy(b)}")
    return found


@pytest.mark.parametrize("op", table.values(), ids=lambda op: f"{op.family}-{op.name}")
def test_pairs_of_transforms_are_loops(op: Op) -> None:
    found = problems(op)
    assert not found, "\n".join(found)


# --- planted faults -------------------------------------------------------------------------------


def fault(pair: str, op: str, writing: str = "function") -> Any:
    """A mistake in a mechanism, the pair that must show it, and on which op."""
    return lambda plant: pytest.param(plant, pair, op, writing, id=f"{pair}: {plant.__doc__}")


@fault("vmap", "mul")
def _results_of_other_samples(patch: Any) -> None:
    """results of other samples"""
    remove = vmap_module.remove_batch
    patch.setattr(vmap_module, "remove_batch", lambda *args: remove(*args).flip(0))


@fault("vmap in chunks", "mul")
def _chunks_in_another_order(patch: Any) -> None:
    """chunks that come back in another order"""
    chunks = vmap_module._Inputs.chunks
    patch.setattr(
        vmap_module._Inputs, "chunks", lambda self, size: reversed(list(chunks(self, size)))
    )


@fault("vmap of jvp", "mul")
def _tangents_of_other_samples(patch: Any) -> None:
    """tangents of other samples"""
    within = lifting.within_level
    patch.setattr(lifting, "within_level", lambda tensor, level: within(tensor.flip(0), level))


@fault("jvp of vmap", "mul")
def _tangents_left_behind(patch: Any) -> None:
    """tangents that do not enter the batch"""
    add = batching.add_batch
    patch.setattr(
        vmap_module,
        "add_batch",
        lambda tensor, level: add(forward_ad.without_tangents(tensor), level),
    )


@fault("vmap of grad", "mul")
def _gradients_of_other_samples(patch: Any) -> None:
    """gradients of other samples"""
    patch.setattr(
        tape, "raised", lambda each, levels: lifting.raised(_turned(each, levels), levels)
    )


def _turned(tensor: Tensor, levels: Any) -> Tensor:
    return tensor.flip(0) if levels and tensor.ndim and tensor._node is None else tensor


@fault("grad of vmap", "mul")
def _history_cut(patch: Any) -> None:
    """outputs that leave their history behind"""
    remove = vmap_module.remove_batch
    patch.setattr(vmap_module, "remove_batch", lambda *args: remove(*args).detach())


@fault("jvp of grad", "exp")
def _twins_without_tangents(patch: Any) -> None:
    """inputs of grad that lose their tangents"""
    patch.setattr(tape, "set_tangents", lambda tensor, tangents: None)


@fault("grad of jvp", "exp")
def _tangents_without_history(patch: Any) -> None:
    """tangents without a history"""
    attach = forward_ad.attach
    patch.setattr(
        forward_ad, "attach", lambda tensor, level, each: attach(tensor, level, each.detach())
    )


@fault("vmap of jvp", "exp", "overwritten")
def _written_to_the_base(patch: Any) -> None:
    """tangents written to a base that has none"""
    make = forward_ad.make_dual

    def over_base(tensor: Tensor, tangent: Tensor, **level: Any) -> Tensor:
        dual = make(tensor, tangent, **level)
        dual._base = tensor._base
        return dual

    patch.setattr(forward_ad, "make_dual", over_base)


FAULTS = [
    _results_of_other_samples, _chunks_in_another_order, _tangents_of_other_samples,
    _tangents_left_behind, _gradients_of_other_samples, _history_cut, _twins_without_tangents,
    _tangents_without_history, _written_to_the_base,
]  # fmt: skip


@pytest.mark.parametrize(("plant", "pair", "op", "writing"), FAULTS)
def test_a_planted_fault_is_found(
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[Any], None],
    pair: str,
    op: str,
    writing: str,
) -> None:
    plant(monkeypatch)
    found = _differences(Sample(table[op], telling_samples(table[op])[0]), pair, 0)
    assert any(f", {writing}" in each for each in found), found


def outcomes(op: Op, mode: str) -> set[str]:
    """What becomes of the samples of an op, for a batch of equal inputs, under ``randomness``."""
    found = set()
    for call in samples_of(op):
        side = whygrad_side(call, "float64")
        run = on_other_inputs(op, side, side.inputs)
        inputs = [each.detach().expand(SIZE, *each.shape).clone() for each in side.inputs]

        def function(number: Tensor, *at: Tensor, run: Any = run) -> Any:
            return tuple(
                each for each in run(*at) if isinstance(each, Tensor) and not each.is_sparse
            )

        mapped = vmap(function, randomness=mode, chunk_size=SIZE - 1 if mode == "same" else None)
        try:
            results = mapped(whygrad.arange(SIZE), *inputs)
        except RuntimeError as error:
            found.add("refused" if "random" in str(error) else "unsupported")
            continue
        differ = any(len({row.tobytes() for row in as_numpy(each)}) > 1 for each in results)
        found.add("its own" if differ else "the same")
    return found


def test_random_ops_keep_to_the_mode() -> None:
    """``randomness="same"`` is the same for all or refused; ``"different"`` is not the same."""
    random = [op for op in table.values() if "refused" in outcomes(op, "error")]
    assert len(random) > 10
    for op in random:
        assert outcomes(op, "same") <= {"the same", "refused"}, op
        if not op.differentiable:  # else its samples must not depend on what was drawn
            assert "its own" in outcomes(op, "different"), op


def test_every_pair_has_a_planted_fault() -> None:
    assert {each.values[1] for each in FAULTS} == set(PAIRS)
