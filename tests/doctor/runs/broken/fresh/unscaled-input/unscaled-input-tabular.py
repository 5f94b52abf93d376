import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
age = rng.uniform(18, 70, 400)
income = rng.normal(52000, 14000, 400)
debt = rng.normal(9000, 4000, 400)
score = 0.04 * (age - 44) + (income - 52000) / 14000 - (debt - 9000) / 4000
approved = (score > 0).astype(np.float32)

X = torch.tensor(  # expect: unscaled-input
    np.column_stack([age, income, debt]), dtype=torch.float32
)
y = torch.tensor(approved).unsqueeze(1)

torch.manual_seed(0)
train_loader = DataLoader(  # expect: unscaled-input
    TensorDataset(X, y), batch_size=32, shuffle=True
)

model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(25):
    epoch_loss, correct = 0.0, 0
    for xb, yb in train_loader:  # expect: unscaled-input
        optimizer.zero_grad()
        logits = model(xb)  # expect: unscaled-input
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb)
        correct += ((logits > 0).float() == yb).sum().item()
    print(f"Epoch {epoch}: loss {epoch_loss / 400:.3f} acc {correct / 400:.3f}")
