"""«module»"""

import math

try:
    import torch
    from torch import nn
except ImportError:  # «without_torch»
    import whygrad as torch
    from whygrad import nn


def make_model():
    """«make_model»"""
    return nn.Sequential(
        nn.Linear(10, 64),
        nn.Sigmoid(),
        nn.Linear(64, 64),
        nn.Sigmoid(),
        nn.Linear(64, 1),
    )


def batch(step):
    """«batch»"""
    x = torch.randn(32, 10) * (10 if step == 25 else 1)
    y = torch.randn(32, 1)
    return x, y


def inspect(step, x, output, loss, model):
    """«inspect»"""
    raise NotImplementedError("inspect")


def training():
    """«training»"""
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=8.0)
    for step in range(80):
        x, y = batch(step)
        output = model(x)
        loss = torch.log(output).mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item())
    return model


def saturated(model, x):
    """«saturated»"""
    raise NotImplementedError("saturated")


# «todo_saturation»
SATURATION = {
    "ordinary": None,  # «ordinary»
    "large": None,  # «large»
    "concern": None,  # «concern»
}


if __name__ == "__main__":
    training()
