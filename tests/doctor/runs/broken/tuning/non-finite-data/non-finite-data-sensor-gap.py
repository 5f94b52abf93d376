# engine: whygrad
import numpy as np

import whygrad
from whygrad import nn, optim

time = np.arange(400) * 0.1
signal = np.sin(time) + 0.3 * np.sin(3.1 * time)
signal[250:253] = np.nan  # expect: non-finite-data
window = 12
x = np.stack([signal[i : i + window] for i in range(400 - window)])
y = signal[window:].reshape(-1, 1)
x = whygrad.tensor(x, dtype=whygrad.float32)  # expect: non-finite-data
y = whygrad.tensor(y, dtype=whygrad.float32)  # expect: non-finite-data

whygrad.manual_seed(0)
model = nn.Sequential(nn.Linear(window, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = optim.RMSprop(model.parameters(), lr=0.005)
for epoch in range(6):
    total = 0.0
    for start in range(0, len(x), 16):
        xb, yb = x[start : start + 16], y[start : start + 16]  # expect: non-finite-data
        loss = nn.functional.mse_loss(model(xb), yb)  # expect: non-finite-data
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total:.4f}")
