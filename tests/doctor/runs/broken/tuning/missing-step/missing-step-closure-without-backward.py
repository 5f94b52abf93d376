import torch

torch.manual_seed(1)
t = torch.linspace(0, 4, 80)
measured = 2.5 * torch.exp(-0.7 * t) + 0.4 + 0.02 * torch.randn(80)


class Decay(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.height = torch.nn.Parameter(torch.tensor(1.0))
        self.rate = torch.nn.Parameter(torch.tensor(0.2))
        self.floor = torch.nn.Parameter(torch.tensor(0.0))

    def forward(self, t):
        return self.height * torch.exp(-self.rate * t) + self.floor


decay = Decay()
optimizer = torch.optim.LBFGS(decay.parameters(), lr=0.5, max_iter=10)


def closure():
    optimizer.zero_grad()
    return ((decay(t) - measured) ** 2).mean()  # expect: missing-step


for step in range(20):
    loss = optimizer.step(closure)  # expect: missing-step
    if step % 5 == 0:
        print(f"step {step}: {loss.item():.5f}")
print([each.item() for each in decay.parameters()])
