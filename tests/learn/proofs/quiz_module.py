"""Proofs of the module's scenarios: each situation built small, mostly in both libraries."""

from __future__ import annotations

import contextlib
import io
import json
import math
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import whygrad
from tests.learn.programs import changed_lines, names, printed, question
from tests.learn.proofs import proves
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.autograd.trace import trace_backward
from whygrad.doctor import Finding, run_script
from whygrad.utils.checkpoint import checkpoint, checkpoint_sequential

LIBRARIES: tuple[ModuleType, ...] = (torch, whygrad)


def in_pytorch(program: str) -> str:
    """The same program with the other library."""
    return program.replace("import whygrad as wg", "import torch as wg")


def findings(program: str) -> list[Finding]:
    """What the doctor accuses a program of."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(program, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            return run_script(str(script)).session.findings


def diagnosed(program: str) -> list[str]:
    """The rules of these findings."""
    return [finding.rule for finding in findings(program)]


def cosine(one: Any, other: Any) -> float:
    return float((one * other).sum() / (one.norm() * other.norm()))


def _finite(*tensors: Any) -> bool:
    return all(each.isfinite().all().item() for each in tensors)


@proves("q-module-01", "q-module-23")
def right_values_and_wrong_gradients() -> None:
    asked = question("q-module-23")
    assert changed_lines(asked) == asked.lines
    assert printed(asked.code) == "False"
    assert printed(asked.fix) == "True"
    for program, right in ((asked.code, False), (asked.fix, True)):
        left = names(program)
        good, bad, loss = left["good"], left["bad"], left["RankingLoss"].apply
        reference = np.maximum(0, 1 - good.detach().numpy() + bad.detach().numpy()).mean()
        assert loss(good, bad).item() == pytest.approx(reference)
        (gradient,) = whygrad.autograd.grad(loss(good, bad), good)
        exact = np.array([0, -0.25, 0, -0.25])  # two of four pairs are active
        assert gradient.tolist() == (exact if right else 2 * exact).tolist()
        for wrong_pairs in (1, 2, 3, 4):
            close = whygrad.tensor([0.0] * wrong_pairs + [9.0] * (4 - wrong_pairs)).double()
            (pull,) = whygrad.autograd.grad(loss(close.requires_grad_(), 0 * bad), close)
            assert pull.abs().sum().item() == (wrong_pairs / 4 if right else 1)
        kept = whygrad.tensor([9.0, 9.0], dtype=whygrad.float64, requires_grad=True)
        (gradient,) = whygrad.autograd.grad(loss(kept, kept.detach() - 5), kept)
        assert _finite(gradient) is right


@proves("q-module-02")
def the_first_bad_value_lies_upstream_of_the_others() -> None:
    for library in LIBRARIES:
        library.manual_seed(0)
        bad = {}
        for scale in (1, 1000):
            layer = library.nn.Linear(4, 3)
            optimizer = library.optim.SGD(layer.parameters(), lr=0.1)
            batch = scale * library.randn(16, 4)
            powers = layer(batch).exp()
            output = powers / powers.sum(1, keepdim=True)
            loss = -output[:, 0].log().mean()
            loss.backward()
            gradients = [each.grad.clone() for each in layer.parameters()]
            optimizer.step()
            stages = [[batch], [output], [loss], gradients, list(layer.parameters())]
            bad[scale] = [not _finite(*stage) for stage in stages]
        assert bad[1] == [False] * 5
        assert bad[1000] == [False, True, True, True, True]


@proves("q-module-02", "q-module-11")
def large_inputs_make_large_gradients() -> None:
    for library in LIBRARIES:
        norms = {}
        for kind in ("ordinary", "large", "wrong labels"):
            library.manual_seed(0)
            layer = library.nn.Linear(4, 3)
            batch, labels = library.randn(64, 4), library.arange(64) % 3
            batch = batch * 100 if kind == "large" else batch
            labels = (labels + 1) % 3 if kind == "wrong labels" else labels
            loss = library.nn.functional.cross_entropy(layer(batch), labels)
            loss.backward()
            assert _finite(loss, layer.weight.grad)
            norms[kind] = layer.weight.grad.norm().item()
        assert norms["large"] > 50 * norms["ordinary"]
        assert 0.1 < norms["wrong labels"] / norms["ordinary"] < 10


@proves("q-module-03")
def why_a_gradient_is_none() -> None:
    for library in LIBRARIES:
        causes = ("frozen", "branch", "detach", "numpy", "saturated", "no optimizer")
        found = {}
        for cause in causes:
            early, late = library.nn.Linear(1, 1), library.nn.Linear(1, 1)
            early.requires_grad_(cause != "frozen")
            x = library.ones(1, 1)
            h = x if cause == "branch" else early(x)
            if cause == "detach":
                h = h.detach()
            elif cause == "numpy":
                h = library.from_numpy(h.detach().numpy() * 2)
            elif cause == "saturated":
                h = (h * 0 + 1e4 * early(x)).sigmoid()
            library.optim.SGD(late.parameters(), lr=0.1)
            late(h).sum().backward()
            assert late.weight.grad is not None
            found[cause] = early.weight.grad
        assert [cause for cause in causes if found[cause] is None] == [*causes[:4]]
        assert found["saturated"].item() == pytest.approx(0, abs=1e-6)
        assert found["no optimizer"].item() != 0
    w, v = (whygrad.ones(1, requires_grad=True) for _ in range(2))
    answer = whygrad.why_none(w, ((w * 2).detach() * v).sum())
    assert answer.cause == "detach"


@proves("q-module-04")
def a_residual_added_in_place() -> None:
    asked = question("q-module-04")
    assert changed_lines(asked) == asked.lines
    for change in (str, in_pytorch):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            printed(change(asked.code))
    assert printed(asked.fix) == printed(in_pytorch(asked.fix))
    y = math.tanh(1 * 0.5 + 2 * 0.25)
    right, wrong = (2 * (y + 3) * (1 - saved**2) for saved in (y, y + 3))
    assert json.loads(printed(asked.fix)) == [
        pytest.approx(right, abs=1e-4),
        pytest.approx(2 * right, abs=1e-4),
    ]
    assert abs(wrong - right) > 1


@proves("q-module-05")
def sigmoids_swallow_the_gradient() -> None:
    slope = torch.linspace(-6, 6, 1001, dtype=torch.float64).sigmoid()
    assert (slope * (1 - slope)).max().item() == 0.25
    for library in LIBRARIES:
        share = {}
        for kind in ("Sigmoid", "ReLU"):
            library.manual_seed(0)
            nn = library.nn
            layers = []
            for _ in range(10):
                linear = nn.Linear(32, 32)
                if kind == "ReLU":
                    nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
                    nn.init.zeros_(linear.bias)
                layers += [linear, getattr(nn, kind)()]
            model = nn.Sequential(*layers, nn.Linear(32, 1))
            error = model(library.randn(64, 32)) - library.randn(64, 1)
            (error**2).mean().backward()
            share[kind] = (model[0].weight.grad.norm() / model[20].weight.grad.norm()).item()
        assert 0 < share["Sigmoid"] < 1e-7
        assert 0.1 < share["ReLU"] < 1


@proves("q-module-06")
def which_mistake_gives_six() -> None:
    def gradient(mistake: str) -> float:
        """x·x + x at 3, with the backward pass written out."""
        grads = {"x": 0.0, "product": 0.0, "y": 0.0 if mistake == "seed" else 1.0}

        def addition() -> None:
            grads["product"] += grads["y"]
            grads["x"] += grads["y"]

        def product() -> None:
            own, other = (3.0, 3.0)  # one's own value and the other factor's: here the same
            slope = own if mistake == "own value" else other
            if mistake == "overwrites":
                grads["x"] = 0.0
            grads["x"] += slope * grads["product"]
            grads["x"] += slope * grads["product"]

        steps = (product, addition) if mistake == "forward order" else (addition, product)
        for step in steps:
            step()
        return grads["x"]

    mistakes = ("none", "overwrites", "own value", "forward order", "seed")
    assert [gradient(each) for each in mistakes] == [7, 6, 7, 1, 0]
    x = whygrad.Value(3.0)
    (x * x + x).backward()
    assert x.grad == 7


@proves("q-module-07")
def two_losses_of_one_forward_pass() -> None:
    for library in LIBRARIES:
        w = library.tensor([1.0, 2.0], requires_grad=True)

        def losses(library: ModuleType = library, w: Any = w, cut: bool = False) -> tuple[Any, Any]:
            h = w * w * w
            return h.sum(), ((h.detach() if cut else h) ** 2).sum() * library.ones(())

        wanted = [sum(pair) for pair in zip([3, 12], [6, 192])]
        first, second = losses()
        (first + 1.0 * second).backward()
        assert w.grad.tolist() == wanted
        first, second = losses()
        first.backward()
        w.grad = None  # as zero_grad() does: nothing comes back
        with pytest.raises(RuntimeError, match=r"(?i)backward through the graph a second time"):
            second.backward()
        first, second = losses()
        w.grad = None
        first.backward(retain_graph=True)
        second.backward()
        assert w.grad.tolist() == wanted
        assert not losses(cut=True)[1].requires_grad


@proves("q-module-08")
def weight_and_bias() -> None:
    x, w, b = (whygrad.Value(each) for each in (2.0, 3.0, 1.0))
    loss = (x * w + b) ** 2
    loss.backward()
    assert (loss.data, x.grad, w.grad, b.grad) == (49, 42, 28, 14)
    assert w.grad / b.grad == question("q-module-08").answer


@proves("q-module-09")
def three_contributions() -> None:
    asked = question("q-module-09")
    left = names(asked.code)
    assert left["a"].grad == 8
    a = whygrad.tensor(2.0, requires_grad=True)
    leaf = (a * 1).grad_fn.next_functions[0][0]
    sent = [
        float(each.gradient)
        for step in trace_backward((a + a) * a)
        for edge, each in zip(step.node.next_functions, step.contributions)
        if edge[0] is leaf
    ]
    assert sorted(sent) == [2, 2, 4]
    assert len(sent) == asked.answer


@proves("q-module-10")
def the_wrong_way_round() -> None:
    for library in LIBRARIES:
        weight, hidden = library.ones(1, 3), library.arange(3.0).view(3, 1)
        error = library.ones(1, 1)
        right, wrong = error @ hidden.T, hidden @ error.T
        assert right.shape == weight.shape == (1, 3)
        assert wrong.shape == (3, 1)
        assert wrong.flatten().tolist() == right.flatten().tolist()
        assert (weight - 0.1 * wrong).shape == (3, 3)
        with pytest.raises(RuntimeError):
            weight -= 0.1 * wrong


@proves("q-module-11")
def what_does_not_make_a_nan() -> None:
    for library in LIBRARIES:
        w = library.tensor([1.0], requires_grad=True)
        norms = []
        for _ in range(5):
            (w * 2).sum().backward()
            norms.append(w.grad.item())
        assert norms == [2, 4, 6, 8, 10]  # without zero_grad(): from the second step on
        dead = (w - 5).relu()
        dead.sum().backward()
        assert (dead.item(), w.grad.item()) == (0, 10)
        large = library.tensor([1000.0, 0.0])
        powers = large.exp()
        assert powers[0].item() == math.inf
        assert not _finite(powers / powers.sum())


@proves("q-module-12")
def pytorch_prints_the_same() -> None:
    for name in ("q-module-12", "q-module-14"):
        program = question(name).code
        assert in_pytorch(program) != program
        assert printed(in_pytorch(program)) == printed(program)


@proves("q-module-13")
def cleared_only_once() -> None:
    asked = question("q-module-13")
    assert changed_lines(asked) == asked.lines
    for change in (str, in_pytorch):
        assert printed(change(asked.code)) == "5.18"
        assert printed(change(asked.fix)) == "3.0"
    assert diagnosed(asked.code) == ["missing-zero-grad"]
    assert diagnosed(asked.fix) == []
    swings = asked.code.replace("optimizer.step()", "optimizer.step()\n    print(w.item())")
    course = [float(line) for line in printed(swings).splitlines()]
    assert 5.9 < max(course[:25]) < 6.1
    assert 5.9 < max(course[25:]) < 6.1  # no friction
    momentum = asked.fix.replace("lr=0.1", "lr=0.1, momentum=1.0")
    assert printed(momentum) == printed(asked.code)
    w = whygrad.tensor(0.0, requires_grad=True)
    ((w - 3) ** 2).backward()
    assert (-0.1 * w.grad).item() / 3 == pytest.approx(1 / 5)


@proves("q-module-14")
def a_nan_spreads_in_the_step() -> None:
    for library in LIBRARIES:
        clip = library.nn.utils.clip_grad_norm_
        for careful in (False, True):
            a = library.ones(1, requires_grad=True)
            b = library.zeros(1, requires_grad=True)
            ((a * 2).sum() + (b.sqrt() * 0).sum()).backward()
            assert a.grad.item() == 2
            assert math.isnan(b.grad.item())
            if careful:
                with pytest.raises(RuntimeError, match="non-finite"):
                    clip([a, b], 1.0, error_if_nonfinite=True)
                assert a.grad.item() == 2
            else:
                assert math.isnan(clip([a, b], 1.0).item())
                library.optim.SGD([a, b], lr=0.1).step()
                assert math.isnan(a.item())
                assert math.isnan(b.item())


_CLIPPED = """
import whygrad as wg

