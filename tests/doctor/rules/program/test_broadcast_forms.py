"""A column of predictions against a row of targets, whatever formula measures their distance."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.asking import ENGINES, ask, only

_TRAINING = """
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
target = y{target}
for step in range(3):
    prediction = net(x){prediction}
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
_DIFFERENCE = "d = prediction - target  # here\n    loss = "
_FORMS = {
    "log-cosh by softplus": _DIFFERENCE + "(d + F.softplus(-2 * d) - 0.6931).mean()",
    "log-cosh by logaddexp": _DIFFERENCE + "torch.logaddexp(d, -d).mean()",
    "linex": _DIFFERENCE + "(torch.exp(d) - d - 1).mean()",
    "welsch": _DIFFERENCE + "(1 - torch.exp(-0.5 * d**2)).mean()",
    "cauchy": _DIFFERENCE + "torch.log1p(d**2).sum() / 64",
    "bounded": _DIFFERENCE + "torch.tanh(d).square().mean()",
    "pinball": _DIFFERENCE + "torch.max(0.9 * d, -0.1 * d).mean()",
    "quantiles": _DIFFERENCE
    + "torch.stack([torch.maximum(q * d, (q - 1) * d) for q in (0.1, 0.9)]).mean()",
    "reweighted": _DIFFERENCE + "(d**2 / (1 + d.detach().abs())).mean()",
    "masked": _DIFFERENCE + "d.abs().masked_fill(d.abs() > 5, 0.0).mean()",
    "logistic": "loss = F.softplus(-target.sign() * prediction).mean()  # here",
    "cross-entropy by xlogy": "p = prediction.sigmoid()\n"
    "    loss = -(torch.xlogy(target.abs(), p)).mean()  # here",
}


def _script(loss: str, *, prediction: str = "", target: str = "") -> str:
    return _TRAINING.format(loss=loss, prediction=prediction, target=target)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", _FORMS)
def test_a_column_minus_a_row(tmp_path: Path, form: str, engine: str) -> None:
    found = only(tmp_path, "loss-broadcast", _script(_FORMS[form], target=".squeeze(1)"), engine)
    assert "[64, 1], the target [64]" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", _FORMS)
def test_a_row_minus_a_column(tmp_path: Path, form: str, engine: str) -> None:
    text = _script(_FORMS[form], prediction=".squeeze(1)")
    found = only(tmp_path, "loss-broadcast", text, engine)
    assert "[64], the target [64, 1]" in found.evidence[0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("form", _FORMS)
def test_a_row_minus_a_row(tmp_path: Path, form: str, engine: str) -> None:
    text = _script(_FORMS[form], prediction=".squeeze(1)", target=".squeeze(1)")
    assert ask(tmp_path, "loss-broadcast", text, engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_axis_that_the_model_puts_in(tmp_path: Path, engine: str) -> None:
    text = _script(_FORMS["log-cosh by softplus"], target=".squeeze(1)").replace(
        "nn.Linear(16, 1))", "nn.Linear(16, 1), nn.Flatten(0), nn.Unflatten(0, (64, 1)))"
    )
    only(tmp_path, "loss-broadcast", text, engine)


_MEANT = {
    "a kernel": "loss = -torch.exp(-((row[:, None] - target) ** 2)).mean()",
    "a kernel, its axis put in before": "column = row.unsqueeze(1)\n"
    "    loss = -torch.exp(-((column - target) ** 2)).mean()",
    "a kernel of targets": "loss = -torch.sigmoid(target.view(-1, 1) - row).mean()",
    "both axes put in": "loss = F.softplus(row[:, None] - target[None, :]).mean()",
    "against its own transpose": "loss = F.softplus(prediction - prediction.T).mean()",
    "against its own values": "loss = F.softplus(prediction - row).mean()",
    "ranking": "apart = (target[:, None] - target[None, :]).sign()\n"
    "    loss = F.softplus(-apart * (row[:, None] - row[None, :])).mean()",
    "some of the pairs": "pairs = (target[:, None] > target[None, :]).float()\n"
    "    loss = (F.softplus(target - prediction) * pairs).sum() / pairs.sum()",
    "pairs picked by a mask": "pairs = target[:, None] > target[None, :]\n"
    "    loss = F.softplus(target - prediction)[pairs].mean()",
    "the nearest": "loss = (prediction - target).abs().min(1).values.mean()",
    "a soft choice": "weights = (-((prediction - target) ** 2)).softmax(1)\n"
    "    loss = F.softplus(-weights).mean()",
    "a density": "loss = -torch.logsumexp(-((prediction - target) ** 2), 1).mean()",
    "features of a later fit": "features = torch.tanh(prediction - target)\n"
    "    loss = (features.mean(1) - x[:, 0]).square().mean()",
    "features of a later loss": "features = torch.tanh(prediction - target)\n"
    "    loss = F.mse_loss(features.mean(1), x[:, 0])",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("meant", _MEANT)
def test_pairs_that_are_meant(tmp_path: Path, meant: str, engine: str) -> None:
    loss = "row = prediction.squeeze(1)\n    " + _MEANT[meant]
    assert ask(tmp_path, "loss-broadcast", _script(loss, target=".squeeze(1)"), engine) == []
