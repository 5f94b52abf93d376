import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class IrisNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.softmax(self.fc2(x), dim=1)  # expect: double-softmax


centers = torch.randn(10, 4) * 3
labels = torch.randint(0, 10, (400,))
data = centers[labels] + 0.5 * torch.randn(400, 4)
loader = DataLoader(TensorDataset(data, labels), batch_size=40, shuffle=True)

model = IrisNet()
criterion = nn.CrossEntropyLoss()  # expect: double-softmax
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(20):
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)  # expect: double-softmax
        loss.backward()
        optimizer.step()
    acc = (model(data).argmax(dim=1) == labels).float().mean().item()
    print(f"Epoch {epoch}: loss = {loss.item():.4f}, acc = {acc:.3f}")
