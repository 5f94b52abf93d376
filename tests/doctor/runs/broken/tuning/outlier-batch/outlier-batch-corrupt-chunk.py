import torch
import torch.nn as nn

torch.manual_seed(20)
x = torch.randn(640, 6)
w = torch.randn(6, 1)
y = torch.tanh(x @ w)
x[320:352] *= 1000  # expect: outlier-batch

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
loss_fn = nn.MSELoss()

for epoch in range(4):
    for i in range(0, 640, 32):
        xb, yb = x[i : i + 32], y[i : i + 32]
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)  # expect: outlier-batch
        loss.backward()
        optimizer.step()
        if (i // 32) % 5 == 0:
            print(f"epoch {epoch} batch {i // 32:2d} loss {loss.item():.4g}")
