"""One training, done twice: with Values, a number at a time, and with tensors.

A line through points and a network for two moons start from the same numbers on both sides and
follow the same gradients.  After all the steps they differ by rounding and nothing else.
"""

import whygrad as wg
from whygrad import Value, data, nn, optim
from whygrad.nn import functional as F
from whygrad.scalar.nn import MLP


def line_by_values(xs, ys, steps, rate):
    slope, height = Value(0.0), Value(0.0)
    for _ in range(steps):
        loss = sum((slope * x + height - y) ** 2 for x, y in zip(xs, ys)) / len(xs)
        slope.grad = height.grad = 0.0
        loss.backward()
        slope.data -= rate * slope.grad
        height.data -= rate * height.grad
    return slope.data, height.data


def line_by_tensors(xs, ys, steps, rate):
    x, y = wg.tensor(xs, dtype=wg.float64), wg.tensor(ys, dtype=wg.float64)
    slope, height = (wg.zeros((), dtype=wg.float64, requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([slope, height], lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        ((slope * x + height - y) ** 2).mean().backward()
        optimizer.step()
    return slope.item(), height.item()


def as_tensors(network):
    """The same network as nn layers, with the same weights."""
    layers = []
    for layer in network.layers:
        linear = nn.Linear(len(layer.neurons[0].weights), len(layer.neurons), dtype=wg.float64)
        with wg.no_grad():
            rows = [[weight.data for weight in neuron.weights] for neuron in layer.neurons]
            linear.weight.copy_(wg.tensor(rows, dtype=wg.float64))
            biases = [neuron.bias.data for neuron in layer.neurons]
            linear.bias.copy_(wg.tensor(biases, dtype=wg.float64))
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def moons_by_values(network, points, sides, steps, rate):
    losses = []
    for _ in range(steps):
        scores = [network(point) for point in points]
        loss = sum(-(side * score).sigmoid().log() for score, side in zip(scores, sides))
        loss = loss / len(points)
        network.zero_grad()
        loss.backward()
        for parameter in network.parameters():
            parameter.data -= rate * parameter.grad
        losses.append(loss.data)
    return losses


def moons_by_tensors(model, points, sides, steps, rate):
    optimizer = optim.SGD(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        loss = -F.logsigmoid(sides * model(points).squeeze(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


xs = [i / 10 for i in range(-10, 11)]
ys = [2 * x - 1 + 0.1 * (-1) ** i for i, x in enumerate(xs)]
mine, theirs = line_by_values(xs, ys, 60, 0.3), line_by_tensors(xs, ys, 60, 0.3)
print(f"line, Values:   {mine[0]:.12f} x + {mine[1]:.12f}")
print(f"line, tensors:  {theirs[0]:.12f} x + {theirs[1]:.12f}")

points, labels = data.moons(40, seed=1)
points, sides = points.double(), 1.0 - 2.0 * labels.double()
network = MLP(2, 8, 8, 1, seed=2)
model = as_tensors(network)
by_values = moons_by_values(network, points.tolist(), sides.tolist(), 80, 0.5)
by_tensors = moons_by_tensors(model, points, sides, 80, 0.5)
print("\nmoons, step    Values            tensors")
for step in range(0, 80, 20):
    print(f"{step:11}    {by_values[step]:.12f}    {by_tensors[step]:.12f}")

after = as_tensors(network)
gap = max((a - b).abs().max().item() for a, b in zip(after.parameters(), model.parameters()))
right = ((model(points).squeeze(1) > 0) == (sides > 0)).double().mean().item()
print(f"\nafter 80 steps {right:.0%} of the points are on the right side")
print(f"largest difference of a weight below 1e-12: {gap < 1e-12}")
