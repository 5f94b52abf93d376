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
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    found = {
        "step": step,
        "input": (x.min().item(), x.max().item()),
        "output": (output.min().item(), output.max().item()),
        "loss": loss.item(),
        "gradient": math.sqrt(sum((each**2).sum().item() for each in gradients)),
    }
    measured = ("input", "output", "loss", "gradient")
    invalid = (name for name in measured if not _finite(found[name]))
    found["invalid"] = next(invalid, None)
    print(found)
    return found


def _finite(measured):
    numbers = measured if isinstance(measured, tuple) else (measured,)
    return all(map(math.isfinite, numbers))


def training():
    """«training»"""
    torch.manual_seed(0)  # «fix_seed»
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # «fix_rate»
    for step in range(80):
        x, y = batch(step)
        output = model(x)
        loss = nn.functional.mse_loss(output, y)  # «fix_loss»
        optimizer.zero_grad()  # «fix_zero»
        loss.backward()
        inspect(step, x, output, loss, model)
        optimizer.step()
    return model


def saturated(model, x):
    """«saturated»"""
    shares = []
    for layer in model:
        x = layer(x)
        if isinstance(layer, nn.Sigmoid):
            shares.append(((x < 0.01) | (x > 0.99)).float().mean().item())
    return shares


# «todo_saturation»
SATURATION = {
    "ordinary": [0.0, 0.0],  # «ordinary»
    "large": [0.42, 0.0],  # «large»
    "concern": "large",  # «concern»
}


if __name__ == "__main__":
    training()
