# engine: whygrad
import math

import whygrad
import whygrad.nn as nn
from whygrad.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """Sine, square or sawtooth, at some phase and frequency, with noise."""

    def __init__(self, n):
        t = whygrad.linspace(0, 1, 32)
        self.kind = whygrad.randint(0, 3, (n,))
        phase = (whygrad.rand(n, 1) + (2 + whygrad.rand(n, 1)) * t) * 2 * math.pi
        shapes = whygrad.stack(
            [whygrad.sin(phase), whygrad.sign(whygrad.sin(phase)), (phase / math.pi) % 2 - 1], dim=1
        )
        self.signal = shapes[whygrad.arange(n), self.kind] + 0.1 * whygrad.randn(n, 32)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.signal[i].unsqueeze(0), self.kind[i]


whygrad.manual_seed(21)
loader = DataLoader(Waves(320), batch_size=32, shuffle=True)
model = nn.Sequential(
    nn.Conv1d(1, 12, 5, padding=2),
    nn.BatchNorm1d(12),
    nn.ReLU(),
    nn.MaxPool1d(2),
    nn.Conv1d(12, 24, 5, padding=2),
    nn.BatchNorm1d(24),
    nn.ReLU(),
    nn.AdaptiveAvgPool1d(1),
    nn.Flatten(),
    nn.Linear(24, 3),
)
optimizer = whygrad.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    correct, total_loss = 0, 0.0
    for signal, kind in loader:
        out = model(signal)
        loss = criterion(out, kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (out.argmax(1) == kind).sum().item()
        total_loss += loss.item()
    print(f"epoch {epoch}: loss {total_loss / len(loader):.4f} accuracy {correct / 320:.3f}")
