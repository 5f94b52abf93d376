import torch
import torch.nn as nn

torch.manual_seed(11)
n = 500
income = 30000 + 12000 * torch.randn(n)
age = 18 + 60 * torch.rand(n)
rate = 0.02 * torch.rand(n)
X = torch.stack([income, age, rate], dim=1)
y = 2.0 * (income - 30000) / 12000 - (age - 48) / 17 + 60 * (rate - 0.01)
y = y.unsqueeze(1) + 0.1 * torch.randn(n, 1)

model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
mse = nn.MSELoss()

model.train()
for epoch in range(15):
    for i in range(0, n, 50):
        pred = model(X[i : i + 50])
        loss = mse(pred, y[i : i + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", loss.item())

model.eval()
with torch.no_grad():
    print("final", mse(model(X), y).item())
