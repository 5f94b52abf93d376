import numpy as np
import torch

rng = np.random.default_rng(3)
hours = rng.uniform(-2, 2, size=(200, 3)).astype(np.float32)
score = hours @ np.array([[1.5], [-2.0], [0.7]], dtype=np.float32) + 0.5

X = torch.from_numpy(hours)
Y = torch.from_numpy(score.astype(np.float32))

w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)

for i in range(60):
    prediction = X @ w + b
    loss = ((prediction - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.9 * w.grad  # expect: lr-too-high
        b -= 0.9 * b.grad  # expect: lr-too-high
        w.grad.zero_()
        b.grad.zero_()
    if i % 5 == 0:
        print(i, loss.item())

print("w", w.detach().flatten().tolist(), "b", b.item())
