"""Debugging a training as a practitioner does, with whygrad's models.

A batch is inspected stage by stage before the optimizer runs, hooks find the first parameter with a
bad gradient, and a training loop with several faults is observed, explained and repaired.  What can
be compared is run with PyTorch, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import whygrad as wg
from tests.nn.programs import agree, networks, numbers
from whygrad import nn, optim
from whygrad.nn import functional as F


def inspect_batch(library: Any, model: Any, batch: Any, loss_of: Any) -> dict[str, Any]:
    """One forward and backward pass; the first stage with a number that is not finite is named.

    Returns the loss, and per parameter the norm, least and greatest number of its gradient, or
    None where there is none.
    """

    def check(stage: str, tensor: Any) -> None:
        if library.isnan(tensor).any() or library.isinf(tensor).any():
            raise ValueError(f"{stage} is not finite")

    inputs, targets = batch
    check("input", inputs)
    model.train()
    output = model(inputs)
    check("output", output)
    loss = loss_of(output, targets)
    check("loss", loss)
    model.zero_grad(set_to_none=True)
    loss.backward()
    report: dict[str, Any] = {"loss": loss.item()}
    for name, parameter in model.named_parameters():
        gradient = parameter.grad
        if gradient is None:
            report[name] = None
            continue
        check(f"gradient of {name}", gradient)
        report[name] = [each.item() for each in (gradient.norm(), gradient.min(), gradient.max())]
    return report


def batch_of(library: Any, count: int = 6) -> tuple[Any, Any]:
    return numbers(library, count, 3, seed=1), numbers(library, count, 2, seed=2)


def test_a_healthy_batch_reports_what_pytorch_reports() -> None:
    def program(library: Any) -> Any:
        model = networks(library).eval()
        loss = library.nn.functional.mse_loss
        report = inspect_batch(library, model, batch_of(library), loss)
        return [report, model.training]

    agree(program)


class TwoHeads(nn.Module):
    """One head is used, the other one is forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.used, self.forgotten = nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.used(self.trunk(x).relu())


def test_no_gradient_is_not_a_zero_gradient() -> None:
    model = TwoHeads()
    nn.init.constant_(model.trunk.bias, -100.0)  # every ReLU is closed
    x, y = (each.float() for each in batch_of(wg))
    report = inspect_batch(wg, model, (x, y), F.mse_loss)
    assert report["forgotten.weight"] is None
    assert report["trunk.weight"] == [0.0, 0.0, 0.0]
    assert report["used.bias"][0] > 0
    loss = F.mse_loss(model(x), y)
    assert wg.why_none(model.forgotten.weight, loss).cause != "nothing wrong"
    assert wg.why_zero(model.trunk.weight, loss).cause == "inactive"


def logarithm(output: Any, target: Any) -> Any:
    return output.log().mean()


def root_of_distance(output: Any, target: Any) -> Any:
    """Fine as a number; its slope is infinite where an output meets its target."""
    return (output - target).abs().sqrt().mean()


STAGES: dict[str, tuple[Callable[[Any, Any, Any], Any], Any, str]] = {
    "a nan in the data": (lambda model, x, y: x[2].fill_(float("nan")), F.mse_loss, "input"),
    "an infinite pixel": (lambda model, x, y: x[0].fill_(float("inf")), F.mse_loss, "input"),
    "weights that blew up": (
        lambda model, x, y: model[0].weight.data.fill_(1e38).mul_(10), F.mse_loss, "output",
    ),
    "log of a negative output": (
        lambda model, x, y: model[2][0].bias.data.fill_(-9.0), logarithm, "loss",
    ),
    "a slope that is infinite": (
        lambda model, x, y: y.copy_(model(x).detach()), root_of_distance, "gradient of 0.weight",
    ),
}  # fmt: skip


