import torch

torch.manual_seed(31)
A = torch.randn(80, 5)
coef = torch.randn(5)
b = A @ coef

w = torch.zeros(5, requires_grad=True)
STEP = 0.4  # expect: oscillation

for k in range(120):
    residual = A @ w - b
    loss = residual.abs().mean()
    loss.backward()
    with torch.no_grad():
        w -= STEP * torch.sign(w.grad)  # expect: oscillation
    w.grad = None
    if k % 6 == 0:
        print(k, round(loss.item(), 4))
print("error", (w.detach() - coef).abs().max().item())
