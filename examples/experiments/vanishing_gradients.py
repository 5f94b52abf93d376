"""Vanishing gradients: what reaches the first of 20 layers.

The slope of a sigmoid is at most 1/4, so each layer hands back a fraction of what it received.  A
ReLU with weights to match (He's initialisation) passes the signal on.
"""

from picture import draw

import whygrad as wg
from whygrad import nn

DEPTH, WIDTH = 20, 32


def network(activation, initialise):
    wg.manual_seed(0)
    layers = []
    for _ in range(DEPTH):
        linear = nn.Linear(WIDTH, WIDTH)
        initialise(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, activation()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, 1))


def gradient_norms(model):
    """Of the weight matrices, first layer first."""
    x, y = wg.randn(64, WIDTH), wg.randn(64, 1)
    nn.functional.mse_loss(model(x), y).backward()
    flow = wg.grad_flow(model)
    return [each.gradient for each in flow.flows if each.name.endswith("weight")][:DEPTH]


norms = {
    "sigmoid, Xavier": gradient_norms(network(nn.Sigmoid, nn.init.xavier_normal_)),
    "tanh, Xavier": gradient_norms(network(nn.Tanh, nn.init.xavier_normal_)),
    "ReLU, He": gradient_norms(network(nn.ReLU, nn.init.kaiming_normal_)),
}
print("gradient norm     first layer    last layer   per layer")
for name, each in norms.items():
    per_layer = (each[0] / each[-1]) ** (1 / (DEPTH - 1))
    print(f"{name:16} {each[0]:12.1e}  {each[-1]:12.1e}   {per_layer:8.2f}×")
lost = norms["sigmoid, Xavier"][0] / norms["sigmoid, Xavier"][-1]
print(f"\nthrough 20 sigmoids less than a billionth arrives: {lost < 1e-9}")
draw(
    "vanishing_gradients.svg",
    norms,
    xlabel="layer, from the input",
    ylabel="norm of the weight's gradient",
    title="The gradient walks from right to left",
    log="y",
)
