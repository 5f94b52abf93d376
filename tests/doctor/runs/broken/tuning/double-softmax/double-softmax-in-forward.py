import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)


class MLP(nn.Module):
    def __init__(self, n_in, n_classes):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 32)
        self.fc2 = nn.Linear(32, n_classes)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=1)  # expect: double-softmax


centers = torch.randn(8, 10)
labels = torch.arange(400) % 8
x = centers[labels] + 0.4 * torch.randn(400, 10)
loader = DataLoader(TensorDataset(x, labels), batch_size=40, shuffle=True)

model = MLP(10, 8)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: double-softmax
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 4 == 0:
        print(f"epoch {epoch} loss {running / len(loader):.4f}")
accuracy = (model(x).argmax(1) == labels).float().mean().item()
print(f"accuracy {accuracy:.3f}")
