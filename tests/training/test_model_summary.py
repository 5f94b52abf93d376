"""``summary``: right numbers, and a model that did not notice."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad import nn
from whygrad.autograd.graph import memory, saved_bytes_peak


def convolutional() -> nn.Module:
    wg.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(128, 10),
    )


class Twice(nn.Module):
    """Uses one layer twice, ties another, leaves one alone, saves something itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.layer.weight
        self.idle = nn.Linear(4, 2)
        self.scale = nn.Parameter(wg.ones(4), requires_grad=False)

    def forward(self, x: Any, copies: int = 1) -> Any:
        h = self.layer(self.layer(x))
        return {"out": h.exp().repeat(copies, 1), "parts": (h, self.tied(h))}


def test_shapes_and_parameters() -> None:
    found = wg.summary(convolutional(), wg.zeros(3, 1, 8, 8))
    assert [(layer.name, layer.kind, layer.shapes) for layer in found.layers[:3]] == [
        ("", "Sequential", [[3, 10]]),
        ("0", "Conv2d", [[3, 8, 8, 8]]),
        ("1", "BatchNorm2d", [[3, 8, 8, 8]]),
    ]
    assert [layer.parameters for layer in found.layers] == [0, 80, 16, 0, 0, 0, 0, 1290]
    assert found.parameters == sum(each.numel() for each in convolutional().parameters())
    assert found.buffers == 17


def test_saved_bytes_are_those_of_the_graph() -> None:
    model, x = convolutional(), wg.randn(5, 1, 8, 8)
    found = wg.summary(model, x)
    by_name = {layer.name: layer.saved for layer in found.layers}
    with saved_bytes_peak() as saved:
        out = model(x)
    assert found.saved == saved.current
    report = memory(out)
    assert abs(found.saved - report.activations - report.constants) <= 64
    assert by_name["0"] == x.nbytes
    assert by_name["2"] == 4 * 5 * 8 * 8 * 8
    assert by_name["4"] == 0
    assert by_name["6"] == 4 * 5 * 128


def test_a_layer_gets_what_its_children_did_not() -> None:
    found = {layer.name: layer for layer in wg.summary(Twice(), wg.randn(3, 4)).layers}
    assert found[""].saved == 4 * 3 * 4, "exp saves its output"
    assert found["layer"].calls == 2
    assert found["layer"].saved == 2 * 4 * 3 * 4
    assert found[""].shapes == [[3, 4], [3, 4], [3, 4]]
    assert (found["tied"].parameters, found["tied"].calls) == (0, 1), "counted once"
    assert (found["idle"].parameters, found["idle"].calls) == (10, 0)
    assert (found[""].parameters, found[""].trainable) == (4, 0)


def test_keyword_arguments_reach_forward() -> None:
    assert wg.summary(Twice(), wg.randn(3, 4), copies=2).layers[0].shapes[0] == [6, 4]


def test_a_slice_counts_with_its_own_size() -> None:
    whole, model = wg.randn(1000, 3), nn.Linear(3, 2)
    assert wg.summary(model, whole[:5]).saved == 4 * 5 * 3


def test_nothing_changes() -> None:
    model, x = convolutional(), wg.randn(5, 1, 8, 8)
    model[1].eval()
    before = {name: each.clone() for name, each in model.state_dict().items()}
    versions = [each._version for each in model.state_dict().values()]
    modes = [module.training for module in model.modules()]
    state = wg.get_rng_state()
    wg.summary(model, x)
    assert all(wg.equal(each, before[name]) for name, each in model.state_dict().items())
    assert [each._version for each in model.state_dict().values()] == versions
    assert [module.training for module in model.modules()] == modes
    assert wg.equal(wg.get_rng_state(), state)
    assert all(each.grad is None for each in model.parameters())
    assert all(not module.__dict__.get("_hooks") for module in model.modules())


def test_nothing_changes_in_training_mode() -> None:
    model = convolutional()
    mean = model[1].running_mean
    wg.summary(model, wg.randn(5, 1, 8, 8))
    assert model[1].running_mean is mean
    assert wg.equal(mean, wg.zeros(8))
    assert model[1].num_batches_tracked.item() == 0


def test_hooks_go_when_forward_fails() -> None:
    model = convolutional()
    with pytest.raises(RuntimeError):
        wg.summary(model, wg.randn(5, 2, 8, 8))
    assert all(not module.__dict__.get("_hooks") for module in model.modules())


def test_measures_also_where_gradients_are_off() -> None:
    model, x = convolutional(), wg.zeros(3, 1, 8, 8)
    expected = wg.summary(model, x).saved
    with wg.no_grad():
        assert wg.summary(model, x).saved == expected
        assert not wg.is_grad_enabled()
    with wg.inference_mode():
        assert wg.summary(model, x).saved == expected
        assert wg.is_inference_mode_enabled()


def test_meta_costs_nothing() -> None:
    large = nn.Sequential(nn.Linear(8192, 32768, device="meta"), nn.GELU())
    found = wg.summary(large, wg.empty(64, 8192, device="meta"))
    assert found.parameters == 8193 * 32768
    assert [layer.saved for layer in found.layers] == [0, 4 * 64 * 8192, 4 * 64 * 32768]


def test_as_text() -> None:
    model = convolutional()
    model[0].requires_grad_(False)
    text = str(wg.summary(model, wg.zeros(32, 1, 8, 8)))
    lines = text.splitlines()
    assert lines[0] == "layer             output         parameters  saved for backward"
    assert "  2: ReLU         [32, 8, 8, 8]                         65.5 kB" in lines
    assert lines[-1].startswith("1,386 parameters, 80 of them frozen, 17 numbers in buffers, ")
    assert "idle: Linear      not called" in str(wg.summary(Twice(), wg.randn(3, 4)))
    assert "layer: Linear ×2" in str(wg.summary(Twice(), wg.randn(3, 4)))
    assert str(wg.summary(model)).splitlines()[3] == "  0: Conv2d               80"


def test_as_data_and_html() -> None:
    found = wg.summary(convolutional(), wg.zeros(2, 1, 8, 8))
    data = json.loads(json.dumps(found.to_dict()))
    assert data["schema"] == "whygrad.summary/1"
    assert data["saved_for_backward"] == found.saved
    assert data["layers"][1]["shapes"] == [[2, 8, 8, 8]]
    assert wg.summary(convolutional()).to_dict()["saved_for_backward"] is None
    page = found._repr_html_()
    assert page.count("<tr>") == 9
    assert "Conv2d" in page


def test_needs_a_model() -> None:
    with pytest.raises(TypeError, match="a ndarray has no layers to list"):
        wg.summary(np.zeros(3))  # type: ignore[arg-type]