@pytest.mark.parametrize("library", [wg, torch], ids=["whygrad", "torch"])
@pytest.mark.parametrize(("spoil", "loss_of", "stage"), STAGES.values(), ids=STAGES)
def test_the_first_bad_stage_is_named(
    library: Any, spoil: Callable[..., Any], loss_of: Any, stage: str
) -> None:
    model = networks(library).float()
    x, y = (each.float() for each in batch_of(library))
    spoil(model, x, y)
    if loss_of is F.mse_loss:
        loss_of = library.nn.functional.mse_loss
    with pytest.raises(ValueError, match=f"^{stage} is not finite$"):
        inspect_batch(library, model, (x, y), loss_of)


def watch_gradients(library: Any, model: Any) -> tuple[list[Any], list[Any]]:
    """Hooks that note bad gradients, in the order in which backward computes them."""
    noted: list[Any] = []

    def watcher(name: str) -> Callable[[Any], Any]:
        def hook(gradient: Any) -> Any:
            if not library.isfinite(gradient).all():
                finite = gradient[library.isfinite(gradient)]
                noted.append((name, finite.numel()))
            return gradient

        return hook

    handles = [
        parameter.register_hook(watcher(name))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]
    return handles, noted


def test_hooks_find_the_first_bad_gradient() -> None:
    def program(library: Any) -> Any:
        model = networks(library)
        model[0].bias.requires_grad_(False)
        handles, noted = watch_gradients(library, model)
        x, y = batch_of(library)
        library.nn.functional.mse_loss(model(x), y).backward()
        healthy = [list(noted), [p.grad for p in model.parameters()]]
        library.sqrt(model(x) * 0).sum().backward()
        spoiled = sorted(noted)
        for handle in handles:
            handle.remove()
        library.sqrt(model(x) * 0).sum().backward()
        return [healthy, spoiled, len(handles), sorted(noted) == spoiled]

    agree(program)


def test_hooks_see_the_layer_nearest_to_the_loss_first() -> None:
    model = networks(wg)
    _, noted = watch_gradients(wg, model)
    (model(batch_of(wg)[0]) * 0).sqrt().sum().backward()
    assert [name.partition(".")[0] for name, _ in noted] == ["2", "2", "0", "0"]


def test_a_hook_may_replace_a_bad_gradient() -> None:
    model = networks(wg)
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: wg.nan_to_num(gradient, 0.0, 1.0, -1.0))
    (model(batch_of(wg)[0]) * 0).sqrt().sum().backward()
    assert all(wg.isfinite(each.grad).all() for each in model.parameters())


def sigmoid_network() -> nn.Module:
    wg.manual_seed(0)
    return nn.Sequential(
        *(nn.Linear(10, 64), nn.Sigmoid()), *(nn.Linear(64, 64), nn.Sigmoid()), nn.Linear(64, 1)
    )


def batches(count: int, outlier: int | None = None) -> list[tuple[Any, Any]]:
    generator = wg.Generator().manual_seed(1)
    made = []
    for step in range(count):
        x = wg.randn(32, 10, generator=generator) * (10 if step == outlier else 1)
        made.append((x, wg.randn(32, 1, generator=generator) * 0.1 + x.mean(1, keepdim=True)))
    return made


def test_the_broken_loop_shows_its_first_fault() -> None:
    """log() of an output that may be negative, no zero_grad, a rate of 8, an outlier batch."""
    model = sigmoid_network()
    optimizer = optim.SGD(model.parameters(), lr=8.0)
    seen = 0
    for x, _ in batches(80, outlier=25):
        output = model(x)
        loss = output.log().mean()
        if not wg.isfinite(loss):
            break
        loss.backward()
        optimizer.step()
        seen += 1
    assert seen < 25, "long before the outlier: the loss itself is at fault"
    assert wg.isfinite(x).all()
    assert wg.isfinite(output).all()
    assert output.min() < 0
    answer = wg.why_nan(loss)
    assert "log" in answer.headline
    assert answer.where is not None
    assert "loss = output.log().mean()" in answer.where.text

    loss.backward()
    assert all(wg.isfinite(each.grad).all() for each in model.parameters()), (
        "1/x is finite for a negative x: who looks at gradients only sees nothing"
    )


