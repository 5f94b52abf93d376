import torch

torch.manual_seed(0)
x = torch.randn(100, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3

w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1

for epoch in range(50):
    pred = x @ w + b
    loss = ((pred - y) ** 2).mean()
    loss.backward()
    w = w - lr * w.grad  # expect: parameter-not-in-optimizer
    b = b - lr * b.grad  # expect: parameter-not-in-optimizer
    if epoch % 10 == 0:
        print(epoch, loss.item())
print(w, b)
