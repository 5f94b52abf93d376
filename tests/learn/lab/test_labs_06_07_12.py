"""Labs 6 and 7, and variants of labs: the classic mistakes fail the right check, claims hold."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import whygrad
from tests.learn.lab.mistakes import Changes, first_failing
from whygrad import nn
from whygrad.learn.lab import Lab, find, workspace
from whygrad.nn.utils import clip_grad_norm_


@pytest.fixture
def varied(tmp_path: Path) -> Lab:
    """A lab whose one file differs from learner to learner, beside one that does not."""
    for name, text in {"a/x.py": "A", "b/x.py": "B", "y.py": "Y"}.items():
        path = tmp_path / "lab" / "starter" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    lab = find("value")
    return replace(lab, folder=tmp_path / "lab", files=("x.py", "y.py"), variants=("a", "b"))


def test_a_seed_draws_a_variant_which_the_folder_keeps(
    varied: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "find", lambda name: varied)
    for seed, text in ((0, "A"), (3, "B")):
        folder = tmp_path / str(seed)
        workspace.make(varied.drawn(seed), folder, "en")
        assert (folder / "x.py").read_text() == f"{text}\n"
        assert (folder / "y.py").read_text() == "Y\n"
        work = workspace.opened(folder)
        assert work is not None
        assert work.lab == varied.drawn(seed)
        (folder / "x.py").write_text("mine")
        workspace.reset(work)
        assert (folder / "x.py").read_text() == f"{text}\n"


def test_a_lab_without_variants_has_nothing_to_draw() -> None:
    assert find("value").drawn(5) is find("value")


_NORM = "math.sqrt(sum(float((grad**2).sum()) for grad in grads))"
_SCALED = "[grad * (max_norm / norm) for grad in grads]"


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        ({_NORM: "sum(float(np.linalg.norm(grad)) for grad in grads)"}, "norm", "one square root"),
        ({_NORM: "sum(float((grad**2).sum()) for grad in grads)"}, "norm", "root is missing"),
        ({_NORM: "max(float(np.linalg.norm(grad)) for grad in grads)"}, "norm", "All arrays count"),
        (
            {"np.clip(grad, -limit, limit)": "np.minimum(grad, limit)"},
            "value",
            "must become -limit",
        ),
        (
            {"np.clip(grad, -limit, limit)": "np.clip(grad, -limit, limit, out=grad)"},
            "value",
            "new",
        ),
        (
            {_SCALED: "[grad * min(1, max_norm / np.linalg.norm(grad)) for grad in grads]"},
            "scaled",
            "Each array was clipped by its own norm",
        ),
        ({_SCALED: "clip_by_value(grads, max_norm)"}, "scaled", "cut off one by one"),
        ({"if norm <= max_norm:": "if norm == 0:"}, "below", "made larger"),
        ({"if norm <= max_norm:": "if 0 < norm <= max_norm:"}, "zero", "ZeroDivisionError"),
        ({"if not math.isfinite(norm):": "if False:"}, "not-finite", "Raise ValueError"),
        ({"return product / (": "return product / math.sqrt("}, "cosine", "not right"),
        (
            {"np.array([3.0, 0.5])": "np.array([3.0, 3.0])"},
            "turned",
            "cosine before and after is 1",
        ),
        ({"np.array([3.0, 0.5])": "np.array([0.3, 0.5])"}, "turned", "beyond the limit 1.0"),
        ({" if each.grad is not None": ""}, "model", "NoneType"),
        ({"parameter.grad = ": "unused = "}, "model", "gradients in the model"),
        ({"total_norm(grads), total_norm(clipped)": "1.0, 1.0"}, "model", "(before, after)"),
        ({'"f": False': '"f": True'}, "statements", "5 of 6"),
        ({'"f": False': '"f": None'}, "statements", "True or False: f"),
    ],
)
def test_mistakes_in_clipping(tmp_path: Path, changes: Changes, check: str, says: str) -> None:
    first = first_failing(tmp_path, "clipping", changes, wanted=check)
    assert first is not None
    assert first.id == check
    assert says in first.message


def test_clipping_accepts_the_formula_of_pytorch(tmp_path: Path) -> None:
    formula = {
        "    if norm <= max_norm:\n        return [grad.copy() for grad in grads]\n": "",
        "(max_norm / norm)": "min(1.0, max_norm / (norm + 1e-6))",
    }
    assert first_failing(tmp_path, "clipping", formula, "es") is None


def _with_gradients(*values: float) -> nn.Parameter:
    parameter = nn.Parameter(whygrad.zeros(len(values)))
    parameter.grad = whygrad.tensor(list(values))
    return parameter


def test_statements_on_clipping_are_as_the_grader_has_them() -> None:
    one = _with_gradients(3.0, 0.5)
    before = clip_grad_norm_([one], 1.0)
    assert one.grad is not None
    assert math.isclose(one.grad.norm().item(), 1.0, rel_tol=1e-5)  # c: times lr
    assert math.isclose(one.grad[0].item() / one.grad[1].item(), 6.0, rel_tol=1e-6)  # a
    assert math.isclose(before.item(), math.hypot(3.0, 0.5), rel_tol=1e-6)

    cosine = (3 * 1 + 0.5 * 0.5) / (math.hypot(3, 0.5) * math.hypot(1, 0.5))
    assert round(cosine, 3) == 0.956  # b

    spoilt = _with_gradients(math.nan, 1.0)
    clip_grad_norm_([spoilt], 1.0)
    assert spoilt.grad is not None
    assert bool(spoilt.grad.isnan().all())  # d

    infinite = _with_gradients(math.inf, 1.0)
    clip_grad_norm_([infinite], 1.0)
    assert infinite.grad is not None
    assert math.isnan(infinite.grad[0].item())
    assert infinite.grad[1].item() == 0.0


def test_clipped_steps_with_the_wrong_sign_make_a_model_worse_and_stay_finite() -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(64, 3)
    y = x.sum(1, keepdim=True)
    model = nn.Linear(3, 1)
    optimizer = whygrad.optim.SGD(model.parameters(), lr=0.1)
    errors = []
    for _ in range(50):
        optimizer.zero_grad()
        error = nn.functional.mse_loss(model(x), y)
        (-error).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        errors.append(error.item())
    assert all(later > earlier for earlier, later in itertools.pairwise(errors))  # e
    assert math.isfinite(errors[-1])  # and so f is False


_STEP = "        optimizer.step()\n"
_INSPECT = "        inspect(step, x, output, loss, model)\n"
_BACKWARD = "        loss.backward()\n"
_SEED = "    torch.manual_seed(0)"
_MODEL = "    model = make_model()\n"
_FORWARD = "        output = model(x)\n"
_WITHOUT_TORCH = ("torch",)


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        (
            {"nn.Linear(64, 64)": "nn.Linear(64, 64, bias=False)", "nn.Sigmoid": "nn.ReLU"},
            "kept",
            "The network is another one",
        ),
        ({"range(80)": "range(40)"}, "kept", "40 calls were seen"),
        ({"(10 if step == 25 else 1)": "1"}, "kept", "inputs of step 25"),
        ({"optim.SGD": "optim.Adam"}, "kept", "Only 0 calls of SGD's step()"),
        ({"    return model\n": ""}, "kept", "must return the model"),
        ({_SEED: "    pass"}, "seed", "Two runs differ from step 0"),
        ({_SEED: "    pass", _MODEL: f"{_MODEL}{_SEED}\n"}, "seed", "Two runs differ from step 0"),
        ({"math.sqrt(sum": "float(sum"}, "inspect", "not right"),
        (
            {"all(map(math.isfinite, numbers))": "not math.isnan(numbers[0])"},
            "inspect",
            '"invalid" is None',
        ),
        ({"map(math.isfinite,": "map(lambda n: n == n,"}, "inspect", '"invalid" is None'),
        ({"map(math.isfinite,": "map(lambda n: -n < math.inf,"}, "inspect", '"invalid" is None'),
        ({'"loss", "gradient")': '"gradient")'}, "inspect", "'loss'"),
        ({_INSPECT: ""}, "watched", "Step 0 went by without"),
        ({_INSPECT + _STEP: _STEP + _INSPECT}, "watched", "after optimizer.step()"),
        ({_BACKWARD + _INSPECT: _INSPECT + _BACKWARD}, "watched", "before backward()"),
        ({_INSPECT: _INSPECT.replace("step,", "step + 1,")}, "watched", "told that it is step 1"),
        ({_INSPECT: _INSPECT.replace("output", "y")}, "watched", "this step's own: output"),
        (
            {"nn.functional.mse_loss(output, y)": "torch.log(output).mean()"},
            "loss",
            "mean of log(output)",
        ),
        (
            {"nn.functional.mse_loss(output, y)": "((output - y.squeeze(1)) ** 2).mean()"},
            "loss",
            "32 × 32",
        ),
        (
            {"mse_loss(output, y)": "mse_loss(output, y, reduction='sum')"},
            "loss",
            "sum of the squares",
        ),
        ({"mse_loss(output, y)": "l1_loss(output, y)"}, "loss", "absolute"),
        (
            {"        optimizer.zero_grad()": "        pass"},
            "zero-grad",
            "in step 1, the parameters still hold",
        ),
        (
            {_STEP: "        optimizer.zero_grad()\n" + _STEP},
            "zero-grad",
            "cleared after backward()",
        ),
        ({"lr=0.01": "lr=8.0"}, "rate", "the loss is"),
        ({"lr=0.01": "lr=0.3"}, "rate", "learning rate is too high"),
        ({"lr=0.01": "lr=0.0001"}, "rate", "learning rate is too low"),
        ({"(x < 0.01) | ": ""}, "saturation", "below 0.01 or above 0.99"),
        ({"[0.42, 0.0]": "[0.1, 0.0]"}, "saturation", "does not agree"),
        ({"[0.42, 0.0]": "None"}, "saturation", "list of two numbers"),
        ({'"concern": "large"': '"concern": "no"'}, "saturation", "'no'"),
    ],
)
def test_mistakes_in_the_loop(tmp_path: Path, changes: Changes, check: str, says: str) -> None:
    first = first_failing(tmp_path, "broken-loop", changes, forbids=_WITHOUT_TORCH)
    assert first is not None
    assert first.id == check
    assert says in first.message


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"lr=0.01": "lr=0.003"},
        {_SEED: "    pass", "\ndef make_model": "torch.manual_seed(7)\n\ndef make_model"},
        {"        optimizer.zero_grad()": "        model.zero_grad()"},
        {_INSPECT: "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n" + _INSPECT},
        {_FORWARD: "        x = x.clamp(-4, 4)\n" + _FORWARD},
        {_FORWARD: "        if step == 25:\n            continue\n" + _FORWARD},
    ],
)
def test_other_ways_to_repair_the_loop(tmp_path: Path, changes: Changes) -> None:
    assert first_failing(tmp_path, "broken-loop", changes, "es", forbids=_WITHOUT_TORCH) is None


@pytest.mark.parametrize(
    ("changes", "check"),
    [({}, None), ({"        optimizer.zero_grad()": "        pass"}, "zero-grad")],
)
def test_the_loop_in_pytorch(tmp_path: Path, changes: Changes, check: str | None) -> None:
    pytest.importorskip("torch")
    first = first_failing(tmp_path, "broken-loop", changes)
    assert (first and first.id) == check


def _broken(lib: Any, seed: int, steps: int) -> list[tuple[float, float]]:
    """Loss and norm of the gradient of each step of the loop as it is at the start."""
    lib.manual_seed(seed)
    model = _network(lib)
    optimizer = lib.optim.SGD(model.parameters(), lr=8.0)
    found = []
    for _ in range(steps):
        loss = lib.log(model(lib.randn(32, 10))).mean()
        loss.backward()
        norm = sum((each.grad**2).sum().item() for each in model.parameters())
        found.append((loss.item(), norm))
        optimizer.step()
    return found


def _network(lib: Any) -> Any:
    layers = lib.nn
    return layers.Sequential(
        layers.Linear(10, 64), layers.Sigmoid(), layers.Linear(64, 64), layers.Sigmoid(),
        layers.Linear(64, 1),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["whygrad", "torch"])
def test_the_broken_loop_has_a_loss_of_nan_and_finite_gradients(name: str) -> None:
    lib = pytest.importorskip(name)
    for seed in range(20):
        steps = _broken(lib, seed, 5)
        assert any(math.isnan(loss) for loss, _ in steps[:2])
        assert all(math.isfinite(norm) for _, norm in steps)


@pytest.mark.parametrize("name", ["whygrad", "torch"])
def test_a_rate_of_three_tenths_looks_well_and_is_saturated(name: str) -> None:
    lib = pytest.importorskip(name)
    lib.manual_seed(0)
    model = _network(lib)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.3)
    losses = []
    for step in range(80):
        x = lib.randn(32, 10) * (10 if step == 25 else 1)
        optimizer.zero_grad()
        loss = lib.nn.functional.mse_loss(model(x), lib.randn(32, 1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert 0.8 < sum(losses[-10:]) / 10 < 1.3
    second = model[:4](lib.randn(256, 10))
    assert ((second < 0.01) | (second > 0.99)).float().mean().item() == 1.0
