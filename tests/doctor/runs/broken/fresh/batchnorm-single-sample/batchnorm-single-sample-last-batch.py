import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

features = torch.randn(129, 6)
targets = (features.sum(dim=1) > 0).long()
loader = DataLoader(  # expect: batchnorm-single-sample
    TensorDataset(features, targets), batch_size=16, shuffle=True
)

model = nn.Sequential(
    nn.Linear(6, 32),
    nn.BatchNorm1d(32),  # expect: batchnorm-single-sample
    nn.ReLU(),
    nn.Linear(32, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        logits = model(xb)  # expect: batchnorm-single-sample
        loss = criterion(logits, yb)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
