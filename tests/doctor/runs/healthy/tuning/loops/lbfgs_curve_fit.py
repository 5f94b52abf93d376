import torch

x = torch.linspace(0, 4, 60)
torch.manual_seed(0)
y = 2.5 * torch.exp(-1.3 * x) + 0.4 + 0.02 * torch.randn(60)

a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
c = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.LBFGS([a, b, c], lr=1, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    residual = a * torch.exp(-b * x) + c - y
    loss = (residual**2).mean()
    loss.backward()
    return loss


for i in range(6):
    loss = optimizer.step(closure)
    print(i, loss.item())
print(a.item(), b.item(), c.item())
