"""``grad_flow``: norms, the update that would follow, and nothing mistaken for zero."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import whygrad as wg
from whygrad import nn, optim


def trained(loss: Callable[[Any], Any] = lambda out: out.square().mean()) -> nn.Module:
    wg.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    loss(model(wg.randn(16, 3))).backward()
    return model


def test_norms() -> None:
    model = trained()
    for name, parameter in model.named_parameters():
        flow = wg.grad_flow(model)[name]
        assert flow.shape == list(parameter.shape)
        assert flow.gradient == pytest.approx(parameter.grad.norm().item(), rel=1e-5)
        assert flow.weight == pytest.approx(parameter.norm().item(), rel=1e-5)
        assert (flow.state, flow.update, flow.update_ratio) == ("ok", None, None)


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=1e-3),
    "rmsprop": lambda p: optim.RMSprop(p, lr=1e-3),
    "groups": lambda p: optim.Adam([{"params": [each], "lr": 0.01} for each in p]),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_predicts_the_update_without_making_it(make: Callable[[Any], Any]) -> None:
    model = trained()
    optimizer = make(list(model.parameters()))
    for step in range(3):
        before = [each.detach().clone() for each in model.parameters()]
        versions = [each._version for each in model.parameters()]
        state = json.dumps(optimizer.state_dict()["param_groups"])
        flow = wg.grad_flow(model, optimizer)
        assert all(wg.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
        assert [each._version for each in model.parameters()] == versions
        assert json.dumps(optimizer.state_dict()["param_groups"]) == state
        assert bool(optimizer.state) == (step > 0 and any(optimizer.state.values()))
        optimizer.step()
        for was, (name, parameter) in zip(before, model.named_parameters(), strict=True):
            moved = (parameter - was).norm().item()
            assert flow[name].update == pytest.approx(moved, rel=1e-5)
            assert flow[name].update_ratio == pytest.approx(moved / was.norm().item(), rel=1e-4)


def test_step_hooks_do_not_run() -> None:
    model = trained()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    calls: list[int] = []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    handle = optim.optimizer.register_optimizer_step_post_hook(lambda *_: calls.append(2))
    try:
        wg.grad_flow(model, optimizer)
    finally:
        handle.remove()
    assert calls == []


def test_states_are_kept_apart() -> None:
    model = trained()
    model[0].weight.grad = None
    model[0].bias.grad.zero_()
    model[2].requires_grad_(False)
    model[2].weight.grad = model[2].bias.grad = None
    model[4].bias.grad[0] = float("nan")
    flow = wg.grad_flow(model, optim.SGD(model.parameters(), lr=0.1))
    assert [each.state for each in flow.flows] == [
        "no gradient", "zero", "frozen", "frozen", "ok", "not finite",
    ]  # fmt: skip
    assert (flow["0.weight"].gradient, flow["0.weight"].update) == (None, None)
    assert (flow["0.bias"].gradient, flow["0.bias"].update) == (0.0, 0.0)
    text = str(flow)
    assert "0.weight          –" in text
    assert "0.bias            0" in text
    assert text.endswith("no gradient: 0.weight. whygrad.why_none(parameter, loss) says why")
    data = json.loads(json.dumps(flow.to_dict(), allow_nan=False))
    assert data["schema"] == "whygrad.grad_flow/1"
    assert [row["gradient"] for row in data["parameters"]][:2] == [None, 0.0]
    assert data["parameters"][5]["state"] == "not finite"
    assert "not finite" in flow._repr_html_()


def test_a_weight_of_zero_has_no_ratio() -> None:
    model = nn.Linear(2, 1)
    nn.init.zeros_(model.bias)
    model(wg.ones(1, 2)).sum().backward()
    flow = wg.grad_flow(model, optim.SGD(model.parameters(), lr=0.5))["bias"]
    assert (flow.update, flow.update_ratio) == (0.5, None)


def test_sparse_gradients() -> None:
    model = nn.Embedding(5, 2, sparse=True)
    model(wg.tensor([1, 1, 3])).sum().backward()
    assert wg.grad_flow(model)["weight"].gradient == pytest.approx(10**0.5)


def test_bars_grow_with_the_exponent() -> None:
    model = nn.ParameterList([nn.Parameter(wg.ones(1)) for _ in range(3)])
    for parameter, size in zip(model, (1e-6, 2e-4, 1.0), strict=True):
        parameter.grad = wg.full((1,), size)
    lengths = [line.count("█") for line in str(wg.grad_flow(model)).splitlines()[2:]]
    assert lengths == [1, 8, 20]


def test_draws(tmp_path: Path) -> None:
    model = trained()
    model[0].weight.grad = None
    flow = wg.grad_flow(model, optim.SGD(model.parameters(), lr=0.1))
    picture = flow.draw(tmp_path / "flow.svg")
    assert "<svg" in picture.read_text()
    assert wg.grad_flow(model).draw(tmp_path / "flow.png").stat().st_size > 1000
    model.zero_grad()
    assert wg.grad_flow(model).draw(tmp_path / "none.svg").exists()


def test_drawing_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'whygrad\[plot\]', or print"):
        wg.grad_flow(trained()).draw("flow.svg")


def test_refusals() -> None:
    model = trained()
    with pytest.raises(TypeError, match="a list has no parameters to go through"):
        wg.grad_flow(list(model.parameters()))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"LBFGS\)\n  cause: this optimizer computes the loss"):
        wg.grad_flow(model, optim.LBFGS(model.parameters()))
    with pytest.raises(KeyError):
        wg.grad_flow(model)["nowhere"]
