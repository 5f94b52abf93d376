"""What each schedule does to the learning rate, and a training with warm-up and cosine."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, ReduceLROnPlateau, SequentialLR

SCHEDULES = {
    "step": lambda o: lr_scheduler.StepLR(o, step_size=3, gamma=0.5),
    "multistep": lambda o: lr_scheduler.MultiStepLR(o, milestones=[2, 6], gamma=0.1),
    "exponential": lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9),
    "cosine": lambda o: CosineAnnealingLR(o, T_max=8, eta_min=0.01),
    "restarts": lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, T_0=4),
    "linear": lambda o: LinearLR(o, start_factor=0.25, total_iters=4),
    "lambda": lambda o: lr_scheduler.LambdaLR(o, lr_lambda=lambda epoch: 1 / (epoch + 1)),
    "onecycle": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.5, total_steps=10),
    "sequence": lambda o: SequentialLR(
        o,
        [LinearLR(o, start_factor=0.1, total_iters=3), lr_scheduler.ExponentialLR(o, 0.8)],
        milestones=[3],
    ),
}
for name, schedule in SCHEDULES.items():
    optimizer = optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.2, momentum=0.9)
    scheduler = schedule(optimizer)
    rates = []
    for _ in range(9):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    print(f"{name:12}", " ".join(f"{rate:.4f}" for rate in rates))

x = torch.linspace(-2, 2, 32).view(-1, 1)
y = torch.sin(2 * x)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
for number, parameter in enumerate(model.parameters()):
    wave = torch.sin(torch.arange(parameter.numel()) * 1.9 + number)
    parameter.data = wave.view_as(parameter)
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
warm_up = LinearLR(optimizer, start_factor=0.1, total_iters=10)
scheduler = SequentialLR(optimizer, [warm_up, CosineAnnealingLR(optimizer, 50)], milestones=[10])
plateau = ReduceLROnPlateau(
    optim.SGD(model.parameters(), lr=1.0), mode="min", factor=0.5, patience=1
)
for step in range(60):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 15 == 0:
        print(f"step {step:2d} lr {scheduler.get_last_lr()[0]:.5f} loss {loss.item():.5f}")
for loss in [1.0, 0.9, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8]:
    plateau.step(loss)
    print(plateau.optimizer.param_groups[0]["lr"], plateau.num_bad_epochs)
print(sorted(warm_up.state_dict())[:3])
