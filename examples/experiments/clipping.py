"""Clipping by value bends the gradient, clipping by norm only shortens it.

One layer of this model has much larger gradients than the other, as after a few bad steps.  Cut
each number off at a limit and the large ones lose while the small ones stay: another direction.
Scale all of them together and the direction is the same.
"""

from picture import draw

import whygrad as wg
from whygrad import nn
from whygrad.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector

wg.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
x, y = wg.randn(64, 10), 20 * wg.randn(64, 1)
LIMITS = [10.0 ** (-k / 4) for k in range(-2, 13)]


def gradient(clip=None, limit=0.0):
    model.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    if clip is not None:
        clip(model.parameters(), limit)
    return parameters_to_vector([each.grad for each in model.parameters()])


whole = gradient()
print(f"norm {whole.norm():.3f}, largest number {whole.abs().max():.3f}\n")
print("limit    by norm: norm, cosine     by value: norm, cosine")
cosines = {"clip_grad_norm_": [], "clip_grad_value_": []}
for limit in LIMITS:
    cells = []
    for clip in (clip_grad_norm_, clip_grad_value_):
        clipped = gradient(clip, limit)
        cosine = nn.functional.cosine_similarity(whole, clipped, dim=0).item()
        cosines[clip.__name__].append(cosine)
        cells.append(f"{clipped.norm():9.4f}  {cosine:.4f}")
    print(f"{limit:6.3f}  {'         '.join(cells)}")
kept = min(cosines["clip_grad_norm_"])
print(f"\nsmallest cosine by norm {kept:.4f}, by value {min(cosines['clip_grad_value_']):.4f}")
draw(
    "clipping.svg",
    {name: (LIMITS, each) for name, each in cosines.items()},
    xlabel="limit",
    ylabel="cosine with the gradient",
    title="Does it still point downhill?",
    log="x",
)
