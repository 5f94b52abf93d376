import torch
import torch.nn as nn
import torch.nn.functional as F


def tower(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_out))


class TwoTowers(nn.Module):
    def __init__(self, n_features=8, dim=16):
        super().__init__()
        self.user_net = tower(n_features, dim)
        self.item_net = tower(n_features, dim)  # expect: disconnected-parameter

    def forward(self, user, item):
        u = self.user_net(user)
        v = self.user_net(item)  # expect: disconnected-parameter
        return (u * v).sum(dim=1)


torch.manual_seed(0)
users = torch.randn(512, 8)
items = torch.randn(512, 8)
mix = torch.randn(8, 8)
mix = mix - mix.t()
ratings = ((users @ mix) * items).sum(dim=1) / 8

model = TwoTowers()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for epoch in range(40):
    order = torch.randperm(len(users))
    total = 0.0
    for start in range(0, len(users), 64):
        idx = order[start : start + 64]
        optimizer.zero_grad()
        loss = F.mse_loss(model(users[idx], items[idx]), ratings[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: mse {total / len(users):.4f}")
