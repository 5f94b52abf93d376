"""``autocast``: programs in both libraries; the conformance suite has the precision of each op."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.expressions import expressions

BOTH = (whygrad, torch)


def like(lib: Any, *shape: int, seed: int = 0) -> Any:
    return lib.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def fill(lib: Any, module: Any) -> Any:
    """The same weights in both libraries."""
    with lib.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(like(lib, *parameter.shape, seed=number) * 0.3)
    return module


def name(dtype: Any) -> str:
    return str(dtype).partition(".")[2]


class Model:
    """What a transformer and an image network are made of: every kind of mixture comes up."""

    def __init__(self, lib: Any) -> None:
        nn = lib.nn
        self.lib = lib
        self.block = fill(lib, nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True))
        self.image = fill(lib, nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(4, 8), nn.LayerNorm(8),
        ))  # fmt: skip
        self.head = fill(lib, nn.Linear(8, 3))
        self.parts = lib.nn.ModuleList([self.block, self.image, self.head])

    def loss(self) -> tuple[Any, list[str]]:
        lib = self.lib
        seen = self.block(like(lib, 5, 4, 8)).mean(1)
        picture = self.image(like(lib, 5, 1, 4, 4))
        logits = self.head(seen + picture) @ lib.eye(3)
        loss = lib.nn.functional.cross_entropy(logits, lib.tensor([0, 1, 2, 0, 1]))
        return loss, [name(each.dtype) for each in (seen, picture, logits, loss)]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_model_and_its_gradients(dtype: str) -> None:
    losses, gradients, kinds = [], [], []
    for lib in BOTH:
        model = Model(lib)
        with lib.autocast("cpu", dtype=getattr(lib, dtype)):
            loss, seen = model.loss()
        kinds.append(seen)
        loss.backward()
        losses.append(loss.item())
        gradients.append([each.grad for each in model.parts.parameters()])
        assert all(each.dtype == lib.float32 for each in gradients[-1])
    assert kinds[0] == kinds[1]
    assert set(kinds[0]) == {"float32", dtype}
    assert losses[0] == pytest.approx(losses[1], rel=2e-2)
    for mine, theirs in zip(*gradients, strict=True):
        scale = max(float(theirs.abs().max()), 1e-2)
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), atol=6e-2 * scale)


def layers(lib: Any) -> list[Any]:
    nn = lib.nn
    return [
        nn.Linear(6, 3), nn.LSTM(6, 3), nn.GRU(6, 3), nn.RNN(6, 3), nn.LayerNorm(6),
        nn.BatchNorm1d(5), nn.GroupNorm(1, 5), nn.RMSNorm(6), nn.Conv1d(5, 2, 3),
        nn.TransformerEncoderLayer(6, 2, 12, 0.0), nn.PReLU(), nn.Softmax(-1), nn.GELU(),
        nn.LSTMCell(6, 3), nn.GRUCell(6, 3), nn.RNNCell(6, 3), nn.MultiheadAttention(6, 2),
    ]  # fmt: skip


def outputs(lib: Any, layer: Any, x: Any) -> list[str]:
    kind = type(layer).__name__
    args = (x, x, x) if kind == "MultiheadAttention" else (x[0] if kind.endswith("Cell") else x,)
    with lib.autocast("cpu"):
        result = layer(*args)
    first = result[0] if isinstance(result, tuple) else result
    return [kind, name(x.dtype), name(first.dtype)]


def test_layers_in_both_precisions() -> None:
    found: list[list[list[str]]] = []
    for lib in BOTH:
        x = like(lib, 4, 5, 6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append([
                outputs(lib, layer, each)
                for layer in layers(lib) for each in (x, x.to(lib.bfloat16))
            ])  # fmt: skip
    assert found[0] == found[1]


ANSWERS = expressions(
    """
    lib.is_autocast_enabled("cpu") lib.is_autocast_enabled() lib.is_autocast_enabled("cuda")
    lib.get_autocast_dtype("cpu") lib.get_autocast_dtype("cuda") lib.get_autocast_dtype("xpu")
    lib.get_autocast_dtype("mps") lib.is_autocast_cache_enabled() lib.clear_autocast_cache()
    lib.amp.is_autocast_available("cpu") lib.amp.is_autocast_available("cuda")
    lib.set_autocast_enabled("cpu",False) lib.set_autocast_enabled(False)
    lib.set_autocast_dtype("cpu",lib.bfloat16) lib.set_autocast_cache_enabled(True)
    lib.autocast_increment_nesting() lib.autocast_decrement_nesting()
    lib.autocast("cpu").fast_dtype lib.autocast("cpu",lib.float16).fast_dtype
    lib.autocast("cpu").device lib.autocast("cpu",enabled=False)._enabled
    lib.autocast("cuda",enabled=False)._enabled lib.autocast("cuda")._enabled
    lib.autocast("cpu",dtype=lib.float32)._enabled lib.cuda.amp.autocast()._enabled
    lib.cpu.amp.autocast()._enabled lib.cpu.amp.autocast(dtype=lib.float16).fast_dtype
    lib.autocast("foo") lib.autocast(0) lib.autocast(lib.device("cpu")) lib.autocast("meta")
    lib.set_autocast_enabled("meta",True) lib.amp.custom_fwd(lambda:1)
    lib.amp.custom_fwd(print,device_type=lib.device("cpu")) lib.amp.is_autocast_available("foo")
    lib.amp.autocast_mode.autocast is lib.autocast lib.amp.grad_scaler.GradScaler is lib.GradScaler
    """
)


def outcome(lib: Any, expression: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(eval(expression, {"lib": lib})).replace("torch.", "whygrad.")
        except Exception as error:
            return type(error)


def test_same_answers() -> None:
    for expression in ANSWERS:
        assert outcome(whygrad, expression) == outcome(torch, expression), expression


def test_what_is_not_possible_warns() -> None:
    for lib in BOTH:
        with pytest.warns(UserWarning, match="CUDA is not available"):
            lib.autocast("cuda")
        with pytest.warns(UserWarning, match="target dtype"):
            lib.autocast("cpu", dtype=lib.float64)


def test_nesting_decorators_and_errors() -> None:
    for lib in BOTH:
        x = like(lib, 3, 3)

        @lib.autocast("cpu", dtype=lib.float16)
        def product(x: Any) -> Any:
            return x @ x

        kinds = [product(x).dtype]
        context = lib.autocast("cpu")
        with context:
            kinds.append((x @ x).dtype)
            with lib.autocast("cpu", enabled=False):
                kinds.append((x @ x).dtype)
            with lib.autocast("cpu", dtype=lib.float16), lib.autocast("cpu", lib.bfloat16):
                kinds.append((x @ x).dtype)
            kinds.append(product(x).dtype)
            kinds.append((x.double() @ x.double()).dtype)
            kinds.append((x @ x).dtype)
        with pytest.raises(ZeroDivisionError), context:
            _ = 1 / 0
        kinds.append((x @ x).dtype)
        assert [name(each) for each in kinds] == [
            "float16", "bfloat16", "float32", "bfloat16", "float16", "float64", "bfloat16",
            "float32",
        ]  # fmt: skip


def mixed_calls(lib: Any) -> list[Any]:
    functional, index = lib.nn.functional, lib.tensor([0])
    return [
        lambda x, low: x @ low,
        lambda x, low: functional.linear(low, x, x[0]),
        lambda x, low: functional.conv1d(low[None], x[:, :, None]),
        lambda x, low: lib.addmm(x, low, x),
        lambda x, low: functional.mse_loss(x, low),
        lambda x, low: lib.cat([x, low]),
        lambda x, low: lib.index_copy(x, 0, index, low[:1]),
        lambda x, low: lib.index_copy(low, 0, index, x[:1]),
        lambda x, low: lib.einsum("ij,jk->ik", x, low),
        lambda x, low: functional.scaled_dot_product_attention(x[None], low[None], x[None]),
        lambda x, low: lib.func.vmap(lambda row: row @ low)(x),
        lambda x, low: lib.func.jvp(lambda a: a @ low, (x,), (x,))[1],
        lambda x, low: lib.func.grad(lambda a: (a @ low).float().sum())(x),
        lambda x, low: lib.mm(x, x, out=lib.empty(3, 3)),
        lambda x, low: functional.layer_norm(low, (3,), x[0], x[1]),
        lambda x, low: low + x,
        lambda x, low: low.exp().sum(),
    ]


def test_mixtures() -> None:
    """Arguments of different precision, which would be an error outside."""
    for lib in BOTH:
        x, low = like(lib, 3, 3), like(lib, 3, 3).to(lib.bfloat16)
        with lib.autocast("cpu"):
            kinds = [name(call(x, low).dtype) for call in mixed_calls(lib)]
        low_, high = "bfloat16", "float32"
        assert kinds == [
            low_, low_, low_, low_, high, high, high, high, low_, low_, low_, low_, high, high,
            low_, high, low_,
        ], lib  # fmt: skip


def test_the_cast_of_a_parameter_is_shared() -> None:
    for lib in BOTH:
        weight = lib.ones(2, 2, requires_grad=True)
        x = lib.ones(2, 2)
        with lib.autocast("cpu"):
            first, second = x @ weight, x @ weight
        with lib.autocast("cpu", cache_enabled=False):
            third, fourth = x @ weight, x @ weight
        casts = [each.grad_fn.next_functions[1][0] for each in (first, second, third, fourth)]
        assert casts[0] is casts[1]
        assert casts[2] is not casts[3]


def test_a_kept_cast_notices_writes_and_modes() -> None:
    """Where PyTorch goes on with the old numbers, or loses the gradient."""
    weight = whygrad.ones(2, 2, requires_grad=True)
    x = whygrad.ones(2, 2)
    with whygrad.autocast("cpu"):
        with whygrad.no_grad():
            assert not (x @ weight).requires_grad
            weight.mul_(2.0)
        product = x @ weight
        assert product.requires_grad
        assert product[0, 0].item() == 4.0


def test_other_threads_are_not_inside() -> None:
    seen: list[str] = []

    def work() -> None:
        seen.append(name((whygrad.ones(2, 2) @ whygrad.ones(2, 2)).dtype))

    with whygrad.autocast("cpu"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == ["float32"]


def test_checkpoint_runs_again_in_the_same_precision() -> None:
    gradients = []
    for lib in BOTH:
        weight = like(lib, 3, 3).requires_grad_()
        x = like(lib, 3, 3, seed=1)
        with lib.autocast("cpu"):
            before = x @ weight  # its cast is kept, but the region makes its own
            result = lib.utils.checkpoint.checkpoint(
                lambda x, weight=weight: ((x @ weight).tanh() @ weight).float().square().sum(),
                x,
                use_reentrant=False,
            )
        (result + before.float().sum()).backward()
        gradients.append(weight.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=3e-2, atol=3e-2)
    x = whygrad.ones(2, 2, requires_grad=True)
    outside = whygrad.utils.checkpoint.checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False)
    with whygrad.autocast("cpu"):
        outside.sum().backward()  # the region is not inside
    np.testing.assert_allclose(x.grad.numpy(), np.full((2, 2), 4 * np.cos(2)), rtol=1e-5)


def custom(lib: Any, cast_inputs: Any) -> Any:
    class Product(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, incoming: Any) -> Any:
            a, b = ctx.saved_tensors
            seen.append(name((lib.ones(1, 1) @ lib.ones(1, 1)).dtype))
            return (incoming.to(b.dtype) @ b.t()).float(), (a.t() @ incoming.to(a.dtype)).float()

    seen: list[str] = []
    results = []
    for inside in (True, False):
        a = like(lib, 2, 2).requires_grad_()
        with lib.autocast("cpu", enabled=inside):
            result = Product.apply(a, a)
        result.float().sum().backward()
        results += [name(result.dtype), name(a.grad.dtype)]
    return results + seen


def test_custom_functions() -> None:
    for kind in (None, "float32", "bfloat16"):
        mine, theirs = (custom(lib, kind and getattr(lib, kind)) for lib in BOTH)
        assert mine == theirs
