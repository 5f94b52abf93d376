"""Loss modules against PyTorch's: values, gradients, state, repr, warnings and refusals."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad

F = whygrad.nn.functional


def _draw(*shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    return np.random.default_rng(len(shape) + sum(shape)).uniform(low, high, shape)


def _signs(*shape: int) -> Any:
    return np.where(_draw(*shape) > 0, 1, -1)


SHARES = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
UNEVEN = np.array([0.5, 2.0, 1.0])
CLASSES = np.array([2, 0, 1, 2])

# name → (options of the module, inputs that require grad, other inputs)
CASES: dict[str, list[tuple[dict[str, Any], list[Any], list[Any]]]] = {
    "L1Loss": [({}, [_draw(3, 4), _draw(2, 4)[:1].repeat(3, 0)], [])],
    "MSELoss": [({}, [_draw(3, 4), _draw(3, 4) / 3], []), ({}, [_draw(3)], [_draw(3) * 2])],
    "SmoothL1Loss": [({}, [_draw(3, 4), -_draw(3, 4)], []), ({"beta": 0.3}, [_draw(3)], [UNEVEN])],
    "HuberLoss": [({}, [_draw(3, 4), -_draw(3, 4)], []), ({"delta": 0.3}, [_draw(3)], [UNEVEN])],
    "BCELoss": [
        ({}, [_draw(2, 3, low=0.1, high=0.9)], [SHARES]),
        ({"weight": UNEVEN}, [_draw(2, 3, low=0.1, high=0.9)], [SHARES]),
    ],
    "BCEWithLogitsLoss": [
        ({}, [_draw(2, 3) * 1e4], [SHARES]),
        ({"weight": UNEVEN}, [_draw(2, 3)], [SHARES]),
        ({"pos_weight": UNEVEN}, [_draw(2, 3)], [SHARES]),
        ({"weight": UNEVEN, "pos_weight": UNEVEN}, [_draw(2, 3)], [SHARES]),
    ],
    "NLLLoss": [
        ({}, [_draw(4, 3)], [CLASSES]),
        ({"weight": UNEVEN, "ignore_index": 1}, [_draw(4, 3)], [CLASSES]),
    ],
    "CrossEntropyLoss": [
        ({}, [_draw(4, 3)], [CLASSES]),
        ({}, [_draw(4, 3) * 1e4], [CLASSES]),
        ({"weight": UNEVEN}, [_draw(4, 3)], [CLASSES]),
        ({"ignore_index": 2}, [_draw(4, 3)], [CLASSES]),
        ({"ignore_index": -1}, [_draw(4, 3)], [np.array([2, -1, 1, -1])]),
        ({"label_smoothing": 0.1}, [_draw(4, 3)], [CLASSES]),
        ({"label_smoothing": 0.3, "weight": UNEVEN, "ignore_index": 0}, [_draw(4, 3)], [CLASSES]),
        ({}, [_draw(2, 3), SHARES], []),
        ({"label_smoothing": 0.1, "weight": UNEVEN}, [_draw(2, 3)], [SHARES]),
        ({"weight": UNEVEN}, [_draw(2, 3, 4, 2)], [(_draw(2, 4, 2) > 0).astype(int)]),
        ({"label_smoothing": 0.2}, [_draw(2, 3, 4)], [(_draw(2, 4) > 0).astype(int)]),
        ({}, [_draw(3)], [np.array(1)]),
    ],
    "KLDivLoss": [
        ({"reduction": "batchmean"}, [_draw(2, 3)], [SHARES]),
        ({"reduction": "batchmean", "log_target": True}, [_draw(2, 3), -_draw(2, 3)], []),
        ({"log_target": True}, [_draw(2, 3), -_draw(2, 3)], []),
    ],
    "PoissonNLLLoss": [
        ({}, [_draw(3, 4)], [np.arange(12.0).reshape(3, 4)]),
        ({"full": True}, [_draw(3, 4)], [np.arange(12.0).reshape(3, 4)]),
        ({"log_input": False, "eps": 0.1}, [_draw(3, low=0.5)], [np.arange(3.0)]),
    ],
    "GaussianNLLLoss": [
        ({}, [_draw(3, 4), -_draw(3, 4), _draw(3, 4, low=0.1)], []),
        ({"full": True, "eps": 0.5}, [_draw(3, 4), _draw(4), _draw(3, low=0.1)], []),
        ({"eps": 0.5}, [_draw(3, 4), _draw(3, 4) / 2, np.full((3, 1), 0.1)], []),
    ],
    "CosineEmbeddingLoss": [
        ({}, [_draw(4, 3), _draw(4, 2, 3)[:, 0]], [_signs(4)]),
        ({"margin": 0.3}, [_draw(4, 3), np.zeros((4, 3))], [_signs(4)]),
    ],
    "MarginRankingLoss": [
        ({}, [_draw(4), _draw(1, 4)[0]], [_signs(4)]),
        ({"margin": 0.5}, [_draw(3, 4), -_draw(3, 4)], [_signs(3, 4)]),
    ],
    "HingeEmbeddingLoss": [
        ({}, [_draw(3, 4)], [_signs(3, 4)]),
        ({"margin": 0.2}, [np.array([0.2, 0.2])], [np.array([1, -1])]),
    ],
    "SoftMarginLoss": [({}, [_draw(3, 4)], [_signs(3, 4)])],
    "MultiLabelMarginLoss": [
        ({}, [_draw(2, 4)], [np.array([[3, 0, -1, 1], [0, 0, 2, -1]])]),
        ({}, [np.array([1.0, 0.0, 0.0])], [np.array([0, -1, 1])]),
    ],
    "MultiLabelSoftMarginLoss": [
        ({}, [_draw(2, 3) * 1e3], [SHARES]),
        ({"weight": UNEVEN}, [_draw(2, 3)], [SHARES]),
    ],
    "MultiMarginLoss": [
        ({}, [_draw(4, 3)], [CLASSES]),
        ({"p": 2, "margin": 0.4, "weight": UNEVEN}, [_draw(4, 3)], [CLASSES]),
        ({}, [np.array([1.0, 0.0, 0.0])], [np.array(0)]),
    ],
    "TripletMarginLoss": [
        ({}, [_draw(4, 3), _draw(4, 3) / 2, _draw(1, 3).repeat(4, 0)], []),
        ({"p": 1.0, "margin": 0.2, "swap": True}, [_draw(4, 3), _draw(4, 3) / 2, _draw(4, 3)], []),
    ],
    "TripletMarginWithDistanceLoss": [
        ({"margin": 3.0}, [_draw(4, 3), _draw(4, 3) / 2, _draw(1, 3).repeat(4, 0)], []),
        (
            {"distance_function": lambda a, b: (a - b).abs().sum(-1), "swap": True},
            [_draw(4, 3), _draw(4, 3) / 2, -_draw(4, 3)],
            [],
        ),
    ],
    "CosineSimilarity": [
        ({}, [_draw(4, 3), _draw(1, 3)], []),
        ({"dim": 0, "eps": 0.5}, [np.array([0.1, 0.2]), np.array([0.3, 0.0])], []),
        ({}, [np.zeros((2, 3)), _draw(2, 3)], []),
    ],
    "PairwiseDistance": [
        ({}, [_draw(4, 3), _draw(1, 3)], []),
        ({"p": 1.5, "keepdim": True}, [_draw(4, 3), _draw(1, 3)], []),
    ],
}  # fmt: skip

REDUCTIONS = ("mean", "sum", "none")


def _cases() -> list[Any]:
    cases = []
    for name, rows in CASES.items():
        for index, (options, *inputs) in enumerate(rows):
            fixed = "reduction" in options or not name.endswith("Loss")
            for extra in [{}] if fixed else [{"reduction": each} for each in REDUCTIONS]:
                label = f"{name}-{index}-{extra.get('reduction', 'own')}"
                cases.append(pytest.param(name, {**options, **extra}, *inputs, id=label))
    return cases


def _run(library: Any, name: str, options: Any, learned: list[Any], fixed: list[Any]) -> Any:
    def tensor(value: Any) -> Any:
        return library.tensor(value) if isinstance(value, np.ndarray) else value

    leaves = [tensor(each).requires_grad_() for each in learned]
    module = getattr(library.nn, name)(**{key: tensor(each) for key, each in options.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kl_div's opinion on 'mean', sizes that broadcast
        loss = module(*leaves, *map(tensor, fixed))
    loss.sum().backward()
    return module, loss, [leaf.grad for leaf in leaves]


@pytest.mark.parametrize(("name", "options", "learned", "fixed"), _cases())
def test_module_is_pytorchs(name: str, options: Any, learned: list[Any], fixed: list[Any]) -> None:
    mine, my_loss, my_grads = _run(whygrad, name, options, learned, fixed)
    theirs, their_loss, their_grads = _run(torch, name, options, learned, fixed)
    assert repr(mine) == repr(theirs)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    assert tuple(my_loss.shape) == tuple(their_loss.shape)
    pairs = zip([my_loss.detach(), *my_grads], [their_loss.detach(), *their_grads], strict=True)
    for value, expected in pairs:
        np.testing.assert_allclose(value.numpy(), expected.numpy(), 1e-11, 1e-13)


def test_every_loss_of_the_module_has_a_case() -> None:
    rooms = whygrad.nn.modules.loss
    declared = {*rooms.common.__all__, *rooms.margin.__all__}
    elsewhere = {"CTCLoss", "NLLLoss2d"}  # another call, and an older name
    assert set(CASES) == declared - elsewhere


@pytest.mark.parametrize("name", CASES)
def test_signatures_are_pytorchs(name: str) -> None:
    def arguments(library: Any) -> list[tuple[str, Any, Any]]:
        parameters = inspect.signature(getattr(library.nn, name)).parameters.values()
        return [(each.name, each.kind, each.default) for each in parameters]

    assert arguments(whygrad) == arguments(torch)


def test_cross_entropy_gradient_is_exact_at_extreme_logits() -> None:
    """(p − one_hot)/B: p is exactly 0 or 1 here, so the gradient has no rounding to excuse."""
    logits = whygrad.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]], requires_grad=True)
    loss = whygrad.nn.CrossEntropyLoss()(logits, whygrad.tensor([0, 1]))
    loss.backward()
    assert loss.item() == 1e4
    assert logits.grad.tolist() == [[0.0, 0.0, 0.0], [0.0, -0.5, 0.5]]


def test_cross_entropy_backward_saves_one_array_of_the_size_of_the_logits() -> None:
    logits = whygrad.randn(5, 3, requires_grad=True)
    saved = F.cross_entropy(logits, whygrad.tensor([0, 1, 2, 0, 1])).grad_fn.saved
    large = [name for name, value in saved.items() if getattr(value, "shape", ()) == (5, 3)]
    assert large == ["p"]


def test_soft_margin_loss_does_not_overflow() -> None:
    x = whygrad.tensor([-1e4, 1e4], requires_grad=True)
    loss = F.soft_margin_loss(x, whygrad.tensor([1.0, -1.0]))
    loss.backward()
    assert (loss.item(), x.grad.tolist()) == (1e4, [-0.5, 0.5])


ones, zeros = whygrad.ones, whygrad.zeros
WARNED: dict[str, Callable[[], Any]] = {
    r"target size \(\(4,\)\) that is different to the input size \(\(4, 1\)\)": lambda: (
        whygrad.nn.MSELoss()(ones(4, 1), ones(4))
    ),
    r"target size \(\(1, 4\)\) that is different": lambda: F.huber_loss(ones(4), ones(1, 4)),
    r"target size \(\(2, 4\)\) that is different": lambda: F.smooth_l1_loss(ones(4), ones(2, 4)),
    "'mean' divides the total loss by both": lambda: F.kl_div(zeros(2, 2), ones(2, 2) / 2),
    "please use reduction='sum'": lambda: whygrad.nn.L1Loss(size_average=False),
    "please use reduction='none'": lambda: F.soft_margin_loss(ones(2), ones(2), reduce=False),
}


@pytest.mark.parametrize("words", WARNED)
def test_warnings_name_the_users_line(words: str) -> None:
    with pytest.warns(UserWarning, match=words) as caught:
        WARNED[words]()
    assert caught[0].filename == __file__


# What both libraries refuse: a call of torch or whygrad → the words in either message.
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "does not support negative values for beta": lambda lib, F: F.smooth_l1_loss(
        lib.ones(2), lib.zeros(2), beta=-1.0
    ),
    "does not support non-positive values for delta": lambda lib, F: F.huber_loss(
        lib.ones(2), lib.zeros(2), delta=0.0
    ),
    "Weights and input must have the same size": lambda lib, F: F.huber_loss(
        lib.ones(2), lib.zeros(2), weight=lib.ones(3)
    ),
    "batchmean is not a valid value for reduction": lambda lib, F: F.huber_loss(
        lib.ones(2), lib.zeros(2), reduction="batchmean"
    ),
    "other is not a valid value for reduction": lambda lib, F: F.kl_div(
        lib.ones(2), lib.zeros(2), reduction="other"
    ),
    "0D or 1D target tensor expected": lambda lib, F: F.cosine_embedding_loss(
        lib.ones(3, 2), lib.ones(3, 2), lib.ones(3, 1)
    ),
    "1D target tensor expects 2D input tensors, but found": lambda lib, F: F.cosine_embedding_loss(
        lib.ones(3), lib.ones(3), lib.ones(3)
    ),
    "0D target tensor expects 1D input tensors, but found": lambda lib, F: F.cosine_embedding_loss(
        lib.ones(3, 2), lib.ones(3, 2), lib.ones(())
    ),
    "All input tensors should have same dimension": lambda lib, F: F.margin_ranking_loss(
        lib.ones(3, 2), lib.ones(3, 2), lib.ones(3)
    ),
    "only p == 1 and p == 2 supported": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([0, 1]), p=3
    ),
    "weight must be one-dimensional": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([0, 1]), weight=lib.ones(3, 1)
    ),
    "inconsistent weight size, expected 3 but got": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([0, 1]), weight=lib.ones(2)
    ),
    "target out of range": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([0, 3])
    ),
    "Expected target size [2], but got [3]": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.tensor([0, 1, 2])
    ),
    "expected scalar type Long but found": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3), lib.ones(2)
    ),
    "Expected non-empty vector or matrix": lambda lib, F: F.multi_margin_loss(
        lib.ones(2, 3, 1), lib.tensor([0, 1])
    ),
    "inconsistent target size": lambda lib, F: F.multilabel_margin_loss(
        lib.ones(2, 3), lib.tensor([[0], [1]])
    ),
    "'target' is out of range": lambda lib, F: F.multilabel_margin_loss(
        lib.ones(3), lib.tensor([0, 3, -1])
    ),
    "margin must be greater than 0, got 0": lambda lib, F: F.triplet_margin_loss(
        lib.ones(2, 3), lib.ones(2, 3), lib.ones(2, 3), margin=0
    ),
    "anchor 2D, positive 1D, and negative 2D": lambda lib, F: F.triplet_margin_with_distance_loss(
        lib.ones(2, 3), lib.ones(3), lib.ones(2, 3)
    ),
    "var is of incorrect size": lambda lib, F: F.gaussian_nll_loss(
        lib.ones(2, 3), lib.ones(2, 3), lib.ones(3)
    ),
    "var has negative entry/entries": lambda lib, F: F.gaussian_nll_loss(
        lib.ones(2, 3), lib.ones(2, 3), -1.0
    ),
    "expected common dtype to be floating point": lambda lib, F: F.cosine_similarity(
        lib.ones(2, 3).long(), lib.ones(2, 3).long()
    ),
    "either for all 3 classes or no classes": lambda lib, F: F.cross_entropy(
        lib.ones(2, 3), lib.ones(2, 3) / 3, weight=lib.ones(2)
    ),
    "MultiMarginLoss: expected weight to be None or 1D tensor": lambda lib, F: (
        lib.nn.MultiMarginLoss(weight=lib.ones(2, 1))
    ),
    "only p == 1 and p == 2": lambda lib, F: lib.nn.MultiMarginLoss(p=0),
    "TripletMarginLoss: expected margin to be greater than 0, got 0": lambda lib, F: (
        lib.nn.TripletMarginLoss(margin=0)
    ),
    "TripletMarginWithDistanceLoss: expected margin": lambda lib, F: (
        lib.nn.TripletMarginWithDistanceLoss(margin=-1.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_are_pytorchs(words: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=re.escape(words)) as theirs:
        REFUSED[words](torch, torch.nn.functional)
    with pytest.raises(type(theirs.value), match=re.escape(words)) as mine:
        REFUSED[words](whygrad, F)
    assert "fix:" in str(mine.value)
    assert "test_loss.py" in str(mine.value)
