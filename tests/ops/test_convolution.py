"""Convolution and pooling: geometry swept over, special values, memory, refusals."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from whygrad.ops.convolution import kernels
from whygrad.ops.define import table

F = whygrad.nn.functional
TF = torch.nn.functional
SIDES = ((whygrad, F), (torch, TF))


def drawn(*shape: int) -> Any:
    return np.random.default_rng(shape).normal(size=shape)


def results(name: str, arrays: list[Any], **options: Any) -> list[list[Any]]:
    """Per library: the outputs, then the gradients of a weighted sum of the first."""
    found = []
    for library, functional in SIDES:
        inputs = [library.from_numpy(each.copy()).requires_grad_() for each in arrays]
        outputs = getattr(functional, name)(*inputs, **options)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        weights = np.linspace(0.5, 1.5, outputs[0].numel()).reshape(tuple(outputs[0].shape))
        (outputs[0] * library.from_numpy(weights)).sum().backward()
        tensors = [*(each.detach() for each in outputs), *(each.grad for each in inputs)]
        found.append([np.asarray(each.numpy()) for each in tensors])
    return found


def assert_alike(name: str, arrays: list[Any], **options: Any) -> None:
    for mine, theirs in zip(*results(name, arrays, **options), strict=True):
        np.testing.assert_allclose(mine, theirs, 1e-9, 1e-11, err_msg=f"{name} {options}")


GEOMETRIES = list(product((1, 2, 3), (0, 1, 2), (1, 2)))  # stride, padding, dilation


@pytest.mark.parametrize(("stride", "padding", "dilation"), GEOMETRIES)
def test_every_geometry(stride: int, padding: int, dilation: int) -> None:
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    for groups in (1, 2):
        arrays = [drawn(2, 4, 6, 7), drawn(4, 4 // groups, 3, 2), drawn(4)]
        assert_alike("conv2d", arrays, groups=groups, **options)
        extra = min(1, max(stride, dilation) - 1)
        arrays = [drawn(2, 4, 4, 5), drawn(4, 4 // groups, 3, 2), drawn(4)]
        assert_alike("conv_transpose2d", arrays, groups=groups, output_padding=extra, **options)
    for ceil_mode in (False, True):
        if padding < 2:
            assert_alike(
                "max_pool2d", [drawn(2, 2, 7, 8)], kernel_size=(2, 3), ceil_mode=ceil_mode,
                return_indices=True, **options,
            )  # fmt: skip
            assert_alike(
                "avg_pool2d", [drawn(2, 2, 7, 8)], kernel_size=(2, 3), stride=stride,
                padding=padding, ceil_mode=ceil_mode, count_include_pad=dilation == 1,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "wanted"), [((7, 5), (3, 4)), ((6, 4), (3, 2)), ((2, 3), (5, 4))]
)
def test_every_adaptive_window(sizes: tuple[int, int], wanted: tuple[int, int]) -> None:
    for name in ("adaptive_avg_pool2d", "adaptive_max_pool2d"):
        assert_alike(name, [drawn(2, 3, *sizes)], output_size=wanted)


@pytest.mark.filterwarnings("ignore:Using padding='same'")  # PyTorch says that it copies
@pytest.mark.parametrize(("kernel", "dilation"), [((2, 4), 1), ((4, 3), (3, 2)), ((2, 2), (1, 3))])
def test_same_padding_puts_the_odd_one_behind(kernel: tuple[int, int], dilation: Any) -> None:
    assert_alike(
        "conv2d", [drawn(1, 2, 6, 7), drawn(3, 2, *kernel)], padding="same", dilation=dilation
    )


@pytest.mark.parametrize("limit", [1, 300, 1000])
def test_samples_in_blocks(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some at a time, the last block smaller; one at a time where even that is too much."""
    monkeypatch.setattr(kernels, "_BLOCK", limit)
    arrays = [drawn(5, 3, 6, 6), drawn(4, 3, 3, 3), drawn(4)]
    assert_alike("conv2d", arrays, padding=1)
    assert_alike("conv2d", arrays, stride=2)


