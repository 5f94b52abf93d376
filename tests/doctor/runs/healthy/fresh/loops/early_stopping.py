import copy

import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.rand(300, 3) * 2 - 1
y = torch.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:] + 0.1 * torch.randn(300, 1)
x_train, y_train, x_val, y_val = x[:220], y[:220], x[220:], y[220:]

model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

best, best_state, patience, bad = float("inf"), None, 8, 0
for epoch in range(100):
    model.train()
    perm = torch.randperm(220)
    for i in range(0, 220, 44):
        idx = perm[i : i + 44]
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(x_val), y_val).item()
    if val_loss < best:
        best, best_state, bad = val_loss, copy.deepcopy(model.state_dict()), 0
    else:
        bad += 1
        if bad >= patience:
            print(f"early stopping at epoch {epoch}")
            break
    if epoch % 10 == 0:
        print(f"epoch {epoch}: train {loss.item():.4f} val {val_loss:.4f}")
model.load_state_dict(best_state)
print(f"best val loss {best:.4f}")
