import copy

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(25)
x = torch.randn(450, 6)
y = torch.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * torch.randn(450)
dataset = TensorDataset(x, y)
train_loader = DataLoader(Subset(dataset, range(360)), batch_size=36, shuffle=True)
valid_loader = DataLoader(Subset(dataset, range(360, 450)), batch_size=90)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(6, 32), nn.Linear(32, 32)])
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = nn.functional.gelu(layer(x))
        return self.out(x).squeeze(-1)


model = Regressor()
optimizer = optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
criterion = nn.MSELoss()
best, best_state, patience = float("inf"), None, 0
for epoch in range(40):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        valid = sum(criterion(model(xb), yb).item() for xb, yb in valid_loader)
    if valid < best - 1e-4:
        best, best_state, patience = valid, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
    if patience == 3:
        print("stopped at epoch", epoch)
        break
model.load_state_dict(best_state)
print("best validation loss", best, "training loss", loss.item())