def test_many_channels_over_few_windows() -> None:
    """Where the gradient of the weight is one product over all samples."""
    assert_alike("conv2d", [drawn(3, 40, 3, 3), drawn(50, 40, 3, 3)])
    assert_alike("conv2d", [drawn(3, 80, 3, 3), drawn(100, 40, 2, 2)], groups=2)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_computes_in_float32(name: str) -> None:
    found = []
    for library, functional in SIDES:
        dtype = getattr(library, name)
        x, w = (
            library.from_numpy(each.astype("float32")).to(dtype).requires_grad_()
            for each in (drawn(1, 2, 6, 6), drawn(3, 2, 3, 3))
        )
        y = functional.max_pool2d(functional.conv2d(x, w, padding=1), 2)
        y.sum().backward()
        assert y.dtype is dtype
        assert w.grad.dtype is dtype
        found.append([each.detach().float().numpy() for each in (y, w.grad)])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0.05, atol=0.05)


def test_whole_numbers_convolve_too() -> None:
    x, w = (
        np.arange(size).reshape(shape) for size, shape in ((16, (1, 1, 4, 4)), (4, (1, 1, 2, 2)))
    )
    mine, theirs = (
        functional.conv2d(library.from_numpy(x), library.from_numpy(w))
        for library, functional in SIDES
    )
    assert mine.tolist() == theirs.tolist()


class TestMaximum:
    def test_the_first_of_equals_gets_the_gradient(self) -> None:
        x = np.array([[[1.0, 3.0, 3.0], [3.0, 0.0, 3.0], [2.0, 3.0, 3.0]]])
        for options in ({"stride": 1}, {"padding": 1}):
            assert_alike("max_pool2d", [x], kernel_size=2, return_indices=True, **options)

    @pytest.mark.parametrize("places", [[0], [4], [1, 4], [0, 1, 3, 4, 8]])
    def test_nan_wins_and_is_found(self, places: list[int]) -> None:
        x = np.arange(9.0).reshape(1, 3, 3)
        x.flat[places] = np.nan
        assert_alike("max_pool2d", [x], kernel_size=2, stride=1, return_indices=True)
        mine, _ = results("adaptive_max_pool2d", [x], output_size=2)
        assert np.isnan(mine[0]).any()

    def test_minus_infinity_is_a_value_and_the_border_is_not(self) -> None:
        x = np.full((1, 3, 3), -np.inf)
        assert_alike("max_pool2d", [x], kernel_size=2, padding=1, return_indices=True)

    def test_infinite_gradients_reach_only_the_maximum(self) -> None:
        x = whygrad.tensor([[1.0, 2.0, 3.0, 0.0]], requires_grad=True)
        F.max_pool1d(x, 3, 1).backward(whygrad.tensor([[np.inf, 1.0]]))
        assert x.grad.tolist() == [[0.0, 0.0, np.inf, 0.0]]

    def test_large_windows(self) -> None:
        assert_alike("max_pool2d", [drawn(1, 2, 20, 20)], kernel_size=18, stride=1)

    def test_integers(self) -> None:
        x = whygrad.arange(16).reshape(1, 1, 4, 4)
        assert F.max_pool2d(x, 2, padding=1).tolist() == [[[[0, 2, 3], [8, 10, 11], [12, 14, 15]]]]

    def test_input_and_output_may_be_written_over(self) -> None:
        """Backward needs neither, so the usual ``ReLU(inplace=True)`` after it is fine."""
        x = (leaf := whygrad.tensor([[1.0, -2.0, -3.0, -1.0]], requires_grad=True)) * 1
        y = F.max_pool1d(x, 2)
        y.relu_()
        x.zero_()
        y.sum().backward()
        assert leaf.grad.tolist() == [[1.0, 0.0, 0.0, 0.0]]

    def test_one_byte_per_window_is_saved(self) -> None:
        y = F.max_pool2d(whygrad.randn(2, 3, 8, 8, requires_grad=True), 2)
        (places,) = (each for each in y.grad_fn.saved.values() if isinstance(each, np.ndarray))
        assert places.nbytes == y.numel()