wg.manual_seed(0)
x = wg.randn(64, 4)
y = 1000 * x.sum(1, keepdim=True)
model = wg.nn.Sequential(wg.nn.Linear(4, 16), wg.nn.ReLU(), wg.nn.Linear(16, 1))
optimizer = wg.optim.SGD(model.parameters(), lr=0.05)
losses, norms, lengths = [], [], []
for step in range(100):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    norms.append(wg.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
    before = [each.detach().clone() for each in model.parameters()]
    optimizer.step()
    moved = [(new - old).square().sum() for new, old in zip(model.parameters(), before)]
    lengths.append(sum(moved).sqrt().item())
    losses.append(loss.item())
"""


@proves("q-module-15")
def clipping_hides_the_cause() -> None:
    run = names(_CLIPPED)
    assert min(run["norms"]) > 1000
    assert run["lengths"] == pytest.approx([0.05] * 100, rel=1e-3)
    assert 0.95 < run["losses"][-1] / run["losses"][0] < 1
    scaled = names(_CLIPPED.replace("1000 * ", ""))
    assert scaled["losses"][-1] / scaled["losses"][0] < 0.5
    tighter = names(_CLIPPED.replace("(), 1.0)", "(), 0.1)"))
    assert tighter["losses"][-1] > run["losses"][-1]
    unclipped = names(_CLIPPED.replace("(), 1.0)", "(), 1e30)"))
    assert not unclipped["losses"][-1] < 1e30  # it did diverge
    found = {finding.rule: finding for finding in findings(_CLIPPED)}
    assert found["unscaled-target"].caused_by is None
    assert found["clipping-hides-cause"].caused_by is found["unscaled-target"]


@proves("q-module-15")
def clipping_by_norm_keeps_the_direction() -> None:
    for library in LIBRARIES:
        cosines = []
        for clip in (library.nn.utils.clip_grad_norm_, library.nn.utils.clip_grad_value_):
            w = library.tensor([1.0, 1.0], requires_grad=True)
            (w * library.tensor([3.0, 300.0])).sum().backward()
            before = w.grad.clone()
            clip([w], 1.0)
            cosines.append(cosine(before, w.grad))
        assert cosines[0] == pytest.approx(1)
        assert cosines[1] < 0.75


@proves("q-module-17")
def where_differentiates_both_branches() -> None:
    program = question("q-module-17").code
    safe = program.replace("x.sqrt()", "torch.where(x > 0, x, 1.0).sqrt()")
    for library in ("torch", "whygrad"):
        for text, middle in ((program, math.nan), (safe, 0.0)):
            left = names(text.replace("torch", library))
            assert left["loss"].item() == 5
            assert left["x"].grad.tolist() == [
                0.25,
                pytest.approx(middle, nan_ok=True),
                pytest.approx(1 / 6),
            ]


@proves("q-module-18")
def a_difference_in_float32() -> None:
    for library in LIBRARIES:

        def quotient(epsilon: float, dtype: Any, library: ModuleType = library) -> float:
            one = library.ones(1, dtype=dtype)
            return ((one + epsilon).sin() - (one - epsilon).sin()).item() / (2 * epsilon)

        exact = math.cos(1)
        assert round(exact, 4) == 0.5403
        assert round(quotient(1e-6, library.float32), 4) == 0.5364
        assert quotient(1e-9, library.float32) == 0
        assert round(quotient(1e-3, library.float32), 4) == 0.5403
        assert quotient(1e-6, library.float64) == pytest.approx(exact, rel=1e-9)
        x = library.ones(1, requires_grad=True)
        x.sin().backward()
        assert x.grad.item() == pytest.approx(exact, rel=1e-6)
    with pytest.raises(RuntimeError, match="gradcheck refused"):
        whygrad.autograd.gradcheck(whygrad.sin, whygrad.ones(1, requires_grad=True))


@proves("q-module-19")
def segments_and_the_peak() -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(32, 50)
    weights = [(whygrad.randn(50, 50) / 7).requires_grad_() for _ in range(64)]
    calls = 0

    def layer(h: whygrad.Tensor, weight: whygrad.Tensor) -> whygrad.Tensor:
        nonlocal calls
        calls += 1
        return (h @ weight).tanh()

    functions = [lambda h, weight=weight: layer(h, weight) for weight in weights]

    def plain(h: whygrad.Tensor) -> whygrad.Tensor:
        for function in functions:
            h = function(h)
        return h

    cuts = {
        "none": plain,
        "one around all": lambda h: checkpoint(plain, h),
        "8 segments": lambda h: checkpoint_sequential(functions, 8, h),
        "every layer": lambda h: checkpoint_sequential(functions, 64, h),
    }
    peaks, gradients, counts = {}, [], {}
    for name, run in cuts.items():
        calls = 0
        with saved_bytes_peak() as saved:
            (gradient,) = whygrad.autograd.grad(run(x).square().mean(), weights[0])
        peaks[name], counts[name] = saved.peak, calls
        gradients.append(gradient.tolist())
    assert peaks["one around all"] == peaks["every layer"] == peaks["none"]
    assert 0.2 < peaks["8 segments"] / peaks["none"] < 0.3
    assert counts["none"] == 64
    assert counts["8 segments"] == 64 + 56  # the last segment is not run again
    assert all(gradient == gradients[0] for gradient in gradients)


@proves("q-module-20")
def saturation_after_the_repairs() -> None:
    for library in LIBRARIES:
        nn = library.nn
        for seed in range(3):
            library.manual_seed(seed)
            model = nn.Sequential(
                nn.Linear(10, 64), nn.Sigmoid(), nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 1)
            )
            optimizer = library.optim.SGD(model.parameters(), lr=0.1)
            for step in range(80):
                x = library.randn(32, 10) * (10 if step == 25 else 1)
                first = model[0](x)
                second = model[2](model[1](first))
                flat = [(z.abs() > 4).float().mean().item() for z in (first, second)]
                if step == 25:
                    assert 0.44 <= round(flat[0], 2) <= 0.53
                    assert 5 < first.std().item() < 7
                else:
                    assert max(flat) < 0.01
                if step == 0:
                    assert 0.5 < first.std().item() < 0.7
                optimizer.zero_grad()
                ((model(x) - library.randn(32, 1)) ** 2).mean().backward()
                optimizer.step()


@proves("q-module-21")
def dead_units_stay_dead() -> None:
    for library in LIBRARIES:
        nn = library.nn
        library.manual_seed(0)
        x, y = library.randn(16, 4), library.ones(16, 1)
        for kind in ("ReLU", "LeakyReLU"):
            model = nn.Sequential(nn.Linear(4, 8), getattr(nn, kind)(), nn.Linear(8, 1))
            with library.no_grad():
                model[0].bias.fill_(-1e3)  # where a huge step has left it
            before = model[0].weight.detach().clone()
            optimizer = library.optim.SGD(model.parameters(), lr=0.01)
            losses = []
            for _ in range(100):
                optimizer.zero_grad()
                loss = ((model(x) - y) ** 2).mean()
                loss.backward()
                if kind == "LeakyReLU":
                    assert model[0].weight.grad.abs().sum().item() > 0
                    break
                assert model[0].weight.grad.abs().sum().item() == 0
                optimizer.step()
                losses.append(loss.item())
            if kind == "ReLU":
                assert model[0].weight.tolist() == before.tolist()
                assert _finite(library.tensor(losses))
                assert losses[-1] < losses[0]
                assert model[2].bias.grad.abs().item() > 0
    w = whygrad.tensor([-1.0], requires_grad=True)
    assert whygrad.why_zero(w, w.relu().sum()).cause == "inactive"


@proves("q-module-22")
def four_means_are_not_one() -> None:
    asked = question("q-module-22")
    assert set(changed_lines(asked)) <= set(asked.lines)
    for change in (str, in_pytorch):
        assert printed(change(asked.code)) == "4.0"
        assert printed(change(asked.fix)) == "1.0"
    other = asked.code.replace("** 2).mean()\n    loss", "** 2).mean() / 4\n    loss")
    assert printed(other) == "1.0"
    cleared = asked.fix.replace("range(4):\n", "range(4):\n    w.grad = None\n")
    assert printed(cleared) != "1.0"


@proves("q-module-24")
def a_loss_that_compares_everything_with_everything() -> None:
    asked = question("q-module-24")
    assert set(changed_lines(asked)) <= set(asked.lines)
    assert printed(asked.code) == "0.0"
    assert printed(asked.fix) == "2.0"
    for repair in (
        asked.code.replace("8.0])", "8.0]).view(4, 1)"),
        asked.code.replace("prediction - y", "prediction.squeeze(1) - y"),
    ):
        assert printed(repair) == "2.0"
    assert diagnosed(asked.code) == ["loss-broadcast"]
    assert diagnosed(asked.fix) == []
    left = names(asked.code)
    model, y = left["model"], left["y"]
    assert model.bias.item() == pytest.approx(5, abs=0.05)  # the mean of the targets
    x = left["x"].double()

    def loss(weight: whygrad.Tensor, bias: whygrad.Tensor) -> whygrad.Tensor:
        difference = x * weight + bias - y.double()
        assert difference.shape == (4, 4)
        return (difference**2).mean()

    at = [whygrad.ones(1, 1, dtype=whygrad.float64, requires_grad=True) for _ in range(2)]
    assert whygrad.autograd.gradcheck(loss, at)
