import torch
import torch.nn as nn

torch.manual_seed(11)
views = torch.randn(700, 16)
hidden = torch.tanh(views @ torch.randn(16, 3))
depth = hidden[:, :1] * 2
angle = hidden[:, 1:] + 0.05 * torch.randn(700, 2)

trunk = nn.Sequential(nn.Linear(16, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 3))
optimizer = torch.optim.SGD(trunk.parameters(), lr=0.03, momentum=0.9)
factors = {"depth": 1.0, "angle": 0.001}


def losses(rows):
    answer = trunk(views[rows])
    yield "depth", ((answer[:, :1] - depth[rows]) ** 2).mean()
    yield "angle", ((answer[:, 1:] - angle[rows]) ** 2).mean()


for epoch in range(12):
    for rows in torch.randperm(700).split(50):
        total = 0.0
        for name, each in losses(rows):
            total = total + factors[name] * each  # expect: unbalanced-terms
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {total.item():.4f}")
