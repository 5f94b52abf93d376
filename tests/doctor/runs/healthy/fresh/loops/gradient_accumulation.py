import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(256, 8)
Y = (X @ torch.randn(8, 4)).argmax(dim=1)
loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
accumulation_steps = 4

for epoch in range(8):
    running = 0.0
    optimizer.zero_grad()
    for i, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels)
        (loss / accumulation_steps).backward()
        running += loss.item()
        if (i + 1) % accumulation_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {running / len(loader):.4f}")
