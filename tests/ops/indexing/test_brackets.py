"""``x[...]`` and ``x[...] = v``: every form against PyTorch, views, gradients, error texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad

SHAPE = (2, 3, 4)
VALUES = np.arange(24.0).reshape(SHAPE)

BASIC = [
    "0", "-1", "1, 2", "0, 1, 2", ":", "1:", "::2", "-100:100", "2:1", "...", "..., 0", "0, ...",
    "None", "None, 0", "0, None, 1:", "..., None", ":, None, ..., 1:3:2", "()", "..., ...",
    "np.int64(1)", "t(1)", "np.array(1)", "t(0):t(1)", "None, None, 0, ..., None", "[None, 0]",
    "[0, slice(0, 2)]", "[t(0), t(1)]",
]  # fmt: skip
ADVANCED = [
    "[0, 1]", "[0, -1, 0]", "[]", "[[0, 1], [1, 0]],", "t([1, 0, 1])", "t([[1, 0], [1, 1]])",
    "np.array([1, 0])", "range(2)", ":, [2, 0]", "..., [3, 3, 0]", "[0, 1], [2, 1]",
    "[0, 1], :, [2, 1]", "[[0], [1]], [2, 1]", ":, [0, 1], [0, 1]", "0, :, [0, 1]", ":, 0, [0, 1]",
    "[0, 1], :, 0", "[0, 1], None, [0, 1]", "None, [0, 1], [0, 1]", "1:, [0, 2]",
    "..., ::2, [0, 1]",
    "[0, 1], [1, 1], [2, -1]", "t([0, 1]), ..., t([0, 1])", "t(1), :, [0, 1]",
    "True", "False", "True, [0, 1]", "[0, 1], True", "None, True", "..., True", "True, True",
    "0, True, :, [0, 1]", "t(True)", "t(True), [0, 1]", "mask", "mask[:, 0, 0]",
    "mask[:, :, 0]", ":, mask[0]", "mask[:, 0, 0], :, [1]", "..., mask[0, 0]", "0, mask[0]",
    "[True, False]", "[True, False], [0, 1]", "0, [True, False, True]", "none", "t([1]).to(i32)",
    "[t([0, 1]), t([0, 1])]",
]  # fmt: skip


def index(text: str, library: Any) -> Any:
    """The index between the brackets, with tensors of the given library."""

    class Brackets:
        def __getitem__(self, item: Any) -> Any:
            return item

    mask = library.tensor(VALUES % 3 == 1)
    names = {
        "at": Brackets(), "np": np, "t": library.tensor, "mask": mask, "i32": library.int32,
        "none": library.tensor(np.zeros(SHAPE, bool)),
    }  # fmt: skip
    return eval(f"at[{text}]", names)


@pytest.fixture(autouse=True)
def _quiet_pytorch(recwarn: pytest.WarningsRecorder) -> None:
    """PyTorch warns that lists of lists will change their meaning one day."""
    import warnings

    warnings.filterwarnings("ignore", message="Using a non-tuple sequence")


def leaf(library: Any, array: Any = VALUES) -> Any:
    return library.tensor(array, dtype=library.float64, requires_grad=True)


@pytest.mark.parametrize("text", BASIC + ADVANCED)
def test_value_and_gradient_match_pytorch(text: str) -> None:
    results = []
    for library in (whygrad, torch):
        x = leaf(library)
        y = x[index(text, library)]
        (y * y).sum().backward()
        results.append((y.detach().numpy(), x.grad.numpy()))
    mine, theirs = results
    assert mine[0].shape == theirs[0].shape
    np.testing.assert_array_equal(mine[0], theirs[0])
    np.testing.assert_array_equal(mine[1], theirs[1])


@pytest.mark.parametrize("text", BASIC)
def test_basic_indexing_is_a_view(text: str) -> None:
    x = whygrad.tensor(VALUES)
    y = x[index(text, whygrad)]
    assert y._base is x
    assert y.numel() == 0 or np.shares_memory(x.numpy(), y.numpy())
    theirs = torch.tensor(VALUES)[index(text, torch)]
    if y.numel():
        assert y.stride() == theirs.stride()


@pytest.mark.parametrize("text", ADVANCED)
def test_advanced_indexing_is_a_copy(text: str) -> None:
    x = whygrad.tensor(VALUES)
    y = x[index(text, whygrad)]
    assert y._base is None
    assert not np.shares_memory(x.numpy(), y.numpy())


REPEATS = {
    "[0, -1, 0]",
    "t([1, 0, 1])",
    "t([[1, 0], [1, 1]])",
    "..., [3, 3, 0]",
    "[[0, 1], [1, 0]],",
}


@pytest.mark.parametrize("text", [text for text in BASIC + ADVANCED if text not in REPEATS])
@pytest.mark.parametrize("kind", ["number", "same shape", "broadcast"])
def test_assignment_and_its_gradients_match_pytorch(text: str, kind: str) -> None:
    shape = torch.tensor(VALUES)[index(text, torch)].shape
    values = np.random.default_rng(0).normal(size=shape if kind == "same shape" else shape[-1:])
    results = []
    for library in (whygrad, torch):
        x = leaf(library)
        written = x * 2
        value = 3.5 if kind == "number" else leaf(library, values)
        written[index(text, library)] = value
        (written * written).sum().backward()
        given = np.zeros(()) if kind == "number" or value.grad is None else value.grad.numpy()
        results.append((written.detach().numpy(), x.grad.numpy(), given))
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs)


@pytest.mark.parametrize("text", BASIC + ADVANCED)
def test_assignment_without_gradient_writes_into_the_memory(text: str) -> None:
    array = VALUES.copy()
    mine, theirs = whygrad.from_numpy(array), torch.tensor(VALUES)
    view = mine[1:]
    mine[index(text, whygrad)] = -1
    theirs[index(text, torch)] = -1
    np.testing.assert_array_equal(array, theirs.numpy())
    np.testing.assert_array_equal(view.numpy(), theirs[1:].numpy())
    assert mine._version == 1


def test_assignment_to_a_strided_view() -> None:
    mine, theirs = whygrad.tensor(VALUES), torch.tensor(VALUES)
    mine.transpose(0, 2)[:, [0, 2], [1, 0]] = whygrad.tensor([[1.5], [2.5], [3.5], [4.5]]).double()
    theirs.transpose(0, 2)[:, [0, 2], [1, 0]] = torch.tensor([[1.5], [2.5], [3.5], [4.5]]).double()
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_overlapping_assignment_reads_before_it_writes() -> None:
    x = whygrad.tensor([1.0, 2.0, 3.0, 4.0])
    x[1:] = x[:-1]
    assert x.tolist() == [1.0, 1.0, 2.0, 3.0]


def test_assigned_values_are_converted() -> None:
    x = whygrad.tensor([1, 2, 3])
    x[0] = 7.9
    x[1] = whygrad.tensor(5.9)
    x[x == 3] = whygrad.tensor(8.1)
    assert x.tolist() == [7, 5, 8]
    assert x.dtype is whygrad.int64
    flags = whygrad.tensor([True, False])
    flags[1] = 3
    assert flags.tolist() == [True, True]
    y = whygrad.tensor([1.0, 2.0])
    y[0] = np.float64(4.5)
    y[1:] = np.array([6.5])
    assert y.tolist() == [4.5, 6.5]


def test_leading_dimensions_of_size_one_are_dropped_from_the_value() -> None:
    x = whygrad.tensor(VALUES)
    x[0] = whygrad.zeros(1, 1, 3, 4).double()
    x[[1]] = whygrad.zeros(1, 1, 1, 3, 4).double()
    assert x.sum().item() == 0


def test_gradient_of_the_value_keeps_its_dtype() -> None:
    value = whygrad.tensor([1.0, 2.0], requires_grad=True)
    x = whygrad.zeros(3, dtype=whygrad.float64)
    x[1:] = value
    (x * x).sum().backward()
    assert value.grad.dtype is whygrad.float32
    assert value.grad.tolist() == [2.0, 4.0]


def test_repeated_indices_add_their_gradients() -> None:
    x = whygrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x[[0, 0, 2, 0]].sum().backward()
    assert x.grad.tolist() == [3.0, 0.0, 1.0]


def test_only_the_value_that_stays_gets_a_gradient() -> None:
    value = whygrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = whygrad.zeros(2)
    x[[0, 1, 0]] = value
    assert x.tolist() == [3.0, 2.0]
    x.sum().backward()
    assert value.grad.tolist() == [0.0, 1.0, 1.0]


def test_many_rows_take_the_sparse_path() -> None:
    rng = np.random.default_rng(0)
    rows, grid = rng.integers(0, 50, 4000), rng.integers(0, 7, (2, 3000))
    for array, text in ((rng.normal(size=(50, 16)), 0), (rng.normal(size=(7, 16, 7)), 1)):
        grads = []
        for library in (whygrad, torch):
            x = leaf(library, array)
            at = (
                rows
                if text == 0
                else (library.tensor(grid[0]), slice(None), library.tensor(grid[1]))
            )
            y = x[library.tensor(at)] if text == 0 else x[at]
            (y * y).sum().backward()
            grads.append(x.grad.numpy())
        np.testing.assert_allclose(grads[0], grads[1])


def test_second_derivative_through_read_and_write() -> None:
    x = whygrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    y[[0, 2]] = x[[1, 1]] * x[[2, 0]]
    (first,) = whygrad.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = whygrad.autograd.grad(first.sum(), x)
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = a * 1
    b[[0, 2]] = a[[1, 1]] * a[[2, 0]]
    (expected,) = torch.autograd.grad((b * b).sum(), a, create_graph=True)
    (expected_second,) = torch.autograd.grad(expected.sum(), a)
    np.testing.assert_allclose(first.detach().numpy(), expected.detach().numpy())
    np.testing.assert_allclose(second.numpy(), expected_second.numpy())


def test_changing_the_index_before_backward_is_an_error() -> None:
    x = whygrad.tensor([1.0, 2.0], requires_grad=True)
    where = whygrad.tensor([0, 1])
    y = x[where].sum()
    where[0] = 1
    with pytest.raises(RuntimeError, match="__setitem__"):
        y.backward()


def test_a_leaf_that_requires_grad_is_not_written_to() -> None:
    x = leaf(whygrad)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 1
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[[0]] = 1
    np.testing.assert_array_equal(x.detach().numpy(), VALUES)
    with whygrad.no_grad():
        x[0] = 1
    assert x[0].sum().item() == 12


def test_meta_tensors_know_the_shape() -> None:
    x = whygrad.tensor(VALUES).to("meta")
    for text in ("0, 1:", "[0, 1, 1]", "[0, 1], :, [1, 2]", "t([[0, 1]]), 0"):
        expected = torch.tensor(VALUES)[index(text, torch)].shape
        assert x[index(text, whygrad)].shape == tuple(expected)
        x[index(text, whygrad)] = 1.0
    with pytest.raises(RuntimeError, match="depends on the data"):
        whygrad.tensor([1.0])[whygrad.tensor([True]).to("meta")]


# --- errors -----------------------------------------------------------------------------------

WRONG = [
    ("5", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ("-3", IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
    (":, 5", IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
    ("[0, 5]", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    (":, [-4]", IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
    ("t(5)", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ("0, 0, 0, 0", IndexError, "too many indices for tensor of dimension 3"),
    ("[0], [0], [0], [0]", IndexError, "too many indices for tensor of dimension 3"),
    ("mask, 0", IndexError, "too many indices for tensor of dimension 3"),
    ("mask[:, :2]", IndexError, "The shape of the mask [2, 2, 4] at index 1 does not match the "
     "shape of the indexed tensor [2, 3, 4] at index 1"),
    (":, mask[:, 0]", IndexError, "does not match the shape of the indexed tensor"),
    ("[True]", IndexError, "The shape of the mask [1] at index 0"),
    ("1.0", IndexError, "valid indices (got float)"),
    ("1j", IndexError, "valid indices (got complex)"),
    ("'a'", TypeError, "valid indices (got str)"),
    ("t([1.0])", IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    ("t(1.0)", IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    ("t([1]).to(mask.dtype).to(t(1.0).dtype)", IndexError, "tensors used as indices must be"),
    ("::-1", ValueError, "step must be greater than zero"),
    ("::0", ValueError, "slice step cannot be zero"),
    ("0:1.5", TypeError, "slice indices must be integers"),
    ("[0, 1], [0, 1, 2]", IndexError, "shape mismatch: indexing tensors could not be broadcast "
     "together with shapes [2], [3]"),
    ("False, [0, 1]", IndexError, "shape mismatch: indexing tensors could not be broadcast"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "phrase"), WRONG)
def test_a_wrong_index_is_named_and_changes_nothing(
    text: str, kind: type[Exception], phrase: str
) -> None:
    theirs = torch.tensor(VALUES)
    with pytest.raises(kind):
        theirs[index(text, torch)]
    x = whygrad.tensor(VALUES)
    with pytest.raises(kind) as caught:
        x[index(text, whygrad)]
    assert phrase in str(caught.value)
    assert "float64[2, 3, 4][" in str(caught.value)
    assert "test_brackets.py" in str(caught.value)
    with pytest.raises(kind):
        x[index(text, whygrad)] = 1.0
    np.testing.assert_array_equal(x.numpy(), VALUES)
    assert x._version == 0


@pytest.mark.parametrize(
    ("text", "value", "kind", "phrase"),
    [
        ("0", "t(np.ones((2, 3, 4)))", RuntimeError, "cannot be broadcast to indexing result of "
         "shape [3, 4]"),
        ("[0]", "t(np.ones((2, 3, 4)))", RuntimeError, "shape mismatch: value tensor of shape "
         "[2, 3, 4] cannot be broadcast to indexing result of shape [1, 3, 4]"),
        ("mask", "t(np.ones(5))", RuntimeError, "cannot be broadcast to indexing result"),
        ("[0]", "t(np.ones(4, np.float32))", RuntimeError, "Index put requires the source and "
         "destination dtypes match"),
        ("0", "'a'", TypeError, "can't assign a str"),
        ("0", "None", TypeError, "can't assign a NoneType"),
        ("[0]", "[1.0, 2.0]", TypeError, "can't assign a list"),
        ("0", "1j", RuntimeError, "value cannot be converted to type float64 without overflow"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_and_changes_nothing(
    text: str, value: str, kind: type[Exception], phrase: str
) -> None:
    for library in (torch, whygrad):
        x = library.tensor(VALUES)
        with pytest.raises(kind) as caught:
            x[index(text, library)] = eval(value, {"t": library.tensor, "np": np})
        assert x._version == 0
        np.testing.assert_array_equal(x.numpy(), VALUES)
    assert phrase in str(caught.value)


def test_a_number_that_does_not_fit_an_integer_dtype() -> None:
    x = whygrad.tensor([1, 2], dtype=whygrad.int8)
    for number in (300, float("inf"), float("nan")):
        with pytest.raises(RuntimeError, match="cannot be converted to type int8"):
            x[0] = number
    assert x.tolist() == [1, 2]


def test_empty_dimension_says_so() -> None:
    with pytest.raises(IndexError, match="there is nothing to index"):
        whygrad.zeros(0)[0]
    with pytest.raises(IndexError, match="there is nothing to index"):
        whygrad.zeros(0)[[0]]


# --- as a sequence ----------------------------------------------------------------------------


def test_iteration_gives_views_with_gradients() -> None:
    x = leaf(whygrad)
    rows = list(x)
    assert len(rows) == len(x) == 2
    assert all(row._base is x for row in rows)
    (rows[1] * 3).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.stack([np.zeros((3, 4)), np.full((3, 4), 3)]))


def test_membership() -> None:
    x = whygrad.tensor(VALUES)
    assert 3.0 in x
    assert 99 not in x
    assert whygrad.tensor(5.0) in x
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in x  # noqa: B015


def test_zero_dimensional_tensors_are_not_sequences() -> None:
    x = whygrad.tensor(3.0)
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(x)
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(x)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        x[[0]]
    assert x[None].shape == x[True].shape == (1,)
    assert x[...].shape == ()


# --- index_put --------------------------------------------------------------------------------


def test_index_put_takes_none_and_numbers_of_dimensions() -> None:
    mine, theirs = whygrad.tensor(VALUES), torch.tensor(VALUES)
    for at in ((0, [1, 2]), (1, 2)):
        a = mine.index_put(tuple(map(whygrad.tensor, at)), whygrad.tensor(7.0).double())
        b = theirs.index_put(tuple(map(torch.tensor, at)), torch.tensor(7.0).double())
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    filled = mine.index_put((None, whygrad.tensor([1])), whygrad.tensor(0.0).double())
    assert filled[:, 1].sum().item() == 0


def test_index_put_wants_a_tuple() -> None:
    for indices in (whygrad.tensor([0]), ()):
        with pytest.raises(TypeError, match="must be tuple of Tensors"):
            whygrad.tensor([1.0]).index_put(indices, whygrad.tensor(1.0))


def test_iterating_is_one_node() -> None:
    """As in PyTorch; backward then puts the pieces together once instead of adding up slices."""
    x = whygrad.randn(3, 2, requires_grad=True)
    first, second, third = x
    assert first.grad_fn is second.grad_fn is third.grad_fn
    assert first.grad_fn.name() == "UnbindBackward"
    (first * second).sum().backward()
    assert x.grad.tolist() == [second.tolist(), first.tolist(), [0.0, 0.0]]
