"""Custom functions: wrong derivatives, and those that differ on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

pytest.importorskip("torch")

FUNCTION = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}

    @staticmethod
    def backward(ctx, incoming):  # here
        (x,) = ctx.saved_tensors
        return {backward}


first, second = nn.Linear(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.05)
for step in range(3):
    loss = F.mse_loss(second(Own.apply(first(x))), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("forward", "backward", "hint"),
    [
        ("torch.tanh(x)", "incoming * (1 - x**2)", ""),
        ("x * x", "incoming * x", "0.5 times"),
        ("torch.sin(x)", "-incoming * torch.cos(x)", "-1 times"),
        ("x.clamp(min=0)", "incoming * (x < 0).float()", ""),
        ("x.clamp(min=0)", "incoming", ""),
        ("x.exp()", "None", "returns nothing"),
    ],
)
def test_a_wrong_formula(
    tmp_path: Path, engine: str, forward: str, backward: str, hint: str
) -> None:
    text = FUNCTION.format(forward=forward, backward=backward)
    found = only(tmp_path, "wrong-backward", text, engine)
    assert found.evidence[0].startswith("Own: ")
    assert hint in found.fix


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        ("torch.tanh(x)", "incoming * (1 - torch.tanh(x) ** 2)"),
        ("x.clamp(min=0)", "incoming * (x > 0).float()"),
        ("torch.round(x)", "incoming"),  # straight through
        ("torch.sign(x) * x.abs().mean()", "incoming"),  # binarized and scaled
        ("(x > 0).float()", "incoming / (1 + x.abs()) ** 2"),  # a spike with a surrogate
        ("x.view_as(x)", "-0.3 * incoming"),  # gradient reversal
        ("x.clamp(-1, 1)", "incoming"),  # a clamp that lets gradients through
    ],
)
def test_right_or_different_on_purpose(
    tmp_path: Path, engine: str, forward: str, backward: str
) -> None:
    text = FUNCTION.format(forward=forward, backward=backward)
    assert not ask(tmp_path, "wrong-backward", text, engine)


def test_a_gradient_of_the_wrong_shape(tmp_path: Path) -> None:
    text = FUNCTION.format(
        forward="x.exp()", backward="(incoming * x.exp()).sum(0).sum(0)[None, None, None]"
    )
    assert "failed" in only(tmp_path, "wrong-backward", text).evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_wrong_formula_among_right_ones(tmp_path: Path, engine: str) -> None:
    text = """
class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, scale):
        ctx.save_for_backward(x, w, b, scale)
        return (x @ w + b) * scale

    @staticmethod
    def backward(ctx, g):  # here
        x, w, b, scale = ctx.saved_tensors
        inner = g * scale
        return torch.ones_like(g) @ w.t(), x.t() @ inner, inner.sum(0), (g * (x @ w + b)).sum(0)


sizes = (4, 6, 1)
weights = [(torch.randn(a, b), torch.zeros(b), torch.ones(b)) for a, b in zip(sizes, sizes[1:])]
weights = [[each.requires_grad_() for each in layer] for layer in weights]
optimizer = torch.optim.SGD([each for layer in weights for each in layer], lr=0.01)
for step in range(3):
    loss = F.mse_loss(Affine.apply(torch.tanh(Affine.apply(x, *weights[0])), *weights[1]), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    assert "Affine" in only(tmp_path, "wrong-backward", text, engine).evidence[0]
