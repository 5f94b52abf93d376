import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
readings = torch.randn(900, 10)
load = readings[:, :1] * 2 + torch.sin(2 * readings[:, 1:2]) + 0.1 * torch.randn(900, 1)
state = (readings[:, 4] + readings[:, 5] > 0).long() + (readings[:, 7] > 0.5).long()


class Monitor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.load = nn.Linear(48, 1)
        self.state = nn.Linear(48, 3)

    def forward(self, x):
        inside = self.body(x)
        return self.load(inside), self.state(inside)


model = Monitor()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    for rows in torch.randperm(900).split(60):
        expected, scores = model(readings[rows])
        of_load = F.mse_loss(expected, load[rows])
        of_state = F.cross_entropy(scores, state[rows])
        loss = 1000.0 * of_load + of_state  # expect: unbalanced-terms
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} load {of_load.item():.3f} state {of_state.item():.3f}")
