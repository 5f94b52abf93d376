import numpy as np
import torch

np.random.seed(0)
X = torch.tensor(np.random.randn(200, 3), dtype=torch.float32)
t = torch.abs(X[:, :1]) + torch.abs(X[:, 1:2]) - 1.0

hidden = 20
params = {
    "w1": torch.zeros(3, hidden),  # expect: symmetric-initialization
    "b1": torch.zeros(hidden),
    "w2": torch.zeros(hidden, 1),  # expect: symmetric-initialization
    "b2": torch.zeros(1),
}
for value in params.values():
    value.requires_grad_(True)


def predict(inputs):
    h = torch.sigmoid(inputs @ params["w1"] + params["b1"])
    return h @ params["w2"] + params["b2"]


lr = 0.3
for it in range(500):
    loss = (predict(X) - t).pow(2).mean()
    grads = torch.autograd.grad(loss, list(params.values()))
    with torch.no_grad():
        for value, g in zip(params.values(), grads):
            value -= lr * g
    if it % 50 == 0:
        print(it, loss.item())
print("final", loss.item())
