"""Gradients that are None because a value left the graph on its way to the loss."""

from __future__ import annotations

from tests.why.situations.situation import Situation

__all__ = ["CUTS"]

CUTS = (
    Situation(
        "detach() between two layers",
        """
w = wg.ones(3, 3, requires_grad=True)
head = wg.ones(3, requires_grad=True)
features = wg.ones(2, 3) @ w
features = features.detach()  # here
loss = (features @ head).square().mean()
loss.backward()
""",
        "why_none(w, loss)",
        "detach",
    ),
    Situation(
        "detach_() on a result",
        """
w = wg.ones(3, requires_grad=True)
head = wg.ones(3, requires_grad=True)
hidden = w.exp()
hidden.detach_()  # here
loss = (hidden * head).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "detach",
    ),
    Situation(
        "x = x.data",
        """
x = wg.ones(3, requires_grad=True)
w = wg.ones(3, requires_grad=True)
x = x.data  # here
loss = (x * w).sum()
loss.backward()
""",
        "why_none(x, loss)",
        "data",
    ),
    Situation(
        "computing with .data",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
normed = w.data / w.data.sum()  # here
loss = (normed * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "data",
    ),
    Situation(
        "the prediction is made inside no_grad",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
x = wg.tensor([1.0, 2.0, 3.0])
with wg.no_grad():
    prediction = (x * w).sum()  # here
loss = (prediction - v.sum()).square()
loss.backward()
""",
        "why_none(w, loss)",
        "no_grad",
    ),
    Situation(
        "a helper function decorated with no_grad",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)

@wg.no_grad()
def normalised(t):
    return t / t.sum()  # here

loss = (normalised(w) * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "no_grad",
    ),
    Situation(
        "set_grad_enabled(False) after an evaluation, never switched on again",
        """
w = wg.ones(3, requires_grad=True)
x = wg.tensor([1.0, 2.0, 3.0])
wg.set_grad_enabled(False)
accuracy = (x * w > 0).float().mean()
loss = (x * w).square().sum()  # here
""",
        "why_none(w, loss)",
        "no_grad",
    ),
    Situation(
        "features from inference_mode",
        """
w = wg.ones(3, requires_grad=True)
shift = wg.zeros(3, requires_grad=True)
with wg.inference_mode():
    features = w * 2  # here
loss = (features + shift).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "inference_mode",
    ),
    Situation(
        "a detour through NumPy",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
array = w.detach().numpy()  # here
weights = wg.from_numpy(array)
loss = (weights * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "numpy",
    ),
    Situation(
        "np.exp on the way",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
array = w.detach().numpy()  # here
weights = wg.tensor(np.exp(array))
loss = (weights * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "numpy",
    ),
    Situation(
        "scaled by a Python number",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
temperature = w.mean().item()  # here
loss = (v / temperature).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "item",
    ),
    Situation(
        "losses collected as numbers, then averaged",
        """
w = wg.ones(3, requires_grad=True)
losses = []
for step in range(3):
    error = (w * step - 1.5).square().mean()
    losses.append(error.item())  # here
loss = wg.tensor(losses, requires_grad=True).mean()
loss.backward()
""",
        "why_none(w, loss)",
        "item",
    ),
    Situation(
        "losses joined with tensor() instead of stack()",
        """
w = wg.ones(3, requires_grad=True)
losses = [(w - 1).square().sum(), w.abs().sum()]
loss = wg.tensor(losses, requires_grad=True).mean()  # here
loss.backward()
""",
        "why_none(w, loss)",
        "copied",
    ),
    Situation(
        "accuracy as the loss",
        """
w = wg.ones(3, 2, requires_grad=True)
x, labels = wg.ones(4, 3), wg.tensor([0, 1, 0, 1])
scores = x @ w
guesses = scores.argmax(1)  # here
loss = 1 - (guesses == labels).float().mean()
""",
        "why_none(w, loss)",
        "integer",
    ),
    Situation(
        "counting what is larger than a threshold",
        """
w = wg.tensor([0.5, 1.5, 2.5], requires_grad=True)
v = wg.ones((), requires_grad=True)
large = (w > 1.0).float()  # here
loss = large.sum() * v
loss.backward()
""",
        "why_none(w, loss)",
        "boolean",
    ),
    Situation(
        "the best expert chosen by index",
        """
gate = wg.tensor([0.1, 0.7, 0.2], requires_grad=True)
experts = wg.ones(3, 4, requires_grad=True)
best = gate.topk(1).indices  # here
loss = experts[best].sum()
loss.backward()
""",
        "why_none(gate, loss)",
        "integer",
    ),
    Situation(
        "values rounded to a table row",
        """
position = wg.tensor([0.25, 0.5], requires_grad=True)
table = wg.ones(10, 4, requires_grad=True)
row = (position * 10).long()  # here
loss = table[row].sum()
loss.backward()
""",
        "why_none(position, loss)",
        "integer",
    ),
    Situation(
        "an action drawn from the policy",
        """
logits = wg.tensor([0.1, 0.2, 0.7], requires_grad=True)
reward = wg.ones(3, requires_grad=True)
probabilities = logits.softmax(0)
action = wg.multinomial(probabilities, 1)  # here
loss = -reward[action].sum()
loss.backward()
""",
        "why_none(logits, loss)",
        "integer",
    ),
    Situation(
        "a draw from a normal distribution",
        """
mean = wg.zeros(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
sample = wg.normal(mean, 1.0)  # here
loss = (sample * v).sum()
loss.backward()
""",
        "why_none(mean, loss)",
        "sampled",
        only="whygrad",
        because="PyTorch gives the mean a gradient of zeros",
    ),
    Situation(
        "a running average",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(3, requires_grad=True)
average = wg.zeros(3)
for step in range(5):
    with wg.no_grad():
        average.mul_(0.9).add_(w, alpha=0.1)  # here
loss = (average * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "no_grad",
    ),
    Situation(
        "a buffer filled with detached results",
        """
w = wg.ones(3, requires_grad=True)
v = wg.ones(2, requires_grad=True)
history = wg.zeros(2)
for step in range(2):
    history[step] = (w * step).sum().detach()  # here
loss = (history * v).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "detach",
    ),
    Situation(
        "a target network that follows by copy_",
        """
online = wg.ones(3, requires_grad=True)
target = wg.zeros(3, requires_grad=True)
target.data.copy_(online.data)  # here
loss = (target * 2).sum()
loss.backward()
""",
        "why_none(online, loss)",
        "data",
    ),
    Situation(
        "a copy of the model",
        """
class Model(wg.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = wg.nn.Parameter(wg.ones(3))

    def forward(self, x):
        return x * self.weight

model = Model()
target = copy.deepcopy(model)  # here
loss = target(wg.ones(3)).sum()
loss.backward()
""",
        "why_none(model.weight, loss)",
        "copied",
    ),
    Situation(
        "a Parameter made of something computed",
        """
w = wg.ones(3, requires_grad=True)
scaled = wg.nn.Parameter(w * 2)  # here for whygrad
loss = scaled.square().sum()
loss.backward()
""",
        "why_none(w, loss)",
        "shared",
    ),
    Situation(
        "requires_grad_() on a detached tensor, to silence an error",
        """
w = wg.ones(3, requires_grad=True)
hidden = (w * 2).detach()  # here
hidden.requires_grad_()
loss = hidden.square().sum()
loss.backward()
""",
        "why_none(w, loss)",
        "detach",
    ),
    Situation(
        "a gradient penalty without create_graph",
        """
w = wg.ones(3, requires_grad=True)
x = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = wg.ones((), requires_grad=True)
score = (w * x.square()).sum()
(slope,) = wg.autograd.grad(score, x)  # here
loss = (slope.norm() - v).square()
loss.backward()
""",
        "why_none(w, loss)",
        "create_graph",
    ),
)
