"""One gradient per sample: which of eight points does a model learn the most from?

``backward()`` on a mean loss gives one gradient, the average.  ``vmap(grad(loss))`` gives the
gradient of every sample, in one pass.  Here the last label is wrong, and its gradient shows it.
"""

import whygrad as wg
from whygrad.func import grad, vmap

wg.manual_seed(0)
parameters = {
    "W1": wg.randn(2, 16),
    "b1": wg.zeros(16),
    "W2": wg.randn(16, 1) / 4,
    "b2": wg.zeros(1),
}
x = wg.randn(8, 2)
y = x.sum(1, keepdim=True)
y[-1] += 3


def loss(p, x, y):
    """Of one sample: x has 2 numbers, y has 1."""
    hidden = wg.tanh(x @ p["W1"] + p["b1"])
    return ((hidden @ p["W2"] + p["b2"] - y) ** 2).sum()


def mean_loss(p):
    return vmap(loss, in_dims=(None, 0, 0))(p, x, y).mean()


for _ in range(200):
    step = grad(mean_loss)(parameters)
    parameters = {name: p - 0.02 * step[name] for name, p in parameters.items()}

each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
print("parameter  shape     gradients of all samples")
for name, gradient in each.items():
    print(f"{name:10} {tuple(parameters[name].shape)!s:9} {tuple(gradient.shape)}")

average = grad(mean_loss)(parameters)
assert all(wg.allclose(each[name].mean(0), average[name], atol=1e-5) for name in each)

norms = sum(gradient.flatten(1).square().sum(1) for gradient in each.values()).sqrt()
print("\nsample  length of its gradient")
for number, norm in enumerate(norms.tolist()):
    print(f"{number:6}  {norm:5.2f} {'#' * round(5 * norm)}")
print(f"\nthe model disagrees most with sample {norms.argmax().item()}")