def test_averages_keep_infinities_apart() -> None:
    x = drawn(1, 1, 7, 5)
    x[0, 0, 0, 0] = np.inf
    assert_alike("adaptive_avg_pool2d", [x], output_size=(3, 2))
    assert_alike("avg_pool2d", [x], kernel_size=2)


def test_gradients_of_single_samples() -> None:
    """Per-sample gradients of a weight: one grouped product instead of a loop."""
    weight, images = whygrad.randn(3, 2, 3, 3), whygrad.randn(5, 2, 6, 6)

    def loss(weight: Any, image: Any) -> Any:
        return F.max_pool2d(F.conv2d(image, weight, padding=1), 2).square().sum()

    per_sample = whygrad.func.grad(loss)
    together = whygrad.func.vmap(per_sample, (None, 0))(weight, images)
    one_by_one = whygrad.stack([per_sample(weight, image) for image in images])
    assert whygrad.allclose(together, one_by_one, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["convolution", "convolution_transpose", "convolution_weight", "max_pool", "avg_pool"]
)
def test_no_batch_is_left_to_a_loop(name: str) -> None:
    assert table[name].batching is not None


x4, w4 = (1, 3, 5, 5), (4, 3, 3, 3)


@pytest.mark.parametrize(
    ("name", "shapes", "options", "phrase"),
    [
        ("conv2d", [x4, (4, 2, 3, 3)], {}, "to have 2 channels, but got 3 channels instead"),
        ("conv2d", [(5, 5), w4], {}, "Expected 3D (unbatched) or 4D (batched) input to conv2d"),
        ("conv2d", [(1, 3, 2, 2), w4], {}, "Kernel size can't be greater than actual input size"),
        ("conv2d", [x4, w4], {"dilation": 3}, "Kernel size: (7 x 7)"),
        ("conv2d", [x4, w4, (3,)], {}, "expected bias to be 1-dimensional with 4 elements"),
        ("conv2d", [x4, w4], {"stride": 0}, "non-positive stride is not supported"),
        ("conv2d", [x4, w4], {"padding": -1}, "negative padding is not supported"),
        ("conv2d", [x4, w4], {"dilation": 0}, "dilation should be greater than zero"),
        ("conv2d", [x4, w4], {"groups": 0}, "non-positive groups is not supported"),
        ("conv2d", [(1, 4, 5, 5), (3, 2, 3, 3)], {"groups": 2}, "to be divisible by 2"),
        ("conv2d", [x4, (0, 3, 3, 3)], {}, "to be at least 1 at dimension 0"),
        ("conv2d", [x4, w4], {"stride": (1, 2, 3)}, "a list of 2 values to match"),
        ("conv2d", [x4, w4], {"padding": "foo"}, "Invalid padding string: 'foo'"),
        ("conv2d", [x4, w4], {"padding": "same", "stride": 2}, "not supported for strided"),
        ("conv2d", [x4, (4, 3, 0, 3)], {}, "kernel size should be greater than zero"),
        ("conv2d", [(1, 3, 0, 5), w4], {"padding": 2}, "Only zero batch or zero channel inputs"),
        ("conv2d", [x4, w4], {"stride": 1.5}, ""),
        ("conv1d", [(5,), (4, 3, 4)], {}, "or 3D (batched) input to conv1d"),
        ("conv_transpose2d", [x4, (4, 2, 3, 3)], {}, "to have 4 channels, but got 3 channels"),
        ("conv_transpose2d", [x4, (3, 2, 3, 3), (3,)], {}, "1-dimensional with 2 elements"),
        ("conv_transpose2d", [x4, (3, 2, 3, 3)], {"output_padding": 1}, "must be smaller than"),
        ("conv_transpose2d", [x4, (3, 2, 3, 3)], {"output_padding": -1}, "negative output_padding"),
        ("conv_transpose2d", [x4, (3, 2, 3, 3)], {"padding": 9}, "Output size is too small"),
        ("conv_transpose2d", [(1, 3, 0, 5), (3, 2, 3, 3)], {}, "Only zero batch or zero channel"),
        ("max_pool2d", [(5, 5)], {"kernel_size": 2}, "3D or 4D (batch mode) tensor"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 2, "padding": 2}, "pad should be at most"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 2, "padding": -1}, "must be non-negative"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 7}, "Output size is too small"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 0}, "stride should not be zero"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 2, "stride": 0}, "should not be zero"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": 2, "dilation": 0}, "greater than zero"),
        ("max_pool2d", [(1, 1, 5, 5)], {"kernel_size": (2, 2, 2)}, "must either be a single int"),
        ("max_pool2d", [(1, 0, 5, 5)], {"kernel_size": 2}, "with optional 0 dim batch size"),
        ("avg_pool2d", [(1, 1, 5, 5)], {"kernel_size": 7}, "Output size is too small"),
        ("avg_pool2d", [(1, 1, 5, 5)], {"kernel_size": 2, "divisor_override": 0}, "be not zero"),
        ("adaptive_avg_pool2d", [(5, 5)], {"output_size": 2}, "Expected 3D or 4D tensor"),
        ("adaptive_avg_pool2d", [x4], {"output_size": (2, 2, 2)}, "output_size must be 2"),
        ("adaptive_avg_pool2d", [x4], {"output_size": -1}, "greater than or equal to 0"),
        ("adaptive_avg_pool2d", [(1, 1, 0, 5)], {"output_size": 2}, "dimension 2 being empty"),
        ("adaptive_max_pool2d", [(1, 1, 0, 5)], {"output_size": 2}, "dimension 2 being empty"),
    ],
)  # fmt: skip
def test_refusals_of_pytorch(
    name: str, shapes: list[Any], options: dict[str, Any], phrase: str
) -> None:
    kinds = []
    for library, functional in SIDES:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            getattr(functional, name)(*(library.ones(each) for each in shapes), **options)
        assert phrase in " ".join(str(caught.value).split())
        kinds.append(caught)
    mine, theirs = kinds
    assert isinstance(mine.value, theirs.type)
    assert "fix:" in str(mine.value)
    assert __file__.rpartition("/")[2] in str(mine.value)


