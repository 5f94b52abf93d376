import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
features = torch.randn(800, 10)
score = features[:, 0] + 0.7 * features[:, 1] * features[:, 2]
labels = (score > 1.3).float()

positives = labels.sum()
negatives = len(labels) - positives
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=positives / negatives)  # expect: inverted-weights
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(features, labels), batch_size=40, shuffle=True)

for epoch in range(12):
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs).squeeze(1), targets)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
