"""A forgotten zero_grad(): every step takes all the steps before it along.

backward() adds to .grad.  Where the gradient is always the same, the sum after step k is k times
the gradient, so the effective step grows linearly.  Where the loss has a bottom, the sum still
points the old way when it is reached, and the weights swing past it again and again.
"""

from itertools import pairwise

from picture import draw

import whygrad as wg
from whygrad import optim


def walk(loss_of, start, clear, rate, steps):
    """Where the weight is after each step."""
    w = wg.tensor(start, dtype=wg.float64, requires_grad=True)
    optimizer = optim.SGD([w], lr=rate)
    places = [w.item()]
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        loss_of(w).backward()
        optimizer.step()
        places.append(w.item())
    return places


ways = {"with": True, "without": False}
slope = {name: walk(lambda w: 3 * w, 0.0, clear, 0.01, 10) for name, clear in ways.items()}
print("steps on a constant slope, in learning rates × gradient")
for name, places in slope.items():
    lengths = [(a - b) / (0.01 * 3) for a, b in pairwise(places)]
    print(f"  {name:8} zero_grad:", " ".join(f"{length:.0f}" for length in lengths))

bowl = {name: walk(lambda w: 5 * w**2, 1.0, clear, 0.02, 100) for name, clear in ways.items()}
print("\nin a bowl with its bottom at 0")
for name, places in bowl.items():
    print(f"  {name:8} zero_grad:", " ".join(f"{place:6.2f}" for place in places[::12]))
swings = sum(a * b < 0 for a, b in pairwise(bowl["without"]))
print(f"\nwithout zero_grad the bottom is passed {swings} times in 100 steps")
draw(
    "missing_zero_grad.svg",
    {f"{name} zero_grad": places for name, places in bowl.items()},
    xlabel="step",
    ylabel="weight",
    title="5w², started at 1",
)
