"""Separate two moons with a network in which every number is a ``Value``.

Nothing here is a tensor: the loss is one Value, computed from 337 parameters and 100 points, and
``backward()`` walks through all of it.  The picture shows the side of the boundary on which the
network puts each place: ``.`` for one moon, ``:`` for the other, ``o`` and ``x`` for the points.
"""

import math
import random

from whygrad.scalar.nn import MLP

POINTS, STEPS = 100, 60


def two_moons(count, noise, seed):
    """Points of two interleaved half circles, and +1 or −1 for the half they belong to."""
    rng = random.Random(seed)
    points, sides = [], []
    for i in range(count):
        angle = math.pi * rng.random()
        upper = i % 2 == 0
        x = math.cos(angle) if upper else 1.0 - math.cos(angle)
        y = math.sin(angle) if upper else 0.5 - math.sin(angle)
        points.append((x + rng.gauss(0.0, noise), y + rng.gauss(0.0, noise)))
        sides.append(1.0 if upper else -1.0)
    return points, sides


def draw(model, points, sides, width=64, height=20):
    """The plane in characters, top line first."""
    left, right, bottom, top = -1.5, 2.5, -1.0, 1.5
    rows = []
    for row in range(height):
        y = top - (row + 0.5) * (top - bottom) / height
        xs = [left + (column + 0.5) * (right - left) / width for column in range(width)]
        rows.append(["." if model((x, y)) > 0 else ":" for x in xs])
    for (x, y), side in zip(points, sides):
        row = int((top - y) / (top - bottom) * height)
        column = int((x - left) / (right - left) * width)
        if 0 <= row < height and 0 <= column < width:
            rows[row][column] = "o" if side > 0 else "x"
    return "\n".join("".join(row) for row in rows)


points, sides = two_moons(POINTS, noise=0.1, seed=0)
model = MLP(2, 16, 16, 1, seed=1)
parameters = model.parameters()
speeds = [0.0] * len(parameters)
print(f"{len(parameters)} parameters, {POINTS} points\n\nstep    loss  accuracy")

for step in range(STEPS + 1):
    scores = [model(point) for point in points]
    losses = [-(side * score).sigmoid().log() for score, side in zip(scores, sides)]
    loss = sum(losses) / POINTS
    if step % 10 == 0:
        right = sum((score > 0) == (side > 0) for score, side in zip(scores, sides))
        print(f"{step:4}  {loss.data:6.4f}  {right / POINTS:8.0%}")
    model.zero_grad()
    loss.backward()
    for i, parameter in enumerate(parameters):
        speeds[i] = 0.9 * speeds[i] - 0.2 * parameter.grad
        parameter.data += speeds[i]

print(f"\n{draw(model, points, sides)}")
