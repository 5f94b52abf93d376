import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centers = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
labels = torch.randint(0, 3, (512,))
points = centers[labels] + 0.6 * torch.randn(512, 2)
loader = DataLoader(TensorDataset(points, labels), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(12):
    running = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch + 1} loss {running / len(loader):.4f}")

with torch.no_grad():
    accuracy = (model(points).argmax(1) == labels).float().mean().item()
print("accuracy", round(accuracy, 3))
