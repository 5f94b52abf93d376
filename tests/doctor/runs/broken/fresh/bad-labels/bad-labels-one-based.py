import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class SeedsDataset(Dataset):
    def __init__(self, n=150):
        g = torch.Generator().manual_seed(0)
        self.labels = torch.randint(1, 4, (n,), generator=g)  # expect: bad-labels
        self.x = torch.randn(n, 7, generator=g) + self.labels.unsqueeze(1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return self.x[idx], self.labels[idx]  # expect: bad-labels


torch.manual_seed(0)
loader = DataLoader(SeedsDataset(), batch_size=15, shuffle=True)
model = nn.Sequential(nn.Linear(7, 20), nn.ReLU(), nn.Linear(20, 3))  # expect: bad-labels
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(10):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: bad-labels
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
