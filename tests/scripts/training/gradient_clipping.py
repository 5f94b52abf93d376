"""Gradients that are too long: clip by norm, clip by value, and gather small batches into one."""

import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector


def fill(model):
    for number, parameter in enumerate(model.parameters()):
        wave = torch.sin(torch.arange(parameter.numel()) * 2.1 + number)
        parameter.data.copy_(wave.view_as(parameter))
    return model


def gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


x = torch.cos(torch.arange(60) * 0.7).view(20, 3)
y = 10 * x.sum(1, keepdim=True)
model = fill(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)))
criterion = nn.MSELoss()

criterion(model(x), y).backward()
whole = gradient(model)
print(f"norm {whole.norm():.4f}, largest {whole.abs().max():.4f}")
total = clip_grad_norm_(model.parameters(), max_norm=1.0)
clipped = gradient(model)
cosine = nn.functional.cosine_similarity(whole, clipped, dim=0)
print(f"by norm:  was {total:.4f}, is {clipped.norm():.4f}, cosine {cosine:.4f}")

model.zero_grad()
criterion(model(x), y).backward()
clip_grad_value_(model.parameters(), clip_value=0.5)
clipped = gradient(model)
cosine = nn.functional.cosine_similarity(whole, clipped, dim=0)
print(f"by value: largest {clipped.abs().max():.4f}, cosine {cosine:.4f}")

model.zero_grad()
for part, target in zip(x.split(5), y.split(5)):
    (criterion(model(part), target) / 4).backward()
print(f"accumulated in four parts: {(gradient(model) - whole).abs().max() < 1e-4}")

optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(40):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    norm = clip_grad_norm_(model.parameters(), 0.5, error_if_nonfinite=True)
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.3f}, norm before clipping {norm.item():.3f}")
print(f"{parameters_to_vector(model.parameters()).norm().item():.4f}")

model[0].weight.grad[0, 0] = float("inf")
try:
    clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
except RuntimeError as error:
    print("refused:", "non-finite" in str(error))