def test_without_zero_grad_a_step_carries_all_gradients_before_it() -> None:
    model, (x, y) = sigmoid_network(), batches(1)[0]
    norms = []
    for _ in range(5):
        F.mse_loss(model(x), y).backward()
        norms.append(wg.grad_flow(model)["0.weight"].gradient)
    assert [norm / norms[0] for norm in norms] == pytest.approx([1, 2, 3, 4, 5], rel=1e-5)


def test_the_repaired_loop_learns_through_the_outlier() -> None:
    model = sigmoid_network()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses, totals = [], []
    for batch in batches(80, outlier=25):
        report = inspect_batch(wg, model, batch, F.mse_loss)  # starts with zero_grad
        totals.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        losses.append(report["loss"])
    usual = losses[:25] + losses[26:]
    assert losses[25] > 3 * max(usual[20:]), "the outlier is seen"
    assert sum(usual[-10:]) < 0.8 * sum(usual[:10])
    assert max(totals) == totals[25]


def test_saturation_remains_a_concern_after_the_repair() -> None:
    model, (x, y) = sigmoid_network(), batches(1)[0]

    def reaching_the_first_layer(scale: float) -> float:
        """Relative to what the inputs would give: the gradient of the bias does not scale."""
        model.zero_grad()
        F.mse_loss(model(scale * x), y).backward()
        norm = wg.grad_flow(model)["0.bias"].gradient
        assert norm is not None
        return norm

    assert reaching_the_first_layer(100.0) < 0.2 * reaching_the_first_layer(1.0)


def clip_by_hand(gradients: list[Any], limit: float, by: str) -> list[Any]:
    if by == "value":
        return [gradient.clamp(-limit, limit) for gradient in gradients]
    total = sum((gradient**2).sum() for gradient in gradients) ** 0.5
    return [gradient * min(1.0, limit / (float(total) + 1e-6)) for gradient in gradients]


@pytest.mark.parametrize("by", ["norm", "value"])
def test_clipping_by_hand_is_what_the_library_does(by: str) -> None:
    model, batch = networks(wg), batch_of(wg)
    inspect_batch(wg, model, batch, F.mse_loss)
    before = [parameter.grad.clone() for parameter in model.parameters()]
    clip = nn.utils.clip_grad_norm_ if by == "norm" else nn.utils.clip_grad_value_
    clip(model.parameters(), 0.05)
    after = [parameter.grad for parameter in model.parameters()]
    for mine, theirs in zip(clip_by_hand(before, 0.05, by), after, strict=True):
        assert wg.allclose(mine, theirs)
    old, new = (wg.cat([each.flatten() for each in part]) for part in (before, after))
    cosine = F.cosine_similarity(old, new, dim=0).item()
    assert (cosine > 1 - 1e-9) == (by == "norm"), "scaling keeps the direction, cutting does not"
    assert (new.norm() <= 0.05) if by == "norm" else (new.abs().max() <= 0.05)


def test_two_losses_of_one_forward_pass() -> None:
    model, (x, y) = networks(wg), batch_of(wg)
    hidden = model(x).exp()
    one, other = (hidden - y).square().mean(), hidden.abs().mean()
    one.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        other.backward()
    model.zero_grad()
    hidden = model(x).exp()
    ((hidden - y).square().mean() + 0.1 * hidden.abs().mean()).backward()
    together = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    hidden = model(x).exp()
    (hidden - y).square().mean().backward(retain_graph=True)
    (0.1 * hidden.abs().mean()).backward()
    for parameter, expected in zip(model.parameters(), together, strict=True):
        assert wg.allclose(parameter.grad, expected)
