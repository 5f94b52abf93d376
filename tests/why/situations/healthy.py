"""Programs that look suspicious and are right."""

from __future__ import annotations

from tests.why.situations.situation import Healthy

__all__ = ["HEALTHY"]

HEALTHY = (
    Healthy(
        "one step of a small network",
        """
x = wg.tensor([[0.5, -1.0], [1.0, 2.0], [-0.5, 0.3]])
target = wg.tensor([0.0, 1.0, 0.0])
w = wg.tensor([[0.4, -0.3, 0.8], [0.2, 0.7, -0.5]], requires_grad=True)
head = wg.tensor([0.3, -0.6, 0.9], requires_grad=True)
loss = F.binary_cross_entropy_with_logits(wg.tanh(x @ w) @ head, target)
""",
    ),
    Healthy(
        "attention with a mask of −inf",
        """
w = wg.tensor([[0.4, -0.3], [0.2, 0.7]], requires_grad=True)
x = wg.tensor([[0.5, -1.0], [1.0, 2.0], [-0.5, 0.3]])
scores = (x @ w) @ x.T
future = wg.ones(3, 3).triu(1).bool()
weights = scores.masked_fill(future, float("-inf")).softmax(-1)
loss = (weights @ x).square().sum()
""",
    ),
    Healthy(
        "detach() on purpose: a straight-through estimator",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
rounded = w + (w.round() - w).detach()
loss = (rounded * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
    ),
    Healthy(
        "a target computed with the same network inside no_grad",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
state, following = wg.tensor([1.0, 2.0, 0.5]), wg.tensor([0.5, 1.0, 2.0])
with wg.no_grad():
    target = 1.0 + 0.9 * (following * w).sum()
loss = ((state * w).sum() - target).square()
""",
    ),
    Healthy(
        "where() with safe branches",
        """
w = wg.tensor([0.0, 1.0, 4.0], requires_grad=True)
positive = w > 0
roots = wg.where(positive, w, wg.ones(3)).sqrt()
loss = (wg.where(positive, roots, wg.zeros(3)) * 2).sum()
""",
    ),
    Healthy(
        "a running average beside the training",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
average = wg.zeros(3)
with wg.no_grad():
    average.mul_(0.9).add_(w, alpha=0.1)
loss = (w - average).square().sum()
""",
    ),
    Healthy(
        "a relu that is active for some",
        """
x = wg.tensor([[1.0, -2.0], [-0.5, 1.0]])
w = wg.tensor([1.0, 0.5], requires_grad=True)
loss = (wg.relu(x @ w + 0.1) - 1.0).square().mean()
""",
    ),
    Healthy(
        "dropout",
        """
wg.manual_seed(0)
w = wg.linspace(0.5, 1.5, 20, requires_grad=True)
loss = F.dropout(w * 2, p=0.5).sum()
""",
    ),
    Healthy(
        "a clamp with room",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
loss = (w.clamp(-1.0, 1.0) * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
    ),
    Healthy(
        "checkpointed layers",
        """
checkpoint = wg.utils.checkpoint.checkpoint
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)

def layer(t):
    return (t * w).tanh()

hidden = checkpoint(layer, wg.tensor([1.0, 2.0, 3.0]), use_reentrant=False)
loss = hidden.square().sum()
""",
    ),
    Healthy(
        "two losses that share a parameter",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
first = w.square().sum()
second = (w - 1).abs().sum()
print(first.item(), second.item())
loss = first + 0.5 * second
""",
    ),
    Healthy(
        "a frozen layer below",
        """
frozen = wg.tensor([[0.4, -0.3], [0.2, 0.7]])
w = wg.tensor([0.3, 1.2], requires_grad=True)
x = wg.tensor([[0.5, -1.0], [1.0, 2.0]])
loss = (wg.tanh(x @ frozen) @ w).square().mean()
""",
    ),
    Healthy(
        "an update in place, then the next forward pass",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
loss = w.square().sum()
loss.backward()
with wg.no_grad():
    w -= 0.1 * w.grad
w.grad = None
loss = w.square().sum()
""",
    ),
    Healthy(
        "log_softmax of log_softmax",
        """
w = wg.tensor([[0.3, 1.2, -0.7]], requires_grad=True)
once = F.log_softmax(w, dim=1)
loss = -F.log_softmax(once, dim=1)[0, 1]
""",
    ),
    Healthy(
        "the largest element, and a metric on the side",
        """
w = wg.tensor([[0.3, 1.2], [0.9, 0.1]], requires_grad=True)
accuracy = (w.argmax(1) == wg.tensor([1, 0])).float().mean().item()
history = [accuracy]
loss = F.cross_entropy(w, wg.tensor([1, 0]))
""",
    ),
    Healthy(
        "a gradient penalty",
        """
w = wg.tensor([0.3, 1.2, -0.7], requires_grad=True)
x = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
score = (w * x.square()).sum()
(slope,) = wg.autograd.grad(score, x, create_graph=True)
loss = (slope.norm() - 1.0).square()
""",
    ),
    Healthy(
        "the norm of a vector of zeros",
        """
w = wg.zeros(3, requires_grad=True)
offset = wg.tensor([1.0, 2.0, 3.0])
loss = wg.linalg.norm(w) + (w * offset).sum()
""",
    ),
)
