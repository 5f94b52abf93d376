"""Images as a camera library gives them, with the colours on the last axis."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 2),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters())
frames = torch.rand(16, 20, 24, 3)
answers = torch.randint(0, 2, (16,))
for _ in range(3):
    scores = model(frames)  # expect: crash-shape
    loss = criterion(scores, answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
