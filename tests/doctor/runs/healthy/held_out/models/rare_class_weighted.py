import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(70)
n = 1000
fraud = (torch.arange(n) % 20 == 0).float()
x = torch.randn(n, 5) + 1.8 * fraud.unsqueeze(1)
weights = torch.where(fraud == 1, torch.tensor(4.0), torch.tensor(1.0))
sampler = WeightedRandomSampler(weights.tolist(), num_samples=n, replacement=True)
loader = DataLoader(TensorDataset(x, fraud), batch_size=50, sampler=sampler)

model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([4.0]))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        flagged = model(x).squeeze(1) > 0
    recall = (flagged & (fraud == 1)).sum().item() / fraud.sum().item()
    precision = (flagged & (fraud == 1)).sum().item() / max(1, flagged.sum().item())
    print(f"epoch {epoch} loss {loss.item():.3f} recall {recall:.2f} precision {precision:.2f}")