@pytest.mark.parametrize(
    ("program", "kind", "phrase"),
    [
        (
            lambda: F.conv2d(whygrad.ones(x4), whygrad.ones(w4).double()),
            RuntimeError,
            "Input type (float32) and weight type (float64) should be the same",
        ),
        (
            lambda: F.conv2d(whygrad.ones(x4), whygrad.ones(w4), whygrad.ones(4).double()),
            RuntimeError,
            "bias type (float64) should be the same",
        ),
        (
            lambda: F.conv2d(whygrad.ones(x4), whygrad.ones(4, 3, 3)),
            RuntimeError,
            "Expected 4-dimensional weight for conv2d",
        ),
        (
            lambda: F.conv2d(whygrad.ones(x4) > 0, whygrad.ones(w4) > 0),
            RuntimeError,
            "not implemented for bool tensors",
        ),
        (
            lambda: F.avg_pool2d(whygrad.ones(x4).long(), 2),
            RuntimeError,
            "not implemented for integer tensors",
        ),
        (
            lambda: F.adaptive_avg_pool2d(whygrad.ones(x4).long(), 2),
            NotImplementedError,
            "not implemented for int64 tensors",
        ),
        (
            lambda: F.unfold(whygrad.ones(5, 5), 2),
            RuntimeError,
            "Expected 3D or 4D (batch mode) tensor",
        ),
        (lambda: F.unfold(whygrad.ones(x4), 0), RuntimeError, "kernel_size should be greater"),
        (lambda: F.unfold(whygrad.ones(x4), 2, padding=-1), RuntimeError, "should be non-negative"),
        (
            lambda: F.fold(whygrad.ones(4), (3, 3), 2),
            RuntimeError,
            "Expected 2D or 3D (batch mode) tensor",
        ),
        (lambda: F.adaptive_avg_pool1d(whygrad.ones(1, 2, 3), None), TypeError, "integer"),
    ],
)
def test_refusals_in_our_words(program: Any, kind: type[Exception], phrase: str) -> None:
    with pytest.raises(kind) as caught:
        program()
    assert phrase in str(caught.value)
    assert "fix:" in str(caught.value)
