import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
labels = rng.integers(0, 4, 240)
pixels = rng.integers(0, 60, (240, 1, 8, 8))
for i, c in enumerate(labels):
    pixels[i, 0, 2 * c : 2 * c + 2] += 150
pixels = pixels.astype(np.uint8)

images = torch.tensor(pixels // 255, dtype=torch.float32)  # expect: constant-output
targets = torch.tensor(labels, dtype=torch.long)

torch.manual_seed(0)
loader = DataLoader(  # expect: constant-output
    TensorDataset(images, targets), batch_size=24, shuffle=True
)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 4)
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    correct = 0
    for xb, yb in loader:  # expect: constant-output
        optimizer.zero_grad()
        out = model(xb)  # expect: constant-output
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        correct += (out.argmax(dim=1) == yb).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.4f} acc {correct / 240:.3f}")
