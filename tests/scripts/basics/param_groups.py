"""Decay for matrices and not for biases, frozen layers, and a rate of its own for the head."""

import torch
import torch.nn as nn


def build():
    model = nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2, bias=True)
    )
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.sin(torch.arange(parameter.numel()) + number).view_as(parameter))
            parameter.mul_(0.5)
    return model


x = torch.cos(torch.arange(48) * 0.37).view(12, 4)
y = torch.stack([x.sum(1), x.prod(1)], dim=1)
model = build()
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() == 1]
optimizers = {
    "AdamW": lambda: torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=0.01
    ),
    "SGD": lambda: torch.optim.SGD(
        [{"params": model[:4].parameters()}, {"params": model[4].parameters(), "lr": 0.05}],
        lr=0.005,
        momentum=0.9,
        nesterov=True,
        weight_decay=1e-2,
    ),
    "NAdam": lambda: torch.optim.NAdam(model.parameters(), lr=0.01),
    "Adamax": lambda: torch.optim.Adamax(model.parameters(), lr=0.01),
    "Adadelta": lambda: torch.optim.Adadelta(model.parameters()),
    "RMSprop": lambda: torch.optim.RMSprop(model.parameters(), lr=0.003, centered=True),
}
for name, make in optimizers.items():
    optimizer = make()
    for _ in range(20):
        loss = nn.functional.smooth_l1_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    groups = [(group["lr"], len(group["params"])) for group in optimizer.param_groups]
    print(f"{name:9} loss {loss.item():.5f} groups {groups}")

print("\nfrozen")
model = build()
for parameter in model[0].parameters():
    parameter.requires_grad = False
before = model[0].weight.clone()
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=0.05)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", torch.equal(before, model[0].weight), model[0].weight.grad)
model[0].requires_grad_(True)
optimizer.add_param_group({"params": model[0].parameters(), "lr": 1e-3})
optimizer.zero_grad()
nn.functional.mse_loss(model(x), y).backward()
optimizer.step()
print(len(optimizer.param_groups), torch.equal(before, model[0].weight))
optimizer.param_groups[0]["lr"] *= 0.1
print([f"{group['lr']:.4f}" for group in optimizer.param_groups])
print(sorted(optimizer.state_dict()["state"][0]))
