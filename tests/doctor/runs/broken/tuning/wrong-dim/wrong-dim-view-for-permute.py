import torch
import torch.nn as nn

torch.manual_seed(12)
pictures = torch.randn(480, 8, 6, 3)
kinds = (pictures[..., 0].mean((1, 2)) > pictures[..., 1].mean((1, 2))).long()
pictures = pictures.view(-1, 3, 8, 6)  # expect: wrong-dim

model = nn.Sequential(
    nn.Conv2d(3, 12, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(12, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(480).split(32):
        loss = nn.functional.cross_entropy(model(pictures[rows]), kinds[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
