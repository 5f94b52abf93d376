import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(44)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return torch.sigmoid(self.fc2(x))  # expect: wrong-output-activation


x = torch.randn(320, 8)
y = (x[:, 0] * x[:, 1] > 0).float().unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Detector()
criterion = nn.BCEWithLogitsLoss()  # expect: wrong-output-activation
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(15):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: wrong-output-activation
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch:2d} loss {total / len(loader):.4f}")
with torch.no_grad():
    print("accuracy", ((model(x) > 0.5).float() == y).float().mean().item())
