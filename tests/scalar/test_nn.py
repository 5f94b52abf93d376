"""Networks of Values: the same numbers as PyTorch, reproducible, able to learn."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from whygrad import Value
from whygrad.scalar.nn import MLP, Layer, Neuron, weighted_sum


def in_torch(model: MLP) -> torch.nn.Sequential:
    """The same network, weights copied."""
    modules: list[torch.nn.Module] = []
    for layer in model.layers:
        first = layer.neurons[0]
        linear = torch.nn.Linear(len(first.weights), len(layer.neurons), dtype=torch.float64)
        with torch.no_grad():
            for row, neuron in enumerate(layer.neurons):
                linear.weight[row] = torch.tensor(
                    [each.data for each in neuron.weights], dtype=torch.float64
                )
                linear.bias[row] = neuron.bias.data
        modules.append(linear)
        if first.activation != "linear":
            modules.append(torch.nn.ReLU() if first.activation == "relu" else torch.nn.Tanh())
    return torch.nn.Sequential(*modules)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("sizes", [(2, 16, 16, 1), (3, 4, 2), (1, 1)])
def test_same_as_torch(sizes: tuple[int, ...], activation: str) -> None:
    model = MLP(*sizes, activation=activation, seed=3)
    other = in_torch(model)
    rng = random.Random(0)
    for _ in range(3):
        x = [rng.uniform(-2, 2) for _ in range(sizes[0])]
        outputs = model(x)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        expected = other(torch.tensor(x, dtype=torch.float64))
        assert [each.data for each in outputs] == pytest.approx(expected.tolist(), rel=1e-12)
        sum(each * each for each in outputs).backward()
        (expected * expected).sum().backward()
    for layer, linear in zip(model.layers, [each for each in other if hasattr(each, "weight")]):
        for row, neuron in enumerate(layer.neurons):
            grads = [each.grad for each in neuron.weights]
            assert grads == pytest.approx(linear.weight.grad[row].tolist(), rel=1e-11, abs=1e-13)
            assert neuron.bias.grad == pytest.approx(linear.bias.grad[row].item(), rel=1e-11)


@pytest.mark.parametrize("kinds", ["vv", "vn", "nv", "nn"])
def test_weighted_sum_is_the_expression(kinds: str) -> None:
    weights, bias = [Value(2.0), Value(-3.0)], Value(0.5)
    inputs = [Value(x) if kind == "v" else x for x, kind in zip((0.7, 1.1), kinds)]
    plain_weights, plain_bias = [Value(2.0), Value(-3.0)], Value(0.5)
    plain_inputs = [Value(x) if kind == "v" else x for x, kind in zip((0.7, 1.1), kinds)]
    fused = weighted_sum(weights, inputs, bias)
    plain = plain_bias
    for weight, each in zip(plain_weights, plain_inputs):
        plain = plain + weight * each
    assert fused.data == plain.data
    fused.backward()
    plain.backward()
    for ours, theirs in zip([*weights, *inputs, bias], [*plain_weights, *plain_inputs, plain_bias]):
        if isinstance(ours, Value):
            assert ours.grad == theirs.grad
    assert [each is weights[i] for i, each in enumerate(fused._prev[:2])] == [True, True]
    assert fused._prev[-1] is bias


def test_weighted_sum_of_the_same_value_twice() -> None:
    x = Value(3.0)
    out = weighted_sum([x, x], [x, 1.0], x)  # x·x + x + x
    out.backward()
    assert (out.data, x.grad) == (15.0, 8.0)


def test_a_seed_decides_the_weights() -> None:
    def weights(seed: Any) -> list[float]:
        return [each.data for each in MLP(2, 3, 1, seed=seed).parameters()]

    assert weights(5) == weights(5) == weights(random.Random(5))
    assert weights(5) != weights(6)
    generator = random.Random(0)
    state = random.getstate()
    assert weights(generator) != weights(generator)
    assert random.getstate() == state


def test_parameters_and_their_labels() -> None:
    model = MLP(2, 3, 1)
    parameters = model.parameters()
    assert len(parameters) == (2 + 1) * 3 + (3 + 1)
    assert len(set(parameters)) == len(parameters)
    labels = [each.label for each in parameters]
    assert labels[:3] == ["layer1[0].weight[0]", "layer1[0].weight[1]", "layer1[0].bias"]
    assert labels[-1] == "layer2[0].bias"


def test_outputs_have_labels() -> None:
    out = MLP(2, 3, 1)((1.0, 2.0))
    hidden = out._prev[3]
    assert (out.label, hidden.label, hidden._prev[0].label) == (
        "layer2[0]", "layer1[0]", "layer1[0].sum",
    )  # fmt: skip


def test_zero_grad() -> None:
    model = MLP(2, 3, 1)
    model((1.0, 2.0)).backward()
    assert any(each.grad for each in model.parameters())
    model.zero_grad()
    assert not any(each.grad for each in model.parameters())


def test_repr() -> None:
    assert repr(Neuron(2)) == "Neuron(2, 'tanh')"
    assert (
        repr(MLP(2, 4, 1, activation="relu")) == "MLP(Layer(2, 4, 'relu'), Layer(4, 1, 'linear'))"
    )


def test_one_output_or_several() -> None:
    assert isinstance(MLP(2, 1)((1.0, 2.0)), Value)
    assert [type(each) for each in MLP(2, 3)([Value(1.0), 2])] == [Value] * 3
    assert len(Layer(2, 1)((1.0, 2.0))) == 1


def test_lines_of_the_network_are_evidence() -> None:
    out = MLP(2, 3, 1)((1.0, 2.0))
    assert out.where.file.endswith("nn.py")
    assert out.where.expression == "weighted_sum(self.weights, inputs, self.bias)"
    assert [each._op for each in out._prev] == ["", "", "", "tanh", "tanh", "tanh", ""]


def test_learns_xor() -> None:
    cases = [((0, 0), -1), ((0, 1), 1), ((1, 0), 1), ((1, 1), -1)]
    model = MLP(2, 4, 1, seed=2)
    for _ in range(150):
        loss = sum((model(x) - y) ** 2 for x, y in cases)
        model.zero_grad()
        loss.backward()
        for each in model.parameters():
            each.data -= 0.1 * each.grad
    assert loss < 0.01
    assert [model(x) > 0 for x, _ in cases] == [y > 0 for _, y in cases]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MLP(), r"MLP\(\)\n.*needs the number of its inputs and the size of each layer"),
        (lambda: MLP(2), r"MLP\(2\)\n.*needs the number of its inputs"),
        (lambda: MLP(2, 0, 1), r"MLP\(2, 0, 1\)\n.*all at least 1"),
        (lambda: MLP(2, 4, 1, activation="gelu"), r"no activation 'gelu'\n.*linear, relu, tanh"),
        (lambda: MLP(2, 1)((1.0,)), r"2 weights and 1 inputs\n.*a weight of its own"),
        (lambda: Neuron(3)([1.0, 2.0, 3.0, 4.0]), r"3 weights and 4 inputs"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_inputs_must_be_numbers() -> None:
    with pytest.raises(TypeError, match=r"a Value \* 'a'\n.*not with str"):
        MLP(2, 1)((1.0, "a"))
