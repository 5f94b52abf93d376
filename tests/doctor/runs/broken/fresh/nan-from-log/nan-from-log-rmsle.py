import torch
import torch.nn as nn

torch.manual_seed(2)

n = 200
area = torch.rand(n, 1) * 2 + 0.5
rooms = torch.randint(1, 6, (n, 1)).float()
age = torch.rand(n, 1)
X = torch.cat([area, rooms, age], dim=1)
X = (X - X.mean(dim=0)) / X.std(dim=0)
price = 1.0 + 1.5 * area + 0.2 * rooms - 0.4 * age

net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
mse = nn.MSELoss()


def rmsle(pred, target):
    return torch.sqrt(mse(torch.log(pred), torch.log(target)))  # expect: nan-from-log


for epoch in range(50):
    optimizer.zero_grad()
    loss = rmsle(net(X), price)  # expect: nan-from-log
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}, rmsle {loss.item():.4f}")
