"""Gradients that are zero."""

from __future__ import annotations

from tests.why.situations.situation import Situation

__all__ = ["ZERO"]

ZERO = (
    Situation(
        "a dead relu",
        """
x = wg.tensor([[1.0, 2.0], [0.5, 1.0]])
w = wg.tensor([-3.0, -1.0], requires_grad=True)
hidden = wg.relu(x @ w)  # here
loss = (hidden - 1.0).square().mean()
""",
        "why_zero(w, loss)",
        "inactive",
    ),
    Situation(
        "a relu under a large negative bias",
        """
x = wg.tensor([[1.0, 2.0], [0.5, 1.0]])
w = wg.tensor([[1.0, 2.0], [2.0, 1.0]], requires_grad=True)
bias = wg.tensor([-10.0, -20.0], requires_grad=True)
hidden = F.relu(x @ w + bias)  # here
loss = hidden.sum()
""",
        "why_zero(bias, loss)",
        "inactive",
    ),
    Situation(
        "a hinge loss that every example satisfies",
        """
w = wg.tensor([2.0, 3.0], requires_grad=True)
margins = wg.tensor([[1.0, 1.0], [2.0, 0.5]]) @ w
loss = wg.relu(1.0 - margins).mean()  # here
""",
        "why_zero(w, loss)",
        "inactive",
    ),
    Situation(
        "sigmoid of something large",
        """
w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
gates = wg.sigmoid(100 * w)  # here
loss = (gates - 0.5).square().sum()
""",
        "why_zero(w, loss)",
        "saturated",
    ),
    Situation(
        "tanh after a layer without scaling",
        """
x = wg.full((2, 4), 50.0)
w = wg.ones(4, requires_grad=True)
hidden = wg.tanh(x @ w)  # here
loss = hidden.mean()
""",
        "why_zero(w, loss)",
        "saturated",
    ),
    Situation(
        "a mask of zeros",
        """
w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
lengths = wg.tensor([0, 0, 0])
mask = (lengths > 0).float()
loss = (w.exp() * mask).sum()  # here
""",
        "why_zero(w, loss)",
        "multiplied by zero",
    ),
    Situation(
        "the layer above starts with zeros",
        """
x = wg.tensor([[1.0, 2.0], [0.5, 1.0]])
w = wg.tensor([[1.0, 0.5], [0.5, 1.0]], requires_grad=True)
head = wg.zeros(2, requires_grad=True)
loss = ((x @ w) @ head - 1.0).square().mean()  # here
""",
        "why_zero(w, loss)",
        "multiplied by zero",
    ),
    Situation(
        "a loss weight that has decayed to zero",
        """
w = wg.tensor([1.0, 2.0], requires_grad=True)
v = wg.tensor([1.0, 2.0], requires_grad=True)
weight = 0.0
loss = v.square().sum() + weight * w.square().sum()  # here
""",
        "why_zero(w, loss)",
        "multiplied by zero",
    ),
    Situation(
        "the smaller of two branches of maximum",
        """
a = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = wg.tensor([2.0, 3.0, 4.0], requires_grad=True)
loss = wg.maximum(a, b).sum()  # here
""",
        "why_zero(a, loss)",
        "not selected",
    ),
    Situation(
        "the branch that where() never takes",
        """
w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
fallback = wg.tensor([0.1, 0.2, 0.3], requires_grad=True)
chosen = wg.where(w > 0, w, fallback)  # here
loss = chosen.square().sum()
""",
        "why_zero(fallback, loss)",
        "not selected",
    ),
    Situation(
        "a row of the embedding that no token asks for",
        """
embedding = wg.ones(5, 3, requires_grad=True)
tokens = wg.tensor([0, 1, 1, 3])
loss = embedding[tokens].square().sum()  # here
""",
        "why_zero(embedding, loss, index=(2, 0))",
        "not selected",
    ),
    Situation(
        "a value that never wins its maximum",
        """
image = wg.tensor([1.0, 5.0, 2.0, 3.0], requires_grad=True)
pooled = image.reshape(2, 2).max(1).values  # here
loss = pooled.sum()
""",
        "why_zero(image, loss, index=0)",
        "not selected",
    ),
    Situation(
        "a pixel that max pooling passes over",
        """
image = wg.tensor([[[1.0, 5.0, 2.0, 3.0]]], requires_grad=True)
pooled = F.max_pool1d(image, 2)  # here
loss = pooled.sum()
""",
        "why_zero(image, loss, index=(0, 0, 0))",
        "not selected",
        only="torch",
        because="whygrad has no pooling",
    ),
    Situation(
        "a draw with given odds",
        """
odds = wg.tensor([0.1, 0.5, 0.9], requires_grad=True)
kept = wg.bernoulli(odds)  # here
loss = (kept * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
        "why_zero(odds, loss)",
        "flat",
        only="torch",
        because="in whygrad a draw has no gradient at all",
    ),
    Situation(
        "predictions beyond the clamp",
        """
w = wg.tensor([4.0, 5.0], requires_grad=True)
probability = (w * 2).clamp(0.0, 1.0)  # here
loss = -(probability + 0.5).log().sum()
""",
        "why_zero(w, loss)",
        "clamped",
    ),
    Situation(
        "dropout that keeps nothing",
        """
w = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
hidden = F.dropout(w.exp(), p=1.0)  # here
loss = hidden.sum()
""",
        "why_zero(w, loss)",
        "dropout",
    ),
    Situation(
        "rounding to whole numbers",
        """
w = wg.tensor([0.2, 1.7, 2.6], requires_grad=True)
levels = wg.round(w * 4) / 4  # here
loss = (levels - 1.0).square().sum()
""",
        "why_zero(w, loss)",
        "flat",
    ),
    Situation(
        "the sign of the weights",
        """
w = wg.tensor([0.2, -1.7, 2.6], requires_grad=True)
binary = w.sign()  # here
loss = (binary * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
        "why_zero(w, loss)",
        "flat",
    ),
    Situation(
        "float16 has no number so small",
        """
w = wg.tensor([1.0, 2.0], dtype=wg.float16, requires_grad=True)
small = w * 1e-4  # here
loss = (small * 1e-5).sum()
""",
        "why_zero(w, loss)",
        "underflow",
    ),
    Situation(
        "the sum of centred values",
        """
w = wg.tensor([1.0, 2.0, 6.0], requires_grad=True)
centred = w - w.mean()  # here
loss = centred.sum()
""",
        "why_zero(w, loss)",
        "cancelled",
    ),
    Situation(
        "softmax over a single class",
        """
logits = wg.tensor([[0.3], [1.2]], requires_grad=True)
probability = F.softmax(logits, dim=1)  # here
loss = (probability - 0.5).square().mean()
""",
        "why_zero(logits, loss)",
        "flat",
    ),
    Situation(
        "weights that start at zero and are squared",
        """
w = wg.zeros(3, requires_grad=True)
scale = w ** 2  # here
loss = (scale * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
        "why_zero(w, loss)",
        "stationary",
    ),
    Situation(
        "a result that is written over",
        """
w = wg.tensor([1.0, 2.0], requires_grad=True)
hidden = w * 3
hidden[:] = 0.0  # here
loss = (hidden + 1.0).sum()
""",
        "why_zero(w, loss)",
        "overwritten",
    ),
)
