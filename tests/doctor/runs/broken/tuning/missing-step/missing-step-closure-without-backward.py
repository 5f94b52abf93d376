import torch

torch.manual_seed(1)
t = torch.linspace(0, 4, 80)
measured = 2.5 * torch.exp(-0.7 * t) + 0.4 + 0.02 * torch.randn(80)

height = torch.tensor(1.0, requires_grad=True)
rate = torch.tensor(0.2, requires_grad=True)
floor = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.LBFGS([height, rate, floor], lr=0.5, max_iter=10)


def closure():
    optimizer.zero_grad()
    curve = height * torch.exp(-rate * t) + floor
    return ((curve - measured) ** 2).mean()  # expect: missing-step


for step in range(20):
    loss = optimizer.step(closure)  # expect: missing-step
    if step % 5 == 0:
        print(f"step {step}: {loss.item():.5f}")
print(height.item(), rate.item(), floor.item())
