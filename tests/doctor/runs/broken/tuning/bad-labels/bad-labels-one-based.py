import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(26)
x = torch.randn(200, 7)
stars = torch.randint(1, 6, (200,))  # expect: bad-labels
x[:, 0] += stars
loader = DataLoader(TensorDataset(x, stars), batch_size=20, shuffle=True)

model = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 5))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(10):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)  # expect: bad-labels
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
