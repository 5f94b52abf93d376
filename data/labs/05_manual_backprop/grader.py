"""Grades backpropagation by hand against whygrad's engine: shapes first, and causes before effects.

Gradients are judged in the order in which they are computed, so that the first wrong one is the one
that is talked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import whygrad
from whygrad.learn.lab import Bench, Check, Wrong
from whygrad.learn.lab.compare import worst

__all__ = ["grade"]

Arrays = Mapping[str, np.ndarray]
_PREDICTED = ("z1", "dL_dprediction", "dL_dW2", "dL_da1", "dL_dW1", "dL_dx")
_VALUES = ("z1", "a1", "prediction", "loss")
_GRADIENTS = (
    "dL_dprediction", "dL_dW2", "dL_db2", "dL_da1", "dL_dz1", "dL_dW1", "dL_db1", "dL_dx",
)  # fmt: skip
_WRONG_WAY_ROUND = {"dL_dW2": "a1 @ dL_dprediction.T", "dL_dW1": "x @ dL_dz1.T"}
_BATCH_WRONG_WAY_ROUND = {"dL_dW2": "a1.T @ dL_dprediction", "dL_dW1": "x.T @ dL_dz1"}
_SEED_42 = """\
np.random.seed(42)
W1, b1 = np.random.randn(3, 2) * 0.1, np.zeros((3, 1))
W2, b2 = np.random.randn(1, 3) * 0.1, np.zeros((1, 1))
x, target = np.array([[1.0], [2.0]]), np.array([[1.0]])"""


@dataclass(frozen=True)
class Network:
    """Weights and data as the functions take them, and what whygrad computes from them."""

    arrays: Arrays  # W1, b1, W2, b2, x, target
    targets: Arrays  # values and gradients, by name
    batch: bool
    setup: str = ""  # a program that makes the arrays, where there is a short one

    @property
    def function(self) -> str:
        return "batch_backward" if self.batch else "backward"

    def code(self, function: str, name: str) -> str:
        lines = [f"{key} = np.array({each.tolist()})" for key, each in self.arrays.items()]
        setup = self.setup or "\n".join(lines)
        call = f"print({function}({', '.join(self.arrays)})[{name!r}])"
        return f"import numpy as np\nfrom network import {function}\n\n{setup}\n{call}"


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("predicted-shapes", _predicted_shapes)
    yield bench.check("forward", _forward)
    yield bench.check("shapes", _shapes)
    yield bench.check("gradients", _gradients)
    yield bench.check("relu-at-zero", _relu_at_zero)
    yield bench.check("batch-forward", _batch_forward)
    yield bench.check("batch-shapes", _batch_shapes)
    yield bench.check("batch-gradients", _batch_gradients)


def _predicted_shapes(bench: Bench) -> None:
    targets = _seed_42().targets
    shapes = {name: list(targets[name].shape) for name in _PREDICTED}
    outer = targets["a1"] @ targets["dL_dprediction"].T
    shapes[_WRONG_WAY_ROUND["dL_dW2"]] = list(outer.shape)
    yours = bench.ask("shapes")
    if not isinstance(yours, dict) or yours.keys() != shapes.keys():
        bench.same(shapes, yours)
    if missing := [name for name in shapes if yours[name] is None]:
        raise Wrong(bench.say("not_filled_in", names=", ".join(missing)))
    for name, shape in shapes.items():
        message = bench.say("predict_shape" if name in targets else "predict_product", name=name)
        bench.same({name: shape}, {name: yours[name]}, message=message)


def _forward(bench: Bench) -> None:
    networks = [
        _seed_42(),
        *(_random(bench, *sizes) for sizes in ((1, 1, 1), (2, 4, 3), (3, 2, 2))),
    ]
    _judge_values(bench, "forward", networks)


def _shapes(bench: Bench) -> None:
    _judge_shapes(bench, [_seed_42(), _random(bench, 2, 4, 3), _random(bench, 3, 1, 2)])


def _gradients(bench: Bench) -> None:
    """Square weights as well: there no shape betrays a product the wrong way round."""
    sizes = ((1, 1, 1), (2, 2, 2), (2, 4, 3), (3, 5, 1))
    _judge_gradients(bench, [_seed_42(), *(_random(bench, *each) for each in sizes)])


def _relu_at_zero(bench: Bench) -> None:
    """The first hidden unit is at exactly 0, and would be the only one to hear of the error."""
    first, second = bench.random.sample(range(1, 6), 2)
    arrays = {
        "W1": np.array([[second, -first], [1, 1]], dtype=float),
        "b1": np.zeros((2, 1)),
        "W2": np.array([[2.0, 1.0]]),
        "b2": np.zeros((1, 1)),
        "x": np.array([[first], [second]], dtype=float),
        "target": np.zeros((1, 1)),
    }
    _judge_gradients(bench, [_network(arrays, batch=False)])


def _batch_forward(bench: Bench) -> None:
    sizes = ((1, 1, 1, 1), (1, 2, 2, 3), (2, 3, 1, 3), (3, 4, 2, 5))
    networks = [_random(bench, *each[:3], rows=each[3]) for each in sizes]
    _judge_values(bench, "batch_forward", [_batch_corners(), *networks])


def _batch_shapes(bench: Bench) -> None:
    _judge_shapes(bench, [_random(bench, 1, 3, 2, rows=4), _random(bench, 2, 4, 3, rows=5)])


def _batch_gradients(bench: Bench) -> None:
    """Never two rows: a forgotten 1/B would look like a forgotten ½."""
    sizes = ((1, 1, 1, 1), (1, 2, 1, 3), (2, 2, 2, 3), (1, 3, 2, 4), (2, 4, 3, 5))
    drawn = [_random(bench, *each[:3], rows=each[3]) for each in sizes]
    _judge_gradients(bench, [*drawn[:1], _batch_corners(), *drawn[1:]])


def _judge_values(bench: Bench, function: str, networks: Sequence[Network]) -> None:
    for network, yours in zip(networks, _asked(bench, function, networks, _VALUES)):
        rows = len(network.arrays["x"]) if network.batch else 1
        mistakes = {
            "z1": [("z1_lost", network.targets["a1"])],
            "loss": [
                ("no_half", 2 * network.targets["loss"]),
                ("loss_summed", rows * network.targets["loss"]),
                ("loss_over_all", network.targets["loss"] / network.arrays["b2"].size),
            ],
        }
        for name in _VALUES:
            if name != "loss":
                _same_shape(bench, network, function, name, yours[name])
            elif np.prod(yours[name]["shape"]) == 1:  # (1, 1) is as good as a number
                yours[name] = {"values": _flat(yours[name]["values"])}
            _same_values(bench, network, function, name, yours[name], mistakes.get(name, ()))


def _judge_shapes(bench: Bench, networks: Sequence[Network]) -> None:
    function = networks[0].function
    for network, yours in zip(networks, _asked(bench, function, networks, _GRADIENTS)):
        for name in _GRADIENTS:
            _same_shape(bench, network, function, name, yours[name])


def _judge_gradients(bench: Bench, networks: Sequence[Network]) -> None:
    function = networks[0].function
    for network, yours in zip(networks, _asked(bench, function, networks, _GRADIENTS)):
        mistakes = _mistakes(network)
        for name in _GRADIENTS:
            _same_shape(bench, network, function, name, yours[name])
            _same_values(bench, network, function, name, yours[name], mistakes.get(name, ()))


def _mistakes(network: Network) -> dict[str, list[tuple[str, np.ndarray]]]:
    """Classic wrong gradients, by name: what to say, and the value they have."""
    targets, rows = network.targets, len(network.arrays["x"])
    error = targets["dL_dprediction"]
    is_open = targets["z1"] > 0
    found = {
        "dL_dprediction": [("error_sign", -error), ("error_twice", 2 * error)],
        "dL_dW2": [("wrong_way_round", targets["dL_dW2"].T)],
        "dL_da1": [("overwritten", targets["dL_dz1"])],
        "dL_dz1": [
            ("open_at_zero", targets["dL_da1"] * (targets["z1"] >= 0)),
            ("no_gate", targets["dL_da1"]),
            ("times_output", targets["dL_da1"] * targets["a1"]),
            ("gate_alone", is_open.astype(float)),
        ],
        "dL_dW1": [("wrong_way_round", targets["dL_dW1"].T)],
    }
    if network.batch:
        found["dL_dprediction"].append(("not_averaged", rows * error))
        for name in ("dL_db2", "dL_db1", "dL_dW2", "dL_dW1"):
            found.setdefault(name, []).append(("averaged_again", targets[name] / rows))
    return found


def _asked(
    bench: Bench, function: str, networks: Sequence[Network], names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """What a function returns for each network, if all parts are there."""
    inputs = [{"function": function, "arrays": _sent(network.arrays)} for network in networks]
    for network, reply in zip(networks, bench.replies("call", inputs)):
        if reply.trouble is not None:
            reply.trouble.example = network.code(function, names[0])
            raise reply.trouble
        results = reply.value["results"] or {}
        if missing := [name for name in names if name not in results]:
            words = bench.say("parts_missing", function=function, names=", ".join(missing))
            raise Wrong(words, example=network.code(function, names[0]))
        if reply.value["changed"]:
            raise Wrong(bench.say("arguments_changed"), example=network.code(function, names[0]))
        yield results


def _same_shape(
    bench: Bench, network: Network, function: str, name: str, yours: Mapping[str, Any]
) -> None:
    expected, actual = network.targets[name].shape, tuple(yours["shape"])
    if actual == expected:
        return
    owner = name.removeprefix("dL_d")
    facts = {"name": name, "owner": owner, "expected": expected, "actual": actual}
    notes = []
    products = _BATCH_WRONG_WAY_ROUND if network.batch else _WRONG_WAY_ROUND
    if name in products and actual == expected[::-1]:
        notes = [bench.say("wrong_way_round", product=products[name], **facts)]
    elif network.batch and name in ("dL_db1", "dL_db2"):
        notes = [bench.say("bias_not_summed", **facts)]
    key = "other_gradient_shape" if name in _GRADIENTS else "other_shape"
    raise Wrong(bench.say(key, **facts), notes=notes, example=network.code(function, name))


def _same_values(
    bench: Bench,
    network: Network,
    function: str,
    name: str,
    yours: Mapping[str, Any],
    mistakes: Sequence[tuple[str, np.ndarray]],
) -> None:
    target, values = network.targets[name].tolist(), yours["values"]
    products = _BATCH_WRONG_WAY_ROUND if network.batch else _WRONG_WAY_ROUND
    facts = {"name": name, "owner": name.removeprefix("dL_d"), "product": products.get(name, "")}
    found = {key for key, wrong in mistakes if _agree(wrong.tolist(), values)}
    if "open_at_zero" in found and (network.targets["z1"] == 0).any():
        found = {"open_at_zero"}
    message = bench.say(found.pop(), **facts) if len(found) == 1 else ""
    code = network.code(function, name)
    bench.same(target, values, relative=1e-9, absolute=1e-12, message=message, code=code)


def _agree(target: Any, yours: Any) -> bool:
    return worst(target, yours, relative=1e-9, absolute=1e-12) is None


def _seed_42() -> Network:
    """The network of the README."""
    numbers = np.random.RandomState(42)
    arrays = {
        "W1": numbers.randn(3, 2) * 0.1,
        "b1": np.zeros((3, 1)),
        "W2": numbers.randn(1, 3) * 0.1,
        "b2": np.zeros((1, 1)),
        "x": np.array([[1.0], [2.0]]),
        "target": np.array([[1.0]]),
    }
    return replace(_network(arrays, batch=False), setup=_SEED_42)


def _batch_corners() -> Network:
    """Hidden units above 0, below it and at exactly 0; errors of both signs."""
    arrays = {
        "W1": np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -2.0]]),
        "b1": np.array([0.0, 0.5, 1.0]),
        "W2": np.array([[1.0, -2.0, 0.5]]),
        "b2": np.array([0.25]),
        "x": np.array([[0.0, 1.0], [2.0, -1.0], [-3.0, 0.5]]),
        "target": np.array([[0.5], [9.0], [-9.0]]),
    }
    return _network(arrays, batch=True)


def _random(bench: Bench, outputs: int, hidden: int, inputs: int, rows: int = 0) -> Network:
    """A network with at least one hidden unit that is on; ``rows`` make it a batch."""
    generator = bench.generator()
    weights = {"W1": (hidden, inputs), "b1": (hidden,), "W2": (outputs, hidden), "b2": (outputs,)}
    data = {"x": (inputs,), "target": (outputs,)}
    while True:
        shapes = {
            **weights,
            **{name: (rows, *each) if rows else each for name, each in data.items()},
        }
        arrays = {name: generator.normal(size=each).round(1) for name, each in shapes.items()}
        if not rows:
            arrays = {name: each.reshape(len(each), -1) for name, each in arrays.items()}
        network = _network(arrays, batch=bool(rows))
        if (network.targets["z1"] > 0).any() and (network.targets["dL_dprediction"] != 0).all():
            return network


def _network(arrays: Arrays, *, batch: bool) -> Network:
    """Values and gradients from whygrad's engine."""
    tensors = {name: whygrad.tensor(each, requires_grad=True) for name, each in arrays.items()}
    W1, b1, W2, b2, x, target = tensors.values()
    z1 = x @ W1.T + b1 if batch else W1 @ x + b1
    a1 = z1.relu()
    prediction = a1 @ W2.T + b2 if batch else W2 @ a1 + b2
    values = {"z1": z1, "a1": a1, "prediction": prediction}
    for each in values.values():
        each.retain_grad()
    loss = 0.5 * ((prediction - target) ** 2).sum() / (len(x) if batch else 1)
    loss.backward()
    targets = {name: each.detach().numpy() for name, each in {**values, "loss": loss}.items()}
    for name in _GRADIENTS:
        owner = name.removeprefix("dL_d")
        targets[name] = {**tensors, **values}[owner].grad.numpy()
    return Network(arrays, targets, batch)


def _sent(arrays: Arrays) -> dict[str, Any]:
    return {
        name: {"shape": each.shape, "values": each.ravel().tolist()}
        for name, each in arrays.items()
    }


def _flat(values: Any) -> Any:
    """The one number in nested lists."""
    while isinstance(values, list) and values:
        values = values[0]
    return values
