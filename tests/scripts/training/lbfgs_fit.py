"""Optimizers that ask for the loss again: LBFGS with a closure, and a valley to walk down."""

import torch
import torch.nn as nn


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


point = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS([point], lr=1.0, max_iter=20, line_search_fn="strong_wolfe")
for step in range(4):

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(point)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    print(f"LBFGS {step}: {loss.item():.6f} at {point[0].item():.5f}, {point[1].item():.5f}")

makers = {
    "SGD": lambda p: torch.optim.SGD([p], lr=1e-3),
    "Adam": lambda p: torch.optim.Adam([p], lr=0.05, amsgrad=True),
    "Rprop": lambda p: torch.optim.Rprop([p], lr=0.01),
    "RAdam": lambda p: torch.optim.RAdam([p], lr=0.05),
}
for name, make in makers.items():
    point = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
    optimizer = make(point)
    for _ in range(100):
        optimizer.zero_grad()
        rosenbrock(point).backward()
        optimizer.step()
    print(f"{name:6}{rosenbrock(point).item():.5f} {point.detach().numpy().round(4)}")

torch.set_default_dtype(torch.float64)
x = torch.linspace(-3, 3, 30).unsqueeze(1)
y = torch.exp(-x * x)
model = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        parameter.copy_(
            torch.sin(torch.arange(parameter.numel()) * 1.0 + number).view_as(parameter)
        )
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10, history_size=5)
for step in range(5):

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    print(f"step {step}: {optimizer.step(closure).item():.6f}")
torch.set_default_dtype(torch.float32)
