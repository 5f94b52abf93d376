import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.randn(500, 12)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    for rows in torch.randperm(400).split(50):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    out = model(x[400:])  # expect: wrong-mode
    accuracy = (out.argmax(1) == y[400:]).float().mean().item()
    print(epoch, loss.item(), criterion(out, y[400:]).item(), accuracy)
