"""Stop a training, keep its state, go on elsewhere: the curve continues as if nothing happened."""

import copy
import io

import torch
import torch.nn as nn
import torch.optim as optim

x = torch.sin(torch.arange(60) * 0.31).view(20, 3)
y = (x**2).sum(1, keepdim=True)


def build():
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
    for number, parameter in enumerate(model.parameters()):
        if parameter.dim() > 1:
            wave = torch.sin(torch.arange(parameter.numel()) + number)
            parameter.data = wave.view_as(parameter) * 0.5
        elif number not in (2,):
            nn.init.zeros_(parameter)
    optimizer = optim.Adam(model.parameters(), lr=0.03)
    return model, optimizer, optim.lr_scheduler.StepLR(optimizer, 5, gamma=0.7)


def train(model, optimizer, scheduler, steps):
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


model, optimizer, scheduler = build()
first = train(model, optimizer, scheduler, 10)
buffer = io.BytesIO()
torch.save(
    {
        "epoch": 10,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "loss": first[-1],
    },
    buffer,
)
best = copy.deepcopy(model.state_dict())
straight = train(model, optimizer, scheduler, 10)

buffer.seek(0)
checkpoint = torch.load(buffer, weights_only=True)
model2, optimizer2, scheduler2 = build()
print(model2.load_state_dict(checkpoint["model"]))
optimizer2.load_state_dict(checkpoint["optimizer"])
scheduler2.load_state_dict(checkpoint["scheduler"])
resumed = train(model2, optimizer2, scheduler2, 10)
print("epoch", checkpoint["epoch"], "loss", f"{checkpoint['loss']:.5f}")
print("same curve:", resumed == straight)
print(" ".join(f"{loss:.5f}" for loss in [*first[::3], *resumed[::3]]))
print(list(checkpoint["model"]))
print(f"lr {optimizer2.param_groups[0]['lr']:.5f}")

drift = (best["0.weight"] - model.state_dict()["0.weight"]).abs().max()
print(f"a deep copy stays: {drift.item():.5f}")
small = nn.Sequential(nn.Linear(3, 8), nn.Tanh())
kept = small.load_state_dict(checkpoint["model"], strict=False)
print(kept.missing_keys, kept.unexpected_keys[:3])
try:
    small.load_state_dict(checkpoint["model"])
except RuntimeError as error:
    print("strict:", "Unexpected key(s)" in str(error))
try:
    nn.Linear(3, 7).load_state_dict({"weight": torch.zeros(8, 3), "bias": torch.zeros(7)})
except RuntimeError as error:
    print("shapes:", "size mismatch for weight" in str(error))
